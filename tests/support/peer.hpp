#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "support/server_clock.hpp"
#include "support/worker.hpp"

namespace holdfast::test {

/// Another client of a store, somewhere else, driven by the commands of Worker.
class Peer {
 public:
  virtual ~Peer() = default;

  virtual void send(const std::string& command) = 0;
  /// The answer to the oldest command that was not answered yet; empty if none comes within `bound`.
  virtual std::optional<std::string> receive(std::chrono::milliseconds bound) = 0;
  /// Ends without releasing anything, as a program that just ends.
  virtual void leave() = 0;

  /// send() and receive(); "no answer" if none comes in time.
  std::string ask(const std::string& command);
  std::string receive();
};

/// A client of its own on a thread of this process.
class ThreadPeer : public Peer {
 public:
  explicit ThreadPeer(const std::string& url);
  ~ThreadPeer() override;
  void send(const std::string& command) override;
  std::optional<std::string> receive(std::chrono::milliseconds bound) override;
  using Peer::receive;
  void leave() override;

 private:
  void run(const std::stop_token& stop, const std::string& url);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::string> commands_;
  std::deque<std::string> answers_;
  std::jthread thread_;
};

/// The same program again as a process of its own, whose main() calls run_worker() when is_worker(). It dies with
/// this process, and with this object.
class ProcessPeer : public Peer {
 public:
  /// Where it runs. `container`: in namespaces of its own for processes, network, mounts, names and shared memory, as
  /// another container on this machine would; needs root's rights.
  enum class Place { here, container };

  explicit ProcessPeer(const std::string& url, Place place = Place::here);
  /// With this time of day.
  ProcessPeer(const std::string& url, const ServerClock& clock);
  ~ProcessPeer() override;
  ProcessPeer(const ProcessPeer&) = delete;
  ProcessPeer& operator=(const ProcessPeer&) = delete;

  void send(const std::string& command) override;
  std::optional<std::string> receive(std::chrono::milliseconds bound) override;
  using Peer::receive;
  void leave() override;

  /// SIGKILL; returns when the process is gone.
  void kill();
  /// SIGSTOP; returns when the process stands still.
  void pause();
  void resume();
  /// Whether the process comes to stand still by its own doing.
  bool stops_itself();

  pid_t pid() const { return pid_; }

 private:
  void start(const std::string& url, Place place, const ServerClock* clock);
  void reap();

  pid_t pid_ = -1;
  int socket_ = -1;
  std::string received_;
};

inline constexpr std::string_view worker_argument = "--holdfast-worker";

}  // namespace holdfast::test
