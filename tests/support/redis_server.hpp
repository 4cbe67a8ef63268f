#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/server_process.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::test {

/// redis-server on a free port of 127.0.0.1. Throws, with the server's log, if it does not start.
class RedisServer {
 public:
  struct Options {
    bool keeps_data = false;                  ///< across stop() and start(): an append-only file
    std::vector<std::string> arguments = {};  ///< of the program, as redis-server takes them
    bool tls = false;                         ///< at the port; the arguments name the files
    std::vector<std::string> launcher = {};   ///< the program that runs it, with arguments: ServerClock::launcher()
    std::string password = {};                ///< with which command() enters, if the arguments say that one is needed
  };

  RedisServer() : RedisServer(Options{}) {}
  explicit RedisServer(Options options);

  const std::string& port() const { return port_; }
  /// REQUIRES: it runs.
  pid_t pid() const { return process_->pid(); }
  std::string url() const { return "redis://127.0.0.1:" + port_; }
  std::string unix_url() const { return "redis+unix:" + socket_path(); }
  const std::filesystem::path& directory() const { return directory_.path(); }

  /// Ends it, in order or at once.
  void stop() { process_.reset(); }
  void kill() { process_->kill(); }
  /// Again, at the same port.
  void start();
  /// What it has kept. REQUIRES: it does not run.
  void delete_data() const { std::filesystem::remove_all(directory_.path() / "appendonlydir"); }
  void pause() { process_->pause(); }
  void resume() { process_->resume(); }

  /// What it answers, as text: an array's elements in lines of their own, an error with "ERROR " before it.
  std::string command(const std::vector<std::string>& parts) const;

 private:
  std::string socket_path() const { return (directory_.path() / "redis.sock").string(); }
  std::unique_ptr<ServerProcess> launch() const;

  const Options options_;
  const TemporaryDirectory directory_{memory_directory()};
  std::string port_;
  std::unique_ptr<ServerProcess> process_;
};

}  // namespace holdfast::test
