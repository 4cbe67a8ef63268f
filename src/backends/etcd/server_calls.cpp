#include "backends/etcd/server_calls.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "backends/etcd/module.hpp"
#include "kit/answer_soon.hpp"

namespace holdfast::etcd {

using spi::Done;
using spi::Failure;
using spi::Result;

namespace {

/// All requests wait for one login, so it may take as long as the most patient of them.
constexpr base::Duration login_patience = spi::longest_patience;

/// A server that is not connected to by then is passed over. (A lost packet is repeated only after a second.)
constexpr base::Duration time_to_connect = std::chrono::milliseconds(400);
constexpr std::size_t most_doublings = 3;

/// How long each address of a server's host is tried at first, and how long if that was not enough for any server.
constexpr base::Duration time_for_an_address = std::chrono::milliseconds(600);
constexpr base::Duration more_time_for_an_address = std::chrono::milliseconds(1000);

}  // namespace

ServerCalls::ServerCalls(spi::Loop& loop, const Address& address, Prepare preparation)
    : loop_(loop),
      address_(address),
      prepare_(preparation),
      gathered_timer_(loop, [this] { send_gathered(); }),
      preparing_timer_(loop, [this] { preparing_takes_long(); }),
      connecting_timer_(loop, [this] { connecting_takes_long(); }) {
  check_not_forked();
}

void ServerCalls::close() {
  closed_ = true;
  gathered_timer_.cancel();
  preparing_timer_.cancel();
  connecting_timer_.cancel();
  auto sendings = std::exchange(sendings_, {});
  std::vector<Call> unsent = std::exchange(gathered_, {});
  std::ranges::move(std::exchange(waiting_for_login_, {}), std::back_inserter(unsent));
  std::ranges::move(std::exchange(unprepared_, {}), std::back_inserter(unsent));
  for (auto& [number, sending] : sendings) {
    for (Call& call : sending.calls) call.done(is_closed());
  }
  for (Call& call : unsent) call.done(is_closed());
}

void ServerCalls::give_back(const std::vector<std::int64_t>& leases, Done<> done) {
  constexpr base::Duration patience = std::chrono::milliseconds(250);
  if (leases.empty() || !wire_) return kit::answer_soon<spi::Nothing>(loop_, std::move(done), spi::Nothing{});
  auto left = std::make_shared<std::size_t>(leases.size());
  auto told = std::make_shared<Done<>>(std::move(done));
  for (const std::int64_t lease : leases) {
    const std::uint64_t number = next_number();
    Call call = {.request = RevokeLease{lease}, .done = [left, told](const Result<Reply>&) {
                   if (--*left == 0) (*told)(spi::Nothing{});
                 }};
    sendings_[number].calls.push_back(std::move(call));
    wire_->revoke_lease(number, lease, patience);
  }
}

// --- calls ----------------------------------------------------------------------------------------------------------

template <class T>
void ServerCalls::start(Request request, Instant deadline, Done<T> done) {
  Call call = {.request = std::move(request), .deadline = deadline, .done = {}};
  call.done = [this, done = std::move(done)](Result<Reply> result) mutable {
    if (!result.ok()) return done(std::move(result.failure()));
    T* const reply = std::get_if<T>(&result.value());
    if (reply == nullptr) return done(not_understood(address_));
    done(std::move(*reply));
  };
  send(std::move(call));
}

void ServerCalls::transact(Transaction transaction, Instant deadline, Done<TransactionReply> done) {
  using Replies = std::vector<TransactionReply>;
  start<Replies>(std::move(transaction), deadline, [done = std::move(done)](Result<Replies> replies) mutable {
    if (!replies.ok()) return done(std::move(replies.failure()));
    done(std::move(replies.value().front()));
  });
}
void ServerCalls::grant_lease(std::int64_t seconds, Instant deadline, Done<LeaseReply> done) {
  start(GrantLease{seconds}, deadline, std::move(done));
}
void ServerCalls::revoke_lease(std::int64_t lease, Instant deadline, Done<LeaseReply> done) {
  start(RevokeLease{lease}, deadline, std::move(done));
}
void ServerCalls::time_to_live(std::int64_t lease, Instant deadline, Done<LeaseReply> done) {
  start(TimeToLive{lease}, deadline, std::move(done));
}

bool ServerCalls::is_read_only(const Transaction& transaction) {
  for (const auto* const branch : {&transaction.then, &transaction.otherwise}) {
    for (const KeyOperation& operation : *branch) {
      if (!std::holds_alternative<Range>(operation)) return false;
    }
  }
  return true;
}

Effect ServerCalls::effect_of(const Request& request) {
  if (const auto* const transaction = std::get_if<Transaction>(&request)) {
    return is_read_only(*transaction) ? Effect::none : Effect::some;
  }
  // A lease that was granted without an answer ends by itself.
  return std::holds_alternative<RevokeLease>(request) ? Effect::some : Effect::none;
}

void ServerCalls::fail_soon(Call call, Failure failure) {
  loop_.defer([call = std::move(call), failure = std::move(failure)]() mutable { call.done(std::move(failure)); });
}

void ServerCalls::send(Call call) {
  if (closed_) return fail_soon(std::move(call), is_closed());
  if (!prepared_) return wait_until_prepared(std::move(call));
  const bool is_login = std::holds_alternative<Login>(call.request);
  if (!address_.user.empty() && !has_token_ && !is_login) {
    const Instant deadline = call.deadline;
    waiting_for_login_.push_back(std::move(call));
    return log_in(deadline);
  }
  if (loop_.now() >= call.deadline) {
    const CallStatus too_late = {.code = 0, .message = "the time for this request is over", .sent = false};
    return fail_soon(std::move(call), explain(too_late, Effect::none, address_));
  }
  if (call.about() != nullptr) return gather(std::move(call));
  std::vector<Call> one;
  one.push_back(std::move(call));
  transmit(std::move(one), false);
}

void ServerCalls::transmit(std::vector<Call> calls, bool gathered) {
  limit_connecting();
  const std::uint64_t number = next_number();
  Sending& sending = sendings_[number] = {std::move(calls), connection_, gathered};
  if (gathered) ++gathered_under_way_;
  Instant deadline = Instant::max();
  std::vector<const Transaction*> transactions;
  for (Call& call : sending.calls) {
    ++call.attempts;
    deadline = std::min(deadline, call.deadline);
    if (const auto* const transaction = std::get_if<Transaction>(&call.request)) transactions.push_back(transaction);
  }
  const Request& request = sending.calls.front().request;
  const base::Duration timeout = deadline - loop_.now();
  if (!transactions.empty()) {
    wire_->call(number, transactions, timeout);
  } else if (const auto* const grant = std::get_if<GrantLease>(&request)) {
    wire_->grant_lease(number, grant->seconds, timeout);
  } else if (const auto* const revoke = std::get_if<RevokeLease>(&request)) {
    wire_->revoke_lease(number, revoke->lease, timeout);
  } else if (const auto* const ask = std::get_if<TimeToLive>(&request)) {
    wire_->time_to_live(number, ask->lease, timeout);
  } else {
    wire_->authenticate(number, address_.user, address_.password, timeout);
  }
}

void ServerCalls::answered(std::uint64_t number, const CallStatus& status, Reply reply) {
  auto node = sendings_.extract(number);
  if (node.empty()) return;
  Sending sending = std::move(node.mapped());
  if (sending.gathered) {
    --gathered_under_way_;
    send_gathered();
  }
  if (status.ok()) {
    heard_ = loop_.now();
    passed_over_ = 0;
    if (sending.connection == connection_) connected_ = true;
    note_term(reply);
    return succeeded(std::move(sending.calls), std::move(reply));
  }
  if (is_trouble_of_one_server(status) && sending.connection == connection_ && !closed_) {
    if (!status.sent && !connected_ && loop_.now() - contacted_ >= time_to_connect) ++passed_over_;
    move_on();
  }
  const bool in_company = sending.calls.size() > 1;
  for (Call& call : sending.calls) failed(std::move(call), status, in_company);
}

void ServerCalls::note_term(const Reply& reply) {
  if (const auto* const lease = std::get_if<LeaseReply>(&reply)) term_ = std::max(term_, lease->term);
  if (const auto* const replies = std::get_if<std::vector<TransactionReply>>(&reply)) {
    for (const TransactionReply& each : *replies) term_ = std::max(term_, each.term);
  }
}

/// There must be one outcome for each operation, and a transaction without conditions must have succeeded.
bool ServerCalls::makes_sense(const Transaction& asked, const TransactionReply& told) {
  if (!told.succeeded && asked.when.empty()) return false;
  return told.outcomes.size() == (told.succeeded ? asked.then : asked.otherwise).size();
}

void ServerCalls::succeeded(std::vector<Call> calls, Reply reply) {
  auto* const replies = std::get_if<std::vector<TransactionReply>>(&reply);
  if (replies == nullptr) return calls.front().done(std::move(reply));
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto* const asked = std::get_if<Transaction>(&calls[i].request);
    const bool sense = asked != nullptr && replies->size() == calls.size() && makes_sense(*asked, (*replies)[i]);
    if (!sense) {
      calls[i].done(not_understood(address_));
    } else {
      calls[i].done(Reply(std::vector{std::move((*replies)[i])}));
    }
  }
}

