#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "backends/etcd/preparations.hpp"
#include "backends/etcd/wire.hpp"
#include "spi/result.hpp"

namespace holdfast::test {

// How calls fail, in gRPC's numbers and words.
inline etcd::CallStatus refused() {
  return {.code = 14, .message = "failed to connect to all addresses; Connection refused", .sent = false};
}
inline etcd::CallStatus cut_off() { return {.code = 14, .message = "Socket closed"}; }
inline etcd::CallStatus timed_out() { return {.code = 4, .message = "Deadline Exceeded"}; }
inline etcd::CallStatus lost_lease() { return {.code = 5, .message = "etcdserver: requested lease not found"}; }
inline etcd::CallStatus unknown_token() { return {.code = 16, .message = "etcdserver: invalid auth token"}; }

/// The connection to a cluster that is played by the test: it sees what is sent, and says what is answered. Nothing is
/// answered by itself, except that calls to a silent server are given up when the client says so.
class FakeWire final : public etcd::Wire {
 public:
  enum class Kind : std::uint8_t { transactions, grant_lease, revoke_lease, time_to_live, authenticate };
  struct Call {
    std::uint64_t number = 0;
    Kind kind = Kind::transactions;
    std::string server = {};
    std::vector<etcd::Transaction> transactions = {};
    std::int64_t lease = 0;  ///< its number; grant_lease: for how many seconds
    std::string user = {};
    Timeout timeout = {};
  };
  struct Watch {
    std::string key;
    std::string range_end;
    friend bool operator==(const Watch&, const Watch&) = default;
  };
  struct StreamState {
    etcd::Stream kind = etcd::Stream::watch;
    std::string server = {};
    bool closed = false;
    std::vector<std::int64_t> kept_alive = {};
    std::vector<Watch> watches = {};
    std::vector<std::int64_t> unwatched = {};
  };

  explicit FakeWire(etcd::WireEvents& events) : events_(events) { latest = this; }
  ~FakeWire() override { latest = nullptr; }

  // --- what a client is made with -----------------------------------------------------------------------------------

  /// The one that was made last; null if it has ended.
  static inline FakeWire* latest = nullptr;
  static inline int preparations = 0;
  static inline std::optional<spi::Failure> cannot_prepare = {};
  static inline std::optional<etcd::WireTls> files = {};

  static void reset() {
    preparations = 0;
    cannot_prepare.reset();
    files.reset();
  }
  static spi::Result<etcd::Preparations> prepare(const std::optional<kit::TlsFiles>& /*files*/) {
    ++preparations;
    if (cannot_prepare) return *cannot_prepare;
    const etcd::MakeWire make = [](etcd::WireEvents& events) -> Wire* { return new FakeWire(events); };
    return etcd::Preparations{.make_wire = make, .tls = files};
  }

  // --- what the client has done -------------------------------------------------------------------------------------

  std::vector<std::string> connects;
  std::vector<Timeout> times_for_an_address;
  std::string token;
  std::vector<Call> calls;  ///< those that are not answered, the oldest first
  std::map<std::uint64_t, StreamState> streams;
  std::set<std::string> silent;  ///< servers that do not answer attempts to connect

  const Call& first() const { return calls.at(0); }
  /// The stream of that kind that was opened last; 0 if there is none.
  std::uint64_t stream(etcd::Stream kind) const {
    std::uint64_t last = 0;
    for (const auto& [number, state] : streams) {
      if (state.kind == kind && !state.closed) last = number;
    }
    return last;
  }
  StreamState& keep_alives() { return streams.at(stream(etcd::Stream::keep_alive)); }
  StreamState& watches() { return streams.at(stream(etcd::Stream::watch)); }

  // --- what the cluster says ----------------------------------------------------------------------------------------

  void answer(const Call& call, etcd::Reply reply) { end(call.number, {}, std::move(reply)); }
  void fail(const Call& call, etcd::CallStatus status) { end(call.number, std::move(status), {}); }
  void answer_first(etcd::Reply reply) { answer(Call(first()), std::move(reply)); }
  void fail_first(etcd::CallStatus status) { fail(Call(first()), std::move(status)); }
  /// To the oldest call, which is one transaction: its first branch was taken.
  void answer_first(std::vector<etcd::Outcome> outcomes, std::int64_t revision, std::uint64_t term = 1) {
    answer_first(std::vector{etcd::TransactionReply{
        .succeeded = true, .revision = revision, .term = term, .outcomes = std::move(outcomes)}});
  }
  void keep_alive_answer(std::int64_t lease, std::int64_t seconds) {
    events_.kept_alive(stream(etcd::Stream::keep_alive), {.id = lease, .seconds = seconds});
  }
  void watch_answer(etcd::WatchReply reply) { events_.watched(stream(etcd::Stream::watch), std::move(reply)); }
  void watch_began(std::int64_t watch, std::int64_t revision) {
    watch_answer({.watch = watch, .revision = revision, .created = true});
  }
  void key_deleted(std::int64_t watch, const std::string& key, std::int64_t revision) {
    watch_answer({.watch = watch, .events = {{.key = key, .revision = revision, .deleted = true}}});
  }
  void end_stream(std::uint64_t stream, etcd::CallStatus status) {
    streams.at(stream).closed = true;
    events_.stream_ended(stream, std::move(status));
  }
  /// What comes although nobody waits for it.
  etcd::WireEvents& events() { return events_; }

