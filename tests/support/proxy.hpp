#pragma once

#include <condition_variable>
#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "spi/file_descriptor.hpp"

namespace holdfast::test {

/// Stands between clients and a server, both on 127.0.0.1, and can let them down.
class Proxy {
 public:
  /// `server`: its port. It may come and go: while nobody listens there, clients are cut off.
  explicit Proxy(std::string server);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  const std::string& port() const { return port_; }

  /// Resets every connection, to both sides, whatever is under way; how many there were.
  std::size_t reset() { return demand(Demand::reset); }
  /// From now on nothing passes on any of these connections, and nobody is told: as if the other host had gone. New
  /// ones are as good as ever. How many there were.
  std::size_t forsake() { return demand(Demand::forsake); }
  /// While it is silent, it accepts connections and passes nothing on, but later.
  void be_silent(bool silent) { demand(silent ? Demand::silence : Demand::speech); }

 private:
  enum class Demand { none, reset, forsake, silence, speech };

  struct Way {
    spi::FileDescriptor socket = {};  ///< from which it comes
    std::string under_way = {};
  };
  struct Connection {
    Way client = {};
    Way server = {};
    bool forsaken = false;
  };

  std::size_t demand(Demand demand);
  void obey();
  void run();
  void accept();
  /// False: one side is done.
  static bool serve(Connection& connection, short client_events, short server_events);
  static bool pass(Way& from, const Way& to, short events);
  void wake() const;

  const std::string server_;
  std::string port_;
  spi::FileDescriptor listener_;
  spi::FileDescriptor bell_;

  // Of the thread alone.
  std::list<Connection> connections_;
  bool silent_ = false;

  std::mutex mutex_;  ///< for the rest
  std::condition_variable changed_;
  Demand demand_ = Demand::none;
  bool ending_ = false;
  std::size_t connected_ = 0;  ///< when the last demand was met
  std::thread thread_;
};

}  // namespace holdfast::test