void ServerCalls::failed(Call call, const CallStatus& status, bool in_company) {
  if (closed_) return call.done(is_closed());
  if (was_given_up(status)) --call.attempts;  // only its deadline ends it
  if (!status.sent && call.attempts < address_.servers.size()) return send(std::move(call));
  const bool is_login = std::holds_alternative<Login>(call.request);
  if (wants_a_new_token(status) && !address_.user.empty() && !is_login && !std::exchange(call.logged_in_again, true)) {
    has_token_ = false;
    return send(std::move(call));
  }
  // The servers execute all of them or none, so the mistake may be in the part of another one.
  if (in_company && is_complaint(status)) {
    call.alone = true;
    return send(std::move(call));
  }
  if (is_lost_lease(status)) return call.done(Failure{Errc::lost, "the lease has expired or was revoked"});
  Failure failure = explain(status, effect_of(call.request), address_);
  if (address_.uses_tls && !status.sent && failure.code == Errc::access_denied) prepared_ = false;
  call.done(std::move(failure));
}

// --- transactions that go together ----------------------------------------------------------------------------------

namespace {

/// The servers work on one of them, and find the next one when they have finished it.
constexpr std::size_t most_under_way = 2;
/// If the servers take longer than that, a few more requests do not matter.
constexpr base::Duration longest_gathering = std::chrono::milliseconds(2);
/// Servers accept up to 128 operations, and each of our transactions has few.
constexpr std::size_t most_together = 32;

}  // namespace

