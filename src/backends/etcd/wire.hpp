#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

/// etcd's interface, as far as Holdfast uses it, in plain types. gRPC is behind it, in a module of its own that is
/// loaded when the first etcd URL is used: this header is all that module and library share.
namespace holdfast::etcd {

struct KeyValue {
  std::string key = {};
  std::string value = {};
  std::int64_t create_revision = 0;
  std::int64_t mod_revision = 0;
  std::int64_t version = 0;
  std::int64_t lease = 0;
};

// --- transactions ---------------------------------------------------------------------------------------------------

/// One key, or all from `key` up to `range_end`. The oldest key first if it is a range.
struct Range {
  std::string key;
  std::string range_end = {};
  std::int64_t limit = 0;              ///< 0: all of them
  std::int64_t not_created_after = 0;  ///< a revision; 0: whenever
  bool newest_first = false;
  bool keys_only = false;
  bool count_only = false;
};
struct Put {
  std::string key;
  std::string value;
  std::int64_t lease = 0;
  bool keep_lease = false;  ///< the one that the key has
};
struct Delete {
  std::string key;
};
using KeyOperation = std::variant<Range, Put, Delete>;

/// For a range: each of its keys. A key that does not exist has revisions and a version of 0.
struct Compare {
  enum class What : std::uint8_t { version, create_revision, mod_revision };
  enum class Is : std::uint8_t { equal, less };

  std::string key;
  std::string range_end = {};
  What what = What::create_revision;
  Is is = Is::equal;
  std::int64_t number = 0;
};

struct Transaction {
  std::vector<Compare> when = {};
  std::vector<KeyOperation> then = {};
  std::vector<KeyOperation> otherwise = {};
  /// Whatever has another value here reads and writes other keys, so both can be done as one. Empty: done alone.
  std::string about = {};
};

/// Of one operation.
struct Outcome {
  std::vector<KeyValue> found = {};  ///< by a range
  std::int64_t count = 0;            ///< of all keys of the range, whatever its limits; or of deleted keys
};

struct TransactionReply {
  bool succeeded = false;
  std::int64_t revision = 0;
  std::uint64_t term = 0;  ///< a larger one: another leader was elected
  std::vector<Outcome> outcomes = {};
};

// --- leases, watches, credentials -----------------------------------------------------------------------------------

struct LeaseReply {
  std::int64_t id = 0;
  std::int64_t seconds = 0;  ///< granted, or left; below 1 if there is no such lease
  std::uint64_t term = 0;    ///< if it was granted: as in TransactionReply
};

struct TokenReply {
  std::string token;
};

struct WatchReply {
  struct Event {
    std::string key = {};
    std::int64_t revision = 0;
    bool created = false;
    bool deleted = false;
  };
  std::int64_t watch = 0;     ///< the server's number of the watch
  std::int64_t revision = 0;  ///< created: what happens after that is told
  bool created = false;
  bool canceled = false;
  std::vector<Event> events = {};
};

using Reply = std::variant<std::monostate, std::vector<TransactionReply>, LeaseReply, TokenReply>;

/// What gRPC says of a call: 0 is good; the others are gRPC's numbers.
struct CallStatus {
  int code = 0;
  std::string message = {};
  bool sent = true;  ///< false: the server certainly did not receive it
  bool ok() const { return code == 0; }
};

// --- the connection -------------------------------------------------------------------------------------------------

enum class Stream : std::uint8_t { keep_alive, watch };

/// Told on a thread of the module, one after the other.
class WireEvents {
 public:
  virtual ~WireEvents() = default;
  virtual void replied(std::uint64_t call, CallStatus status, Reply reply) = 0;
  virtual void kept_alive(std::uint64_t stream, LeaseReply lease) = 0;
  virtual void watched(std::uint64_t stream, WatchReply reply) = 0;
  virtual void stream_ended(std::uint64_t stream, CallStatus status) = 0;
};

struct WireTls {
  std::string authorities = {};  ///< in PEM form; empty: those that the system trusts
  std::string certificate = {};
  std::string key = {};

  bool operator==(const WireTls&) const = default;
};

/// One client's connection to one server at a time. Thread-safe. The destructor gives up all that is under way, and
/// returns when nothing will be told any more.
class Wire {
 public:
  virtual ~Wire() = default;

  using Timeout = std::chrono::nanoseconds;

  /// From here on, calls and streams go to this server ("host:port"). It is contacted with the first of them. Each
  /// address of its host is tried for so long at first, and for up to a second after failures.
  virtual void connect(const std::string& server, const std::optional<WireTls>& tls, Timeout time_for_an_address) = 0;
  /// If a connection to that server is still being made, gives up all calls that wait for it, and says true.
  virtual bool give_up_connecting() = 0;
  /// Goes with every later call; empty: none.
  virtual void use_token(const std::string& token) = 0;

  /// Several transactions become one: all of them happen at one revision, or none does. The reply has one for each.
  /// REQUIRES: they are about different things.
  virtual void call(std::uint64_t call, std::span<const Transaction* const> transactions, Timeout timeout) = 0;
  virtual void grant_lease(std::uint64_t call, std::int64_t seconds, Timeout timeout) = 0;
  virtual void revoke_lease(std::uint64_t call, std::int64_t lease, Timeout timeout) = 0;
  virtual void time_to_live(std::uint64_t call, std::int64_t lease, Timeout timeout) = 0;
  virtual void authenticate(std::uint64_t call, const std::string& user, const std::string& password,
                            Timeout timeout) = 0;

  /// Opens a stream under a number that was not used before; what is sent meanwhile waits.
  virtual void open(std::uint64_t stream, Stream kind) = 0;
  virtual void close(std::uint64_t stream) = 0;
  virtual void keep_alive(std::uint64_t stream, std::int64_t lease) = 0;
  /// The server answers watches in the order in which they were asked for.
  virtual void watch(std::uint64_t stream, const std::string& key, const std::string& range_end) = 0;
  virtual void unwatch(std::uint64_t stream, std::int64_t watch) = 0;
};

/// What the module exports, under a name that says what it expects of this header.
using MakeWire = Wire* (*)(WireEvents& events);
constexpr const char* make_wire_symbol = "holdfast_etcd_make_wire_5";

}  // namespace holdfast::etcd
