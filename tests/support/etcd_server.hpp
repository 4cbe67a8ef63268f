#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/proxy.hpp"
#include "support/server_process.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::test {

/// etcd on free ports of 127.0.0.1: one server, or a cluster. It keeps its data across a restart. Throws, with the
/// server's log, if it does not start.
class EtcdServer {
 public:
  struct Options {
    int servers = 1;
    std::vector<std::string> arguments = {};  ///< of the program, as etcd takes them
    bool tls = false;                         ///< the arguments name the files
    bool breakable_links = false;             ///< between the servers: see cut_off()
    /// With which command() enters, as etcdctl takes them.
    std::vector<std::string> client_arguments = {};
  };

  EtcdServer() : EtcdServer(Options{}) {}
  explicit EtcdServer(Options options);
  ~EtcdServer();
  EtcdServer(const EtcdServer&) = delete;
  EtcdServer& operator=(const EtcdServer&) = delete;

  const std::string& port(std::size_t server = 0) const { return members_[server].port; }
  /// Of all servers.
  std::string url() const;
  std::string hosts() const;
  std::size_t size() const { return members_.size(); }
  pid_t pid(std::size_t server = 0) const { return members_[server].process->pid(); }

  void stop();
  void start();
  void pause();
  void resume();
  void kill();
  void stop(std::size_t server) { members_[server].process.reset(); }
  void kill(std::size_t server) { members_[server].process->kill(); }
  void start(std::size_t server);
  /// All that do not run.
  void start_missing();
  void pause(std::size_t server) { members_[server].process->pause(); }
  void resume(std::size_t server) { members_[server].process->resume(); }

  /// Which of them leads; size() if nobody says so.
  std::size_t leader() const { return leader_beside(size()); }
  /// The same, but `silent` is not asked: it stands still, or is the last to know.
  std::size_t leader_beside(std::size_t silent) const;

  /// From now on this server and the others do not hear of each other; its clients reach it as before.
  /// REQUIRES: Options::breakable_links.
  void cut_off(std::size_t server);
  /// The opposite. REQUIRES: it was not killed meanwhile.
  void rejoin(std::size_t server);

  /// From now on command() enters as "user:password".
  void enter_as(const std::string& credentials) { options_.client_arguments.push_back("--user=" + credentials); }
  /// What etcdctl prints, errors included, when it is called with these arguments.
  std::string command(const std::vector<std::string>& arguments) const;
  /// The newest revision.
  long long revision() const;

 private:
  struct Member {
    std::string name;
    std::string port;
    std::string peer_port;
    std::unique_ptr<Proxy> link;  ///< through which the others come, if links are breakable
    std::unique_ptr<TemporaryDirectory> directory;
    std::unique_ptr<ServerProcess> process;

    const std::string& advertised_peer_port() const { return link ? link->port() : peer_port; }
  };

  void choose_ports();
  bool is_ready() const;
  std::unique_ptr<ServerProcess> launch(const Member& member, bool anew) const;

  Options options_;
  std::vector<Member> members_;
};

}  // namespace holdfast::test