const std::string* ServerCalls::Call::about() const {
  const auto* const transaction = std::get_if<Transaction>(&request);
  return transaction == nullptr || transaction->about.empty() || alone ? nullptr : &transaction->about;
}

void ServerCalls::gather(Call call) {
  gathered_.push_back(std::move(call));
  if (gathered_under_way_ < most_under_way) return send_gathered();
  if (!gathered_timer_.armed()) gathered_timer_.set(loop_.now() + longest_gathering);
}

void ServerCalls::send_gathered() {
  gathered_timer_.cancel();
  if (gathered_.empty()) return;
  transmit(take_what_goes_together(), true);
  if (!gathered_.empty()) gathered_timer_.set(loop_.now() + longest_gathering);
}

/// Leaves the others where they are. Transactions that have much more or much less time are not sent together, because
/// all that are sent together fail together.
std::vector<ServerCalls::Call> ServerCalls::take_what_goes_together() {
  const Instant now = loop_.now();
  const base::Duration time = gathered_.front().deadline - now;
  std::vector<Call> together;
  std::vector<Call> others;
  std::set<std::string> about;
  for (Call& call : gathered_) {
    const base::Duration its_time = call.deadline - now;
    const bool similar = its_time <= time * 2 && time <= its_time * 2;
    const bool fits = together.empty() || (together.size() < most_together && similar);
    const bool goes = fits && about.insert(*call.about()).second;
    (goes ? together : others).push_back(std::move(call));
  }
  gathered_ = std::move(others);
  return together;
}