  // --- Wire ---------------------------------------------------------------------------------------------------------

  void connect(const std::string& server, const std::optional<etcd::WireTls>& /*tls*/, Timeout time) override {
    connects.push_back(server);
    has_answered_ = false;
    times_for_an_address.push_back(time);
  }
  bool give_up_connecting() override {
    const std::string& server = connects.back();
    if (has_answered_ || !silent.contains(server)) return false;
    const std::vector<Call> before = calls;
    for (const Call& call : before) {
      if (call.server == server) fail(call, {.code = 1, .message = "CANCELLED", .sent = false});
    }
    return true;
  }
  void use_token(const std::string& its_token) override { token = its_token; }

  void call(std::uint64_t call, std::span<const etcd::Transaction* const> transactions, Timeout timeout) override {
    Call& sent = add(call, Kind::transactions, timeout);
    for (const etcd::Transaction* const each : transactions) sent.transactions.push_back(*each);
  }
  void grant_lease(std::uint64_t call, std::int64_t seconds, Timeout timeout) override {
    add(call, Kind::grant_lease, timeout).lease = seconds;
  }
  void revoke_lease(std::uint64_t call, std::int64_t lease, Timeout timeout) override {
    add(call, Kind::revoke_lease, timeout).lease = lease;
  }
  void time_to_live(std::uint64_t call, std::int64_t lease, Timeout timeout) override {
    add(call, Kind::time_to_live, timeout).lease = lease;
  }
  void authenticate(std::uint64_t call, const std::string& user, const std::string& /*password*/,
                    Timeout timeout) override {
    add(call, Kind::authenticate, timeout).user = user;
  }

  void open(std::uint64_t stream, etcd::Stream kind) override {
    streams[stream] = {.kind = kind, .server = connects.back()};
  }
  void close(std::uint64_t stream) override { streams.at(stream).closed = true; }
  void keep_alive(std::uint64_t stream, std::int64_t lease) override { streams.at(stream).kept_alive.push_back(lease); }
  void watch(std::uint64_t stream, const std::string& key, const std::string& range_end) override {
    streams.at(stream).watches.push_back({key, range_end});
  }
  void unwatch(std::uint64_t stream, std::int64_t watch) override { streams.at(stream).unwatched.push_back(watch); }

 private:
  Call& add(std::uint64_t number, Kind kind, Timeout timeout) {
    calls.push_back({.number = number, .kind = kind, .server = connects.back(), .timeout = timeout});
    return calls.back();
  }
  void end(std::uint64_t number, etcd::CallStatus status, etcd::Reply reply) {
    if (std::erase_if(calls, [&](const Call& call) { return call.number == number; }) == 0) {
      throw std::logic_error("there is no such call");
    }
    has_answered_ = has_answered_ || status.ok();
    events_.replied(number, std::move(status), std::move(reply));
  }

  etcd::WireEvents& events_;
  bool has_answered_ = false;
};

/// What a request was answered, once it is.
template <class T>
class AnswerOf {
 public:
  spi::Done<T> done() {
    return [answer = answer_](spi::Result<T> result) { answer->emplace(std::move(result)); };
  }
  bool has_come() const { return answer_->has_value(); }
  bool is_good() const { return has_come() && (*answer_)->ok(); }
  const T& value() const { return answer_->value().value(); }
  /// Empty if it has not come, or is good.
  std::optional<Errc> failure() const {
    if (!has_come() || is_good()) return std::nullopt;
    return (*answer_)->failure().code;
  }
  std::string why() const { return failure() ? (*answer_)->failure().detail : std::string(); }

 private:
  const std::shared_ptr<std::optional<spi::Result<T>>> answer_ = std::make_shared<std::optional<spi::Result<T>>>();
};

}  // namespace holdfast::test
