#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/proxy.hpp"
#include "support/server_process.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::test {

/// A ZooKeeper server on a free port of 127.0.0.1, or one of an ensemble. Throws, with the server's log, if it does not
/// start. Its ticks are short, so that sessions may be, too; and it grants sessions of any length beyond.
class ZookeeperServer {
 public:
  static constexpr int tick_milliseconds = 50;

  /// `tick`, in milliseconds: its shortest session is two of them.
  explicit ZookeeperServer(int tick = tick_milliseconds);

  const std::string& port() const { return port_; }
  std::string url() const { return "zookeeper://127.0.0.1:" + port_; }

  void stop() { process_.reset(); }
  void kill() { process_->kill(); }
  /// Again, at the same port and with the same data.
  void start();
  void pause() { process_->pause(); }
  void resume() { process_->resume(); }

  /// What it answers to one of its four-letter commands; empty if it does not.
  std::string ask(const std::string& command) const { return ask(port_, command); }
  static std::string ask(const std::string& port, const std::string& command);
  /// A line of its `mntr`, as a number; -1 if it is not there.
  long long monitored(const std::string& key) const;

 private:
  std::unique_ptr<ServerProcess> launch() const;

  const int tick_;
  const TemporaryDirectory directory_{memory_directory()};
  std::string port_;
  std::unique_ptr<ServerProcess> process_;
};

/// Three of them that agree with each other.
class ZookeeperEnsemble {
 public:
  static constexpr std::size_t size = 3;

  struct Options {
    int sync_limit = 40;           ///< after how many silent ticks a leader is given up
    bool breakable_links = false;  ///< between the servers: see cut_off()
  };

  ZookeeperEnsemble() : ZookeeperEnsemble(Options{}) {}
  explicit ZookeeperEnsemble(Options options);

  std::string url() const;
  std::string port(std::size_t member) const { return members_[member].port; }
  void stop();
  void start();
  void stop(std::size_t member) { members_[member].process.reset(); }
  void kill(std::size_t member) {
    members_[member].process->kill();
    members_[member].process.reset();
  }
  void start(std::size_t member);
  /// All that do not run.
  void start_missing();
  void pause();
  void resume();
  void pause(std::size_t member) { members_[member].process->pause(); }
  void resume(std::size_t member) { members_[member].process->resume(); }
  /// Which of them leads; `size` if none does.
  std::size_t leader() const { return leader_beside(size); }
  /// The same, but `silent` is not asked: it stands still, or is the last to know.
  std::size_t leader_beside(std::size_t silent) const;

  /// From now on this member and the others do not hear of each other; its clients reach it as before.
  /// REQUIRES: Options::breakable_links.
  void cut_off(std::size_t member);
  /// The opposite. REQUIRES: it was not killed meanwhile.
  void rejoin(std::size_t member);

 private:
  struct Member {
    std::unique_ptr<TemporaryDirectory> directory = {};
    std::string port = {};
    std::string follow_port = {};
    std::string elect_port = {};
    std::unique_ptr<Proxy> follow_link = {};  ///< through which the others come, if links are breakable
    std::unique_ptr<Proxy> elect_link = {};
    std::unique_ptr<ServerProcess> process = {};
  };

  void choose_ports();
  void launch(std::size_t member);
  /// Whether all that run come to answer.
  bool become_ready() const;
  void wait_until_ready() const;

  const Options options_;
  std::vector<Member> members_;
};

}  // namespace holdfast::test