ServerCalls::Instant ServerCalls::deadline_after(Instant began, base::Duration patience) const {
  constexpr base::Duration recently = std::chrono::milliseconds(100);
  const Instant now = loop_.now();
  return (heard_ != Instant::min() && now - heard_ < recently ? now : began) + patience;
}

// --- servers --------------------------------------------------------------------------------------------------------

Wire* ServerCalls::wire() {
  if (closed_) return nullptr;
  if (!wire_) prepare();
  if (!wire_ || (!address_.user.empty() && !has_token_)) return nullptr;
  limit_connecting();
  return wire_.get();
}

void ServerCalls::connect() {
  ++connection_;
  connected_at_ = last_number_;
  connected_ = false;
  connecting_timer_.cancel();
  wire_->connect(address_.servers[server_], tls_, rounds() == 0 ? time_for_an_address : more_time_for_an_address);
}

/// How often all servers have been passed over.
std::size_t ServerCalls::rounds() const { return passed_over_ / address_.servers.size(); }

/// Called before anything is sent, because that is what contacts the present server.
void ServerCalls::limit_connecting() {
  if (connected_ || connecting_timer_.armed() || address_.servers.size() == 1) return;
  contacted_ = loop_.now();
  connecting_timer_.set(contacted_ + time_to_connect * (1 << std::min(rounds(), most_doublings)));
}

void ServerCalls::connecting_takes_long() {
  if (!wire_->give_up_connecting()) return;  // it has been reached, or nothing was sent after all
  ++passed_over_;
  move_on();
}

/// If there is only one server, gRPC connects to it again by itself.
void ServerCalls::move_on() {
  if (address_.servers.size() == 1) return;
  server_ = (server_ + 1) % address_.servers.size();
  connect();
  for (StreamListener* const listener : listeners_) listener->moved();
}

// --- before there is a connection -----------------------------------------------------------------------------------

void ServerCalls::wait_until_prepared(Call call) {
  limit_preparing(call.deadline);
  unprepared_.push_back(std::move(call));
  prepare();
}

void ServerCalls::prepare() {
  if (std::exchange(preparing_, true)) {
    return loop_.run_blocking([] {}, [] {});  // perhaps there was no thread for it, so ask again
  }
  const auto files = address_.uses_tls ? std::optional(address_.tls) : std::nullopt;
  const auto made = std::make_shared<std::optional<Result<Preparations>>>();
  loop_.run_blocking([files, made, prepare = prepare_] { made->emplace(prepare(files)); },
                     [this, here = lifetime_.watch(), made] {
                       if (here.lasts()) prepared(std::move(**made));
                     });
}

void ServerCalls::prepared(Result<Preparations> preparations) {
  preparing_ = false;
  if (closed_) return;
  const std::optional<Failure> failure =
      preparations.ok() ? use(std::move(preparations.value())) : std::optional(std::move(preparations.failure()));
  preparing_timer_.cancel();
  auto waiting = std::exchange(unprepared_, {});
  for (Call& call : waiting) {
    if (failure) {
      call.done(*failure);
    } else {
      send(std::move(call));
    }
  }
}

