#include "support/zookeeper_server.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "support/eventually.hpp"

namespace holdfast::test {
namespace {

constexpr const char* jars[] = {"zookeeper",     "zookeeper-jute", "slf4j-api",    "slf4j-nop",
                                "netty-handler", "netty-buffer",   "netty-common", "netty-transport",
                                "metrics-core",  "snappy-java",    "commons-cli",  "commons-io"};

std::string class_path() {
  std::string path;
  for (const char* jar : jars) path += (path.empty() ? "" : ":") + ("/usr/share/java/" + std::string(jar) + ".jar");
  return path;
}

/// A virtual machine that starts fast and stays small.
std::vector<std::string> java(const std::string& main_class, const std::string& configuration) {
  return {"java",
          "-Xshare:auto",
          "-XX:TieredStopAtLevel=1",
          "-XX:+UseSerialGC",
          "-Xmx256m",
          "-Dzookeeper.jmx.log4j.disable=true",
          "-Dzookeeper.forceSync=no",
          "-Dzookeeper.extendedTypesEnabled=true",
          "-cp",
          class_path(),
          main_class,
          configuration};
}

std::string common_settings(const TemporaryDirectory& directory, const std::string& port,
                            int tick = ZookeeperServer::tick_milliseconds) {
  return "tickTime=" + std::to_string(tick) + "\ndataDir=" + (directory.path() / "data").string() +
         "\nclientPort=" + port +
         "\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\nmaxClientCnxns=0\n4lw.commands.whitelist=*\n"
         "maxSessionTimeout=2000000000\n";
}

}  // namespace

ZookeeperServer::ZookeeperServer(int tick) : tick_(tick) {
  start_server(
      "zookeeper", directory_.path(),
      [this] {
        port_ = free_port();
        return launch();
      },
      // Another server that has got the same port would have other data.
      [this](ServerProcess&) { return ask("conf").find((directory_.path() / "data").string()) != std::string::npos; },
      process_);
}

std::unique_ptr<ServerProcess> ZookeeperServer::launch() const {
  const std::filesystem::path file = directory_.path() / "zoo.cfg";
  std::ofstream(file) << common_settings(directory_, port_, tick_);
  return std::make_unique<ServerProcess>(java("org.apache.zookeeper.server.ZooKeeperServerMain", file.string()),
                                         directory_.path());
}

void ZookeeperServer::start() {
  start_server(
      "zookeeper", directory_.path(), [this] { return launch(); },
      // It says that it is well ("imok") before it serves anybody.
      [this](ServerProcess&) { return ask("srvr").find("Mode:") != std::string::npos; }, process_);
}

std::string ZookeeperServer::ask(const std::string& port, const std::string& command) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // One that was sent while the server starts may never be answered.
  const timeval enough = {.tv_sec = 1, .tv_usec = 0};
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &enough, sizeof enough);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
  std::string answer;
  if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      send(descriptor, command.data(), command.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(command.size())) {
    char buffer[4096];
    for (ssize_t count = 0; (count = recv(descriptor, buffer, sizeof buffer, 0)) > 0;) {
      answer.append(buffer, static_cast<std::size_t>(count));
    }
  }
  close(descriptor);
  return answer;
}

long long ZookeeperServer::monitored(const std::string& key) const {
  const std::string text = ask("mntr");
  const std::size_t at = text.find(key + "\t");
  return at == std::string::npos ? -1 : static_cast<long long>(std::stod(text.substr(at + key.size() + 1)));
}

// --- an ensemble ----------------------------------------------------------------------------------------------------

ZookeeperEnsemble::ZookeeperEnsemble(Options options) : options_(options), members_(size) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    choose_ports();
    for (std::size_t i = 0; i < size; ++i) launch(i);
    if (become_ready()) return;
    stop();  // somebody else may have got one of the ports meanwhile
  }
  throw std::runtime_error("an ensemble of ZooKeeper servers does not start; script/setup installs it");
}

