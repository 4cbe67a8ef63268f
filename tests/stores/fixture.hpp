#pragma once

#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "holdfast/options.hpp"

namespace holdfast::test {

using std::chrono::milliseconds;

/// What a store can do. Cases are chosen by these and never by a backend's name; a case of the conformance suite checks
/// that the store's traits say the same.
struct Capabilities {
  bool separate_processes = false;  ///< another process that opens the URL meets the same locks
  bool fifo = false;                ///< clients are served in the order in which they came
  bool has_server = false;          ///< Fixture::server() can be stopped and started
  bool keeps_tokens = false;        ///< tokens rise also across a restart
  bool fixed_leases = true;         ///< a lock can have a lease of its own: not renewed, or extended
  bool shared = true;               ///< it has shared locks
  bool permits = true;              ///< it has semaphores
  bool registers = true;            ///< it has registers, and so what is made from them
  bool lock_delay = true;           ///< names can stay closed after an unclean end
  bool lists = true;                ///< it finds locks by what their names begin with
  bool release_requests = true;     ///< holders can be asked to let go
  bool proves_lease_late = false;   ///< a renewal proves less than a whole lease
  bool notices_deaths = false;      ///< of clients, before their leases end
  bool reads_anything = true;       ///< its client library can read replies that make no sense at all
  bool quick = true;                ///< a request takes well below a millisecond
  int servers = 1;                  ///< that it consists of
  milliseconds longest_ttl = LockOptions::max_ttl;
  milliseconds min_ttl = {};                   ///< the shortest lease with servers as they are usually set; 0: any
  milliseconds shortest_lease = {};            ///< that the fixture's own servers give; 0: any
  milliseconds lease_unit = milliseconds(1);   ///< leases are rounded up to whole multiples of it
  milliseconds short_ttl = milliseconds(300);  ///< for leases that are to end during a test: about the shortest given
  milliseconds takeover_slack = {};            ///< how much longer than its ttl a dead client's lock may stay taken
  int crowd = 700;                             ///< so many claims of one name at once are no burden
  int steps = 6000;                            ///< nor are so many requests, one after the other
};

/// The process behind a store, where there is one.
class Server {
 public:
  virtual ~Server() = default;
  /// Ends it; what it keeps on disk stays.
  virtual void stop() = 0;
  /// Starts it again at the same URL, and returns when it answers.
  virtual void start() = 0;
  /// Lets it stand still (SIGSTOP): connections stay, answers do not come.
  virtual void pause() = 0;
  virtual void resume() = 0;
};

/// A store of its own, empty, that nobody else uses; gone when destroyed.
class Fixture {
 public:
  virtual ~Fixture() = default;
  virtual std::string url() const = 0;
  /// Null where Capabilities::has_server is false, and where others use it, too.
  virtual Server* server() { return nullptr; }
};

/// How to make the fixtures of one backend, or of one way to run it.
struct FixtureKind {
  std::string name;  ///< letters, digits and underscores: part of the names of the tests
  Capabilities capabilities;
  std::unique_ptr<Fixture> (*make)();
  /// Where make() gives a part of servers that others use, too: for cases that stop them.
  std::unique_ptr<Fixture> (*make_with_own_server)() = make;
  /// The URL of a store whose server is at this address, `host:port`. Null where Capabilities::has_server is false.
  std::string (*url_at)(const std::string& address) = nullptr;
};

/// A namespace-scope object of this type, in tests/stores/<backend>.cpp, is all it takes to join every suite.
class RegisterFixture {
 public:
  explicit RegisterFixture(FixtureKind kind);

 private:
  const FixtureKind kind_;
};

using FixtureKinds = std::vector<const FixtureKind*>;

/// All that have registered themselves, by name. REQUIRES: main() runs.
const FixtureKinds& fixture_kinds();
const FixtureKind& fixture_kind(const std::string& name);

template <class Predicate>
FixtureKinds kinds_where(Predicate predicate) {
  FixtureKinds found;
  for (const FixtureKind* kind : fixture_kinds()) {
    if (predicate(kind->capabilities)) found.push_back(kind);
  }
  return found;
}

inline void PrintTo(const FixtureKind* kind, std::ostream* out) { *out << kind->name; }

/// The port of a URL with one server.
inline std::string port_in(const std::string& url) {
  const std::size_t begin = url.rfind(':') + 1;
  return url.substr(begin, url.find_first_not_of("0123456789", begin) - begin);
}

/// For INSTANTIATE_TEST_SUITE_P: the last part of a case's name is the store's.
inline constexpr auto name_of_store = [](const auto& info) { return info.param->name; };

/// A name that no other case has used, of this process or another.
std::string new_prefix();

/// For FixtureKind: what has a public default constructor.
template <class Kind>
std::unique_ptr<Fixture> make_fixture() {
  return std::make_unique<Kind>();
}

/// A server, or several, that the fixture alone uses.
template <class Servers>
class OwnServers : public Fixture, private Server {
 public:
  std::string url() const override { return servers_.url(); }
  Server* server() override { return this; }

 private:
  void stop() override { servers_.stop(); }
  void start() override { servers_.start(); }
  void pause() override { servers_.pause(); }
  void resume() override { servers_.resume(); }

  Servers servers_;
};

}  // namespace holdfast::test