/// Returns why they cannot be used, if they cannot.
std::optional<Failure> ServerCalls::use(Preparations preparations) {
  const bool is_first = !wire_;
  if (is_first) {
    try {
      wire_.reset(preparations.make_wire(*this));
    } catch (const std::system_error& error) {
      return Failure{Errc::exhausted,
                     "a client of etcd needs a thread, but the system refused one: " + error.code().message()};
    }
  }
  prepared_ = true;
  if (!is_first && preparations.tls == tls_) return std::nullopt;
  tls_ = std::move(preparations.tls);
  connect();
  for (StreamListener* const listener : listeners_) listener->moved();
  return std::nullopt;
}

void ServerCalls::limit_preparing(Instant deadline) {
  preparing_timer_.set(preparing_timer_.armed() ? std::min(preparing_timer_.due(), deadline) : deadline);
}

void ServerCalls::preparing_takes_long() {
  const Instant now = loop_.now();
  std::vector<Call> late;
  auto waiting = std::exchange(unprepared_, {});
  for (Call& call : waiting) (call.deadline <= now ? late : unprepared_).push_back(std::move(call));
  for (const Call& call : unprepared_) limit_preparing(call.deadline);
  const std::string why = address_.uses_tls ? "gRPC could not be loaded, or the files of the URL read, in time"
                                            : "gRPC could not be loaded in time";
  for (Call& call : late) {
    call.done(Failure{Errc::unreachable, "cannot connect to " + address_.shown() + ": " + why});
  }
}

// --- login ----------------------------------------------------------------------------------------------------------

void ServerCalls::log_in(Instant deadline) {
  if (std::exchange(logging_in_, true)) return;
  wire_->use_token({});  // a token that the server has forgotten would be refused here, too
  Call call = {.request = Login{}, .deadline = std::max(deadline, loop_.now() + login_patience), .done = {}};
  call.done = [this](Result<Reply> result) { logged_in(std::move(result)); };
  send(std::move(call));
}

void ServerCalls::logged_in(Result<Reply> result) {
  logging_in_ = false;
  auto waiting = std::exchange(waiting_for_login_, {});
  if (!result.ok()) {
    for (Call& call : waiting) call.done(result.failure());
    return;
  }
  if (const auto* const reply = std::get_if<TokenReply>(&result.value())) wire_->use_token(reply->token);
  has_token_ = true;
  for (Call& call : waiting) send(std::move(call));
}

// --- from the wire's thread -----------------------------------------------------------------------------------------

template <class Task>
void ServerCalls::come_back(Task task) {
  loop_.post([here = lifetime_.watch(), task = std::move(task)]() mutable {
    if (here.lasts()) task();
  });
}

void ServerCalls::replied(std::uint64_t call, CallStatus status, Reply reply) {
  come_back([this, call, status = std::move(status), reply = std::move(reply)]() mutable {
    answered(call, status, std::move(reply));
  });
}

void ServerCalls::kept_alive(std::uint64_t stream, LeaseReply lease) {
  come_back([this, stream, lease] {
    for (StreamListener* const listener : listeners_) listener->kept_alive(stream, lease);
  });
}

void ServerCalls::watched(std::uint64_t stream, WatchReply reply) {
  come_back([this, stream, reply = std::move(reply)] {
    for (StreamListener* const listener : listeners_) listener->watched(stream, reply);
  });
}

void ServerCalls::stream_ended(std::uint64_t stream, CallStatus status) {
  come_back([this, stream, status = std::move(status)] {
    if (wants_a_new_token(status)) has_token_ = false;
    for (StreamListener* const listener : listeners_) listener->stream_ended(stream);
    // Perhaps nobody makes a call for a while: a client whose claims only wait, for example.
    if (stream > connected_at_ && is_trouble_of_one_server(status)) move_on();
  });
}

}  // namespace holdfast::etcd