void ZookeeperEnsemble::choose_ports() {
  for (Member& member : members_) {
    member.directory = std::make_unique<TemporaryDirectory>(memory_directory());
    member.port = free_port();
    member.follow_port = free_port();
    member.elect_port = free_port();
    if (!options_.breakable_links) continue;
    member.follow_link = std::make_unique<Proxy>(member.follow_port);
    member.elect_link = std::make_unique<Proxy>(member.elect_port);
  }
  // They tell each other where they can be reached for votes.
  for (const Member& listener : members_) {
    for (const Member& speaker : members_) {
      if (!options_.breakable_links) continue;
      listener.elect_link->translate("127.0.0.1:" + speaker.elect_port, speaker.elect_link->address());
    }
  }
}

void ZookeeperEnsemble::launch(std::size_t number) {
  Member& member = members_[number];
  const std::filesystem::path directory = member.directory->path();
  std::string settings = common_settings(*member.directory, member.port) +
                         "initLimit=100\nsyncLimit=" + std::to_string(options_.sync_limit) + "\n";
  for (std::size_t i = 0; i < size; ++i) {
    const bool through_link = i != number && members_[i].follow_link != nullptr;  // itself, it listens at the ports
    settings += "server." + std::to_string(i + 1) +
                "=127.0.0.1:" + (through_link ? members_[i].follow_link->port() : members_[i].follow_port) + ":" +
                (through_link ? members_[i].elect_link->port() : members_[i].elect_port) + "\n";
  }
  std::filesystem::create_directories(directory / "data");
  std::ofstream(directory / "data" / "myid") << number + 1 << "\n";
  std::ofstream(directory / "zoo.cfg") << settings;
  member.process = std::make_unique<ServerProcess>(
      java("org.apache.zookeeper.server.quorum.QuorumPeerMain", (directory / "zoo.cfg").string()), directory);
}

bool ZookeeperEnsemble::become_ready() const {
  bool all_run = true;
  const bool ready = eventually([&] {
    for (const Member& member : members_) all_run = all_run && (!member.process || member.process->runs());
    return !all_run || std::ranges::all_of(members_, [](const Member& member) {
      return !member.process || ZookeeperServer::ask(member.port, "srvr").find("Mode:") != std::string::npos;
    });
  });
  return ready && all_run;
}

void ZookeeperEnsemble::wait_until_ready() const {
  if (!become_ready()) throw std::runtime_error("an ensemble of ZooKeeper servers does not start again");
}

void ZookeeperEnsemble::start() {
  for (std::size_t i = 0; i < size; ++i) launch(i);
  wait_until_ready();
}

void ZookeeperEnsemble::start(std::size_t member) {
  launch(member);
  wait_until_ready();
}

void ZookeeperEnsemble::start_missing() {
  for (std::size_t i = 0; i < size; ++i) {
    if (!members_[i].process) launch(i);
  }
  wait_until_ready();
}

void ZookeeperEnsemble::stop() {
  for (Member& member : members_) member.process.reset();
}

void ZookeeperEnsemble::pause() {
  for (Member& member : members_) member.process->pause();
}

void ZookeeperEnsemble::resume() {
  for (Member& member : members_) member.process->resume();
}

std::size_t ZookeeperEnsemble::leader_beside(std::size_t silent) const {
  for (std::size_t i = 0; i < size; ++i) {
    if (i == silent || !members_[i].process) continue;
    if (ZookeeperServer::ask(members_[i].port, "srvr").find("Mode: leader") != std::string::npos) return i;
  }
  return size;
}

void ZookeeperEnsemble::cut_off(std::size_t number) {
  for (Member& member : members_) {
    for (Proxy* link : {member.follow_link.get(), member.elect_link.get()}) {
      if (&member == &members_[number]) {
        link->be_silent(true);
      } else {
        link->shut_out(members_[number].process->pid());
      }
    }
  }
}

void ZookeeperEnsemble::rejoin(std::size_t number) {
  for (Member& member : members_) {
    for (Proxy* link : {member.follow_link.get(), member.elect_link.get()}) {
      link->let_everybody_in();
      if (&member != &members_[number]) continue;
      link->be_silent(false);
      link->reset();  // nobody need wait until it notices that a connection is dead
    }
  }
}

std::string ZookeeperEnsemble::url() const {
  std::string url = "zookeeper://";
  for (const Member& member : members_) url += (&member == members_.data() ? "" : ",") + ("127.0.0.1:" + member.port);
  return url;
}

}  // namespace holdfast::test
