#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

/// The part of etcd's interface that Holdfast uses, in plain types. gRPC implements it in a module of its own, which is
/// loaded when the first etcd URL is used. This header is all that the module and the library share.
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

/// Reads one key, or all keys from `key` up to `range_end`. Of a range, the oldest key comes first.
struct Range {
  std::string key;
  std::string range_end = {};
  std::int64_t limit = 0;              ///< how many keys at most; 0: all
  std::int64_t not_created_after = 0;  ///< only keys created up to this revision; 0: all
  bool newest_first = false;
  bool keys_only = false;
  bool count_only = false;
};
struct Put {
  std::string key;
  std::string value;
  std::int64_t lease = 0;
  bool keep_lease = false;  ///< keep the lease that the key has
};
struct Delete {
  std::string key;
};
using KeyOperation = std::variant<Range, Put, Delete>;

/// A condition on a key, or on each key of a range. A key that does not exist has revisions and a version of 0.
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
  /// Transactions that differ in this read and write different keys, so they may be sent together. Empty: it is always
  /// sent alone.
  std::string about = {};
};

/// What one operation has found or done.
struct Outcome {
  std::vector<KeyValue> found = {};  ///< what a range has read
  std::int64_t count = 0;            ///< how many keys the range has, whatever its limit; or how many were deleted
};

struct TransactionReply {
  bool succeeded = false;
  std::int64_t revision = 0;
  std::uint64_t term = 0;  ///< it grows when another leader is elected
  std::vector<Outcome> outcomes = {};
};

// --- leases, watches, credentials -----------------------------------------------------------------------------------

struct LeaseReply {
  std::int64_t id = 0;
  std::int64_t seconds = 0;  ///< what was granted, or what is left; below 1 if there is no such lease
  std::uint64_t term = 0;    ///< of a grant, as in TransactionReply
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
  std::int64_t revision = 0;  ///< if it was created: later changes are told
  bool created = false;
  bool canceled = false;
  std::vector<Event> events = {};
};

using Reply = std::variant<std::monostate, std::vector<TransactionReply>, LeaseReply, TokenReply>;

/// How a call has ended, in gRPC's numbers. 0 means success.
struct CallStatus {
  int code = 0;
  std::string message = {};
  bool sent = true;  ///< false: the server has certainly not received it
  bool ok() const { return code == 0; }
};

// --- the connection -------------------------------------------------------------------------------------------------

enum class Stream : std::uint8_t { keep_alive, watch };

/// What the module tells. It does so on a thread of its own, one event after the other.
class WireEvents {
 public:
  virtual ~WireEvents() = default;
  virtual void replied(std::uint64_t call, CallStatus status, Reply reply) = 0;
  virtual void kept_alive(std::uint64_t stream, LeaseReply lease) = 0;
  virtual void watched(std::uint64_t stream, WatchReply reply) = 0;
  virtual void stream_ended(std::uint64_t stream, CallStatus status) = 0;
};

struct WireTls {
  std::string authorities = {};  ///< in PEM format; empty: those that the system trusts
  std::string certificate = {};
  std::string key = {};

  bool operator==(const WireTls&) const = default;
};

/// One client's connection to one server at a time. Thread-safe. The destructor gives up everything that is under way,
/// and returns when nothing will be told any more.
class Wire {
 public:
  virtual ~Wire() = default;

  using Timeout = std::chrono::nanoseconds;

  /// From now on, calls and streams go to this server ("host:port"). The first of them contacts it. Each address of its
  /// host is tried for that long at first, and for up to a second after failures.
  virtual void connect(const std::string& server, const std::optional<WireTls>& tls, Timeout time_for_an_address) = 0;
  /// If the connection to that server has not been made yet, gives up all calls that wait for it and returns true.
  virtual bool give_up_connecting() = 0;
  /// Is sent with every later call. Empty: no token is sent.
  virtual void use_token(const std::string& token) = 0;

  /// Sends several transactions as one: either all of them are executed at one revision, or none is. The reply has an
  /// entry for each. REQUIRES: they read and write different keys.
  virtual void call(std::uint64_t call, std::span<const Transaction* const> transactions, Timeout timeout) = 0;
  virtual void grant_lease(std::uint64_t call, std::int64_t seconds, Timeout timeout) = 0;
  virtual void revoke_lease(std::uint64_t call, std::int64_t lease, Timeout timeout) = 0;
  virtual void time_to_live(std::uint64_t call, std::int64_t lease, Timeout timeout) = 0;
  virtual void authenticate(std::uint64_t call, const std::string& user, const std::string& password,
                            Timeout timeout) = 0;

  /// Opens a stream under a number that was not used before. What is sent before it is open waits.
  virtual void open(std::uint64_t stream, Stream kind) = 0;
  virtual void close(std::uint64_t stream) = 0;
  virtual void keep_alive(std::uint64_t stream, std::int64_t lease) = 0;
  /// The server creates watches in the order in which they are asked for.
  virtual void watch(std::uint64_t stream, const std::string& key, const std::string& range_end) = 0;
  virtual void unwatch(std::uint64_t stream, std::int64_t watch) = 0;
};

/// The function that the module exports. Its name contains the version of this header.
using MakeWire = Wire* (*)(WireEvents& events);
constexpr const char* make_wire_symbol = "holdfast_etcd_make_wire_5";

}  // namespace holdfast::etcd
