#include "support/etcd_server.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "support/eventually.hpp"
#include "support/threads_at_exit.hpp"

namespace holdfast::test {
namespace {

std::string quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "re");
  if (pipe == nullptr) throw std::runtime_error("cannot run: " + command);
  std::string output;
  std::array<char, 4096> buffer = {};
  while (const std::size_t count = fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), count);
  pclose(pipe);
  return output;
}

/// So that a server that has got the port of another is not taken for it.
std::string new_name() {
  static std::atomic<int> made = 0;
  return "test-" + std::to_string(getpid()) + "-" + std::to_string(++made);
}

}  // namespace

// Not before: what OpenSSL cleans up at the end must come later.
EtcdServer::~EtcdServer() { wait_for_threads_at_exit(); }

EtcdServer::EtcdServer(Options options) : options_(std::move(options)) {
  members_.resize(static_cast<std::size_t>(options_.servers));
  std::string log;
  for (int attempt = 0; attempt < 5; ++attempt) {
    choose_ports();
    for (Member& member : members_) member.process = launch(member, true);
    bool all_run = true;
    static_cast<void>(eventually([&] {
      for (Member& member : members_) all_run = all_run && member.process->runs();
      return !all_run || is_ready();
    }));
    if (all_run && is_ready()) return;
    std::ifstream file(members_[0].directory->path() / "log");
    log = std::string(std::istreambuf_iterator<char>(file), {});
    for (Member& member : members_) member.process.reset();
  }
  throw std::runtime_error("etcd does not start; script/setup installs it. Its log: " + log);
}

void EtcdServer::choose_ports() {
  for (Member& member : members_) {
    member.name = new_name();
    member.port = free_port();
    member.peer_port = free_port();
    if (options_.breakable_links) member.link = std::make_unique<Proxy>(member.peer_port);
    member.directory = std::make_unique<TemporaryDirectory>(memory_directory());
  }
}

std::unique_ptr<ServerProcess> EtcdServer::launch(const Member& member, bool anew) const {
  const std::string client = (options_.tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + member.port;
  std::string cluster;
  for (const Member& each : members_) {
    cluster += (cluster.empty() ? "" : ",") + each.name + "=http://127.0.0.1:" + each.advertised_peer_port();
  }
  std::vector<std::string> arguments = {
      "etcd", "--name", member.name, "--data-dir", (member.directory->path() / "data").string(), "--listen-client-urls",
      client, "--advertise-client-urls", client, "--listen-peer-urls", "http://127.0.0.1:" + member.peer_port,
      "--initial-advertise-peer-urls", "http://127.0.0.1:" + member.advertised_peer_port(), "--initial-cluster",
      cluster, "--initial-cluster-token", members_[0].name, "--initial-cluster-state", anew ? "new" : "existing",
      // Short, so that leases of one second can be granted.
      "--heartbeat-interval", "50", "--election-timeout", "500", "--logger", "zap", "--log-level", "warn"};
  arguments.insert(arguments.end(), options_.arguments.begin(), options_.arguments.end());
  return std::make_unique<ServerProcess>(arguments, member.directory->path());
}

bool EtcdServer::is_ready() const {
  const std::string healthy = command({"endpoint", "health"});
  std::size_t count = 0;
  for (std::size_t at = 0; (at = healthy.find("is healthy", at)) != std::string::npos; ++at) ++count;
  if (count != members_.size()) return false;
  const std::string names = command({"member", "list"});
  return names.find(members_[0].name + ",") != std::string::npos;
}

void EtcdServer::start() {
  for (Member& member : members_) member.process = launch(member, false);
  if (!eventually([this] { return is_ready(); })) throw std::runtime_error("etcd does not start again");
}

void EtcdServer::start(std::size_t server) {
  members_[server].process = launch(members_[server], false);
  const std::string endpoint = "--endpoints=127.0.0.1:" + members_[server].port;
  if (!eventually([&] { return command({endpoint, "endpoint", "health"}).find("is healthy") != std::string::npos; })) {
    throw std::runtime_error("etcd does not start again");
  }
}

void EtcdServer::start_missing() {
  for (Member& member : members_) {
    if (!member.process || !member.process->runs()) member.process = launch(member, false);
  }
  if (!eventually([this] { return is_ready(); })) throw std::runtime_error("etcd does not start again");
}

void EtcdServer::stop() {
  for (Member& member : members_) member.process.reset();
}
void EtcdServer::pause() {
  for (const Member& member : members_) member.process->pause();
}
void EtcdServer::resume() {
  for (const Member& member : members_) member.process->resume();
}

void EtcdServer::kill() {
  for (const Member& member : members_) member.process->kill();
}

std::size_t EtcdServer::leader_beside(std::size_t silent) const {
  const auto number_after = [](const std::string& text, const std::string& key) {
    const std::size_t at = text.find("\"" + key + "\":");
    return at == std::string::npos ? 0ULL : std::stoull(text.substr(at + key.size() + 3));
  };
  for (std::size_t server = 0; server < members_.size(); ++server) {
    if (server == silent || !members_[server].process || !members_[server].process->runs()) continue;
    const std::string status = command({"--endpoints=127.0.0.1:" + members_[server].port, "--command-timeout=1s",
                                        "endpoint", "status", "--write-out=json"});
    const unsigned long long leader = number_after(status, "leader");
    if (leader != 0 && leader == number_after(status, "member_id")) return server;
  }
  return members_.size();
}

void EtcdServer::cut_off(std::size_t server) {
  for (Member& member : members_) {
    if (&member == &members_[server]) {
      member.link->be_silent(true);
    } else {
      member.link->shut_out(members_[server].process->pid());
    }
  }
}

void EtcdServer::rejoin(std::size_t server) {
  for (Member& member : members_) member.link->let_everybody_in();
  members_[server].link->be_silent(false);
  members_[server].link->reset();  // nobody need wait until it notices that a connection is dead
}

std::string EtcdServer::hosts() const {
  std::string hosts;
  for (const Member& member : members_) hosts += (hosts.empty() ? "127.0.0.1:" : ",127.0.0.1:") + member.port;
  return hosts;
}

std::string EtcdServer::url() const { return (options_.tls ? "etcds://" : "etcd://") + hosts(); }

std::string EtcdServer::command(const std::vector<std::string>& arguments) const {
  std::string command = "ETCDCTL_API=3 etcdctl";
  bool has_endpoints = false;
  for (const std::string& argument : arguments) has_endpoints = has_endpoints || argument.starts_with("--endpoints");
  if (!has_endpoints) command += " --endpoints=" + hosts();
  for (const std::string& argument : options_.client_arguments) command += " " + quoted(argument);
  for (const std::string& argument : arguments) command += " " + quoted(argument);
  return output_of(command + " 2>&1");
}

long long EtcdServer::revision() const {
  const std::string json = command({"get", "no such key", "--write-out=json"});
  const std::size_t at = json.find("\"revision\":");
  if (at == std::string::npos) throw std::runtime_error("etcdctl: " + json);
  return std::stoll(json.substr(at + 11));
}

}  // namespace holdfast::test
