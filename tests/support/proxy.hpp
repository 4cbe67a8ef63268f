#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/file_descriptor.hpp"

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
  std::string address() const { return "127.0.0.1:" + port_; }

  /// Resets every connection, to both sides, whatever is under way; how many there were.
  std::size_t reset();
  /// From now on nothing passes on any of these connections, and nobody is told: as if the other host had gone. New
  /// ones are as good as ever. How many there were.
  std::size_t forsake();
  /// While it is silent, it accepts connections and passes nothing on, but later.
  void be_silent(bool silent);
  /// Until the next reset() or keep_replies(), requests arrive and are executed, and what the server says is thrown
  /// away.
  void lose_replies();
  /// What the server says from now on arrives, also on connections on which something was lost.
  void keep_replies();
  /// How many bytes of replies were lost so far.
  std::size_t lost() const { return lost_; }
  /// From now on, until it is told 0, in one of so many pieces of what the server says some bytes are others, or only
  /// some letters in texts. The same `seed` makes the same mistakes, as far as the same is said.
  enum class Distort { anything, texts };
  void distort_replies(std::uint32_t one_in, std::uint32_t seed = 0, Distort what = Distort::anything);
  /// How many pieces were distorted so far.
  std::size_t distorted() const { return distorted_; }
  /// From now on everything takes this much longer, each way.
  void delay(std::chrono::milliseconds delay);
  /// From now on, where a client says `from`, the server hears `to`, unless it comes in pieces.
  /// REQUIRES: they have the same length.
  void translate(std::string from, std::string to);
  /// From now on nothing passes on connections that this process has opened or will open, and nobody is told.
  void shut_out(pid_t process);
  /// Nobody is shut out any more. Connections of whoever was are reset.
  void let_everybody_in();

 private:
  using Clock = std::chrono::steady_clock;

  struct Way {
    struct Chunk {
      Clock::time_point due = {};
      std::string bytes = {};
    };

    base::FileDescriptor socket = {};  ///< from which it comes
    std::deque<Chunk> delayed = {};
    std::string under_way = {};  ///< what is due
  };
  struct Connection {
    Way client = {};
    Way server = {};
    std::uint16_t client_port = 0;
    bool forsaken = false;
    bool shut_out = false;
  };

  /// Runs `demand` on the thread, between two steps.
  void obey(std::function<void()> demand);
  void run();
  /// In milliseconds, for poll(): until something is due; -1: nothing is.
  int time_to_next_due() const;
  void accept();
  /// False: one side is done.
  bool serve(Connection& connection, short client_events, short server_events);
  bool pass(Way& from, const Way& to, short events, bool is_reply);
  void translate(std::string& bytes) const;
  void distort(std::string& bytes);
  bool distort_text(std::string& bytes);
  void wake() const;
  static void cut(Connection& connection);
  bool is_opened_by(const Connection& connection, pid_t process) const;

  const std::string server_;
  std::string port_;
  base::FileDescriptor listener_;
  base::FileDescriptor bell_;
  std::atomic<std::size_t> lost_ = 0;
  std::atomic<std::size_t> distorted_ = 0;

  // Of the thread alone.
  std::list<Connection> connections_;
  bool silent_ = false;
  bool loses_replies_ = false;
  std::uint32_t distorts_one_in_ = 0;
  Distort distorts_ = Distort::anything;
  std::mt19937 random_;
  std::chrono::milliseconds delay_ = {};
  pid_t shut_out_ = 0;
  std::vector<std::pair<std::string, std::string>> dictionary_;

  std::mutex mutex_;  ///< for the rest
  std::condition_variable changed_;
  std::function<void()> demand_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace holdfast::test
