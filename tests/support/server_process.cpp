#include "support/server_process.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <system_error>

#include "support/eventually.hpp"

namespace holdfast::test {

using namespace std::chrono_literals;

ServerProcess::ServerProcess(const std::vector<std::string>& command, const std::filesystem::path& directory) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const std::string log = directory / "log";
  const pid_t parent = getpid();

  pid_ = fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ > 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (getppid() != parent || chdir(directory.c_str()) != 0 || dup2(output, STDOUT_FILENO) < 0 ||
      dup2(output, STDERR_FILENO) < 0) {
    _exit(126);
  }
  execvp(arguments[0], arguments.data());
  _exit(127);
}

ServerProcess::~ServerProcess() {
  if (!runs()) return;
  resume();
  ::kill(pid_, SIGTERM);
  if (!eventually(10s, [this] { return !runs(); })) kill();
}

bool ServerProcess::runs() {
  if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == 0) return true;
  pid_ = -1;
  return false;
}

void ServerProcess::kill() {
  if (!runs()) return;
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void ServerProcess::pause() const {
  ::kill(pid_, SIGSTOP);
  siginfo_t stopped = {};
  waitid(P_PID, static_cast<id_t>(pid_), &stopped, WSTOPPED | WEXITED | WNOWAIT);
}
void ServerProcess::resume() const { ::kill(pid_, SIGCONT); }

std::string free_port() {
  // Below those that the kernel gives to clients (net.ipv4.ip_local_port_range). Else, while the server is down, a
  // client that tries to reach it could be given the server's own port, connect to itself, and keep the server out.
  std::random_device random;
  std::uniform_int_distribution<std::uint16_t> any(15'000, 32'000);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const std::uint16_t port = any(random);
    const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool is_free = bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    close(descriptor);
    if (is_free) return std::to_string(port);
  }
  throw std::runtime_error("no free port");
}

void start_server(const std::string& program, const std::filesystem::path& directory,
                  const std::function<std::unique_ptr<ServerProcess>()>& start,
                  const std::function<bool(ServerProcess&)>& ready, std::unique_ptr<ServerProcess>& server) {
  for (int attempt = 0; attempt < 5; ++attempt) {
    server.reset();
    server = start();
    bool is_ready = false;
    static_cast<void>(eventually([&] { return (is_ready = ready(*server)) || !server->runs(); }));
    if (is_ready) return;
  }
  std::ifstream log(directory / "log");
  throw std::runtime_error(program + " does not start; script/setup installs it. Its log: " +
                           std::string(std::istreambuf_iterator<char>(log), {}));
}

}  // namespace holdfast::test
