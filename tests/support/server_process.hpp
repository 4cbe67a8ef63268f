#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::test {

/// A program that a test has started, in a directory of its own; ended by the destructor, and if the test dies.
class ServerProcess {
 public:
  /// What it prints goes to the file `log` in the directory.
  ServerProcess(const std::vector<std::string>& command, const std::filesystem::path& directory);
  /// Asks it to end, and ends it if it does not.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  pid_t pid() const { return pid_; }
  /// Whether it has not ended by itself.
  bool runs();
  /// SIGKILL, and waits for its end.
  void kill();
  /// SIGSTOP; returns when all its threads stand still, which kill() does not wait for.
  void pause() const;
  /// SIGCONT.
  void resume() const;

 private:
  pid_t pid_ = -1;
};

/// Free now, on 127.0.0.1. Somebody else may take it before the server does: then the server ends, and another is
/// tried.
std::string free_port();

/// Starts a server until it is ready, or throws with its log. `start` makes the process and chooses ports; `ready` must
/// not be taken in by another server that has got the same port.
void start_server(const std::string& program, const std::filesystem::path& directory,
                  const std::function<std::unique_ptr<ServerProcess>()>& start,
                  const std::function<bool(ServerProcess&)>& ready, std::unique_ptr<ServerProcess>& server);

}  // namespace holdfast::test
