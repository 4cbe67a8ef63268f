#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "spi/file_descriptor.hpp"

namespace holdfast::zookeeper_suite {

/// Stands between clients and a server on 127.0.0.1, and can make their connections fail.
class Proxy {
 public:
  enum class Mode {
    open,     ///< passes everything on
    deaf,     ///< what the server says is lost
    blocked,  ///< nothing gets through, and nobody hears of it
  };

  explicit Proxy(const std::string& server_port);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  const std::string& port() const { return port_; }
  std::string url() const { return "zookeeper://127.0.0.1:" + port_; }
  void set(Mode mode) { mode_ = mode; }
  /// Ends all connections.
  void cut() { cut_ = true; }
  /// How many bytes the server said that were lost.
  std::size_t lost() const { return lost_; }

 private:
  struct Pair {
    spi::FileDescriptor client;
    spi::FileDescriptor server;
  };

  void run();
  void accept_one();
  bool pass(int from, int to, bool lose);

  const std::string server_port_;
  spi::FileDescriptor listener_;
  spi::FileDescriptor end_;
  std::string port_;
  std::vector<Pair> pairs_;
  std::atomic<Mode> mode_ = Mode::open;
  std::atomic<bool> cut_ = false;
  std::atomic<std::size_t> lost_ = 0;
  std::thread thread_;
};

}  // namespace holdfast::zookeeper_suite
