#include "fencing/server.hpp"

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
#include <stdexcept>
#include <system_error>

#include "fencing/shell.hpp"
#include "support/eventually.hpp"

namespace holdfast::fencing {
namespace {

using namespace std::chrono_literals;

/// Free now. Somebody else may take it before the server does: then the server ends, and another port is tried.
std::string free_port() {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const bool ok = bind(descriptor, generic, size) == 0 && getsockname(descriptor, generic, &size) == 0;
  close(descriptor);
  if (!ok) throw std::system_error(errno, std::generic_category(), "no free port");
  return std::to_string(ntohs(address.sin_port));
}

/// Starts it until it is ready, or throws. `start` chooses ports; `ready` must not be taken in by another server that
/// has got the same port.
void start_server(const std::string& program, const std::filesystem::path& directory,
                  const std::function<void()>& start, const std::function<bool()>& ready,
                  std::unique_ptr<Server>& server) {
  for (int attempt = 0; attempt < 5; ++attempt) {
    server.reset();
    start();
    bool is_ready = false;
    static_cast<void>(test::eventually([&] { return (is_ready = ready()) || !server->runs(); }));
    if (is_ready) return;
  }
  std::ifstream log(directory / "log");
  throw std::runtime_error(program + " does not start; script/setup installs it. Its log: " +
                           std::string(std::istreambuf_iterator<char>(log), {}));
}

}  // namespace

Server::Server(const std::vector<std::string>& command, const std::filesystem::path& directory) {
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

Server::~Server() {
  if (!runs()) return;
  kill(pid_, SIGTERM);
  if (test::eventually(10s, [this] { return !runs(); })) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool Server::runs() {
  if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == 0) return true;
  pid_ = -1;
  return false;
}

RedisServer::RedisServer() {
  const auto start = [this] {
    const std::string port = free_port();
    url_ = "redis://127.0.0.1:" + port;
    server_ = std::make_unique<Server>(std::vector<std::string>{"redis-server", "--port", port, "--bind", "127.0.0.1",
                                                                "--save", "", "--dir", directory_.path().string()},
                                       directory_.path());
  };
  const auto ready = [this] {
    const std::string info =
        run_script(R"(redis-cli -u "$URL" info server)", directory_.path(), {{"URL", url_}}).output;
    return info.find("process_id:" + std::to_string(server_->pid()) + "\r") != std::string::npos;
  };
  start_server("redis-server", directory_.path(), start, ready, server_);
}

EtcdServer::EtcdServer() {
  std::string name;
  const auto start = [&] {
    const std::string port = free_port();
    url_ = "http://127.0.0.1:" + port;
    const std::string peers = "http://127.0.0.1:" + free_port();
    name = "test-" + std::to_string(getpid()) + '-' + port;
    server_ = std::make_unique<Server>(
        std::vector<std::string>{"etcd", "--name", name, "--data-dir", (directory_.path() / name).string(),
                                 "--listen-client-urls", url_, "--advertise-client-urls", url_, "--listen-peer-urls",
                                 peers, "--initial-advertise-peer-urls", peers, "--initial-cluster",
                                 name + '=' + peers},
        directory_.path());
  };
  const auto ready = [&] {
    const Outcome members = run_script("etcdctl --dial-timeout=1s --command-timeout=1s member list", directory_.path(),
                                       {{"ETCDCTL_API", "3"}, {"ETCDCTL_ENDPOINTS", url_}});
    return members.status == 0 && members.output.find(name) != std::string::npos;
  };
  start_server("etcd", directory_.path(), start, ready, server_);
}

}  // namespace holdfast::fencing
