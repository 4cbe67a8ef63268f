#include "backends/etcd/claims.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "backends/etcd/claims_steps.hpp"
#include "spi/answer_soon.hpp"
#include "spi/rules.hpp"

// Joining a line and leaving it. (claims_renewal.cpp has the rest.)

namespace holdfast::etcd {

using spi::ClaimAnswer;
using spi::ClaimRef;
using spi::ClaimRequest;
using spi::Done;
using spi::Failure;
using spi::Instant;
using spi::milliseconds;
using spi::Nothing;
using spi::Operation;
using spi::Result;

namespace {

/// As long as the shortest lease that etcd gives, whatever was asked for.
constexpr milliseconds shortest_lease = std::chrono::seconds(1);

/// How often others may come in between before it is done in another way.
constexpr int polite_attempts = 3;

}  // namespace

spi::Duration EtcdClaims::patience_for(milliseconds lease) {
  const bool only_asks = lease == milliseconds::zero();
  return spi::patience(only_asks ? lease : std::max(lease, shortest_lease));
}

// --- acquire --------------------------------------------------------------------------------------------------------

EtcdClaims::Wanted::Wanted(const ClaimRequest& request, const Keys& keys)
    : claim{request.name, request.id},
      mode(request.mode),
      lease(request.lease),
      kind(request.kind),
      refuse(request.when_busy == spi::WhenBusy::refuse),
      record(Record::of(request, request.lease)),
      line(keys.line(request.name.text(), permits())),
      key(keys.claim(request.name.text(), permits(), request.id)) {
  if (!request.replaces || *request.replaces == request.id) return;
  replaces = request.replaces;
  // It may stand in either line.
  replaced_keys = {keys.claim(request.name.text(), false, *replaces), keys.claim(request.name.text(), true, *replaces)};
}

void EtcdClaims::acquire(const ClaimRequest& request, Done<ClaimAnswer> done) {
  std::optional<Failure> failure = spi::why_invalid(request);
  if (!failure && request.lock_delay > milliseconds::zero()) {
    failure = Failure{Errc::unsupported, "etcd has not got a lock_delay: its leases end without a trace"};
  }
  if (failure) return spi::answer_soon(loop_, std::move(done), *std::move(failure));
  acquiring(Wanted(request, keys_)).start(std::move(done));
}

Operation<ClaimAnswer> EtcdClaims::acquiring(Wanted wanted) {
  const Instant began = loop_.now();
  const Turns::Ticket turn = turns_.join(wanted.claim.name.text());
  co_await turn;
  wanted.deadline = link_.deadline_after(began, patience_for(wanted.lease));
  auto answer = co_await joining(wanted);
  const bool happened = answer.ok() || !spi::is_retryable(answer.failure().code);
  if (happened && wanted.replaces) lookout_.forget({wanted.claim.name, *wanted.replaces});
  co_return answer;
}

/// Reads first where it may be that nothing is written: when a busy name is refused, and when another total of permits
/// is. Else one transaction joins the line and shows it.
Operation<ClaimAnswer> EtcdClaims::joining(const Wanted& wanted) {
  std::optional<std::int64_t> seen;  // the revision at which it looked as if it could join
  if (wanted.refuse || wanted.permits()) {
    Transaction read;
    read.then.emplace_back(whole(wanted.line));
    auto reply = co_await transacting(link_, std::move(read), wanted.deadline);
    if (!reply.ok()) co_return std::move(reply.failure());
    const Line line(reply.value().outcomes.at(0).found);
    if (auto answer = why_not(wanted, line)) {
      auto withdrawn = co_await withdrawing(wanted);
      if (!withdrawn.ok()) co_return std::move(withdrawn.failure());
      co_return *std::move(answer);
    }
    seen = reply.value().revision;
  }
  bool lost_a_lease = false;
  for (int attempt = 1;; ++attempt) {
    auto lease = co_await leases_.get(wanted.lease, wanted.kind, wanted.deadline);
    if (!lease.ok()) co_return std::move(lease.failure());
    const LeasePtr under = lease.value();
    const Instant armed = under->armed;
    const bool guarded = wanted.refuse && attempt <= polite_attempts;
    Transaction transaction = join(wanted, *under, guarded ? seen : std::nullopt);
    auto reply = co_await transacting(link_, std::move(transaction), wanted.deadline);
    if (!reply.ok()) {
      const Errc code = reply.failure().code;
      if (code == Errc::lost && !std::exchange(lost_a_lease, true)) {
        leases_.is_gone(under->id);
        continue;
      }
      if (code == Errc::in_doubt) stray_keys_.doubt(wanted.claim, under->id);
      if (code == Errc::lost) co_return Failure{Errc::unreachable, "the lease was revoked at once"};
      co_return std::move(reply.failure());
    }
    const Line line(reply.value().outcomes.back().found);
    const auto place = line.find(wanted.key);
    if (!place) {  // somebody came in between, and it was not to join then
      if (auto answer = why_not(wanted, line)) co_return *std::move(answer);
      seen = reply.value().revision;
      continue;
    }
    stray_keys_.is_certain(wanted.claim, wanted.key);
    if (!reply.value().succeeded) {  // it has been there before
      auto again = co_await renewing_one(wanted.claim, wanted.lease, wanted.deadline);
      co_return again;
    }
    const bool another_total = wanted.permits() && *place > 0 && line.total(*place) != wanted.mode.limit;
    if (another_total || (wanted.refuse && !line.is_granted(*place))) {
      auto withdrawn = co_await releasing_now(wanted.claim, wanted.deadline);
      if (!withdrawn.ok()) co_return std::move(withdrawn.failure());
      if (another_total) co_return different_total(wanted, line.total(*place));
      co_return ClaimAnswer{};
    }
    co_return lookout_.found(wanted.claim, line, *place, wanted.permits(), armed);
  }
}

/// Why it does not even try to join that line.
std::optional<Result<ClaimAnswer>> EtcdClaims::why_not(const Wanted& wanted, const Line& found) const {
  Line line = found;
  for (const std::string& key : wanted.replaced_keys) line.remove(key);
  if (line.find(wanted.key)) return std::nullopt;  // it is there already
  if (wanted.permits() && !line.empty() && line.total() != wanted.mode.limit) {
    return different_total(wanted, line.total());
  }
  if (!wanted.refuse) return std::nullopt;
  line.append({.key = wanted.key, .record = wanted.record});
  if (line.is_granted(line.size() - 1)) return std::nullopt;
  return ClaimAnswer{};
}

Failure EtcdClaims::different_total(const Wanted& wanted, std::uint32_t total) {
  return spi::different_total({.name = wanted.claim.name, .id = wanted.claim.id, .mode = wanted.mode}, total);
}

/// `unless_newer`: only if nobody has joined since that revision.
Transaction EtcdClaims::join(const Wanted& wanted, const Lease& lease, std::optional<std::int64_t> unless_newer) const {
  Record record = wanted.record;
  record.lease = lease.length;
  Transaction transaction;
  transaction.when.push_back({.key = wanted.key, .number = 0});
  if (unless_newer) {
    transaction.when.push_back({.key = wanted.line,
                                .range_end = Keys::end_of(wanted.line),
                                .is = Compare::Is::less,
                                .number = *unless_newer + 1});
  }
  for (const std::string& key : wanted.replaced_keys) {
    transaction.then.emplace_back(Delete{key});
    transaction.otherwise.emplace_back(Delete{key});
  }
  transaction.then.emplace_back(Put{.key = wanted.key, .value = record.text(), .lease = lease.id});
  transaction.then.emplace_back(whole(wanted.line));
  transaction.otherwise.emplace_back(whole(wanted.line));
  return transaction;
}

/// What it replaces goes also if it is refused.
Operation<Nothing> EtcdClaims::withdrawing(const Wanted& wanted) {
  if (!wanted.replaces) co_return Nothing{};
  Transaction transaction;
  for (const std::string& key : wanted.replaced_keys) transaction.then.emplace_back(Delete{key});
  auto reply = co_await transacting(link_, std::move(transaction), wanted.deadline);
  if (!reply.ok()) co_return std::move(reply.failure());
  co_return Nothing{};
}

// --- release --------------------------------------------------------------------------------------------------------

void EtcdClaims::release(const ClaimRef& claim, Done<bool> done) {
  releasing({claim.name, claim.id}, patience_for(claim.lease)).start(std::move(done));
}

Operation<bool> EtcdClaims::releasing(ClaimKey claim, spi::Duration patience) {
  const Instant began = loop_.now();
  const Turns::Ticket turn = turns_.join(claim.name.text());
  co_await turn;
  auto released = co_await releasing_now(claim, link_.deadline_after(began, patience));
  co_return released;
}

/// Its key has its id, which nobody else has. It stands in one of the lines, or in none.
Operation<bool> EtcdClaims::releasing_now(const ClaimKey& claim, Instant deadline) {
  const std::vector<std::string> keys = {keys_.claim(claim.name.text(), false, claim.id),
                                         keys_.claim(claim.name.text(), true, claim.id)};
  Transaction transaction;
  for (const std::string& key : keys) transaction.then.emplace_back(Delete{key});
  auto reply = co_await transacting(link_, std::move(transaction), deadline);
  if (!reply.ok()) co_return std::move(reply.failure());
  lookout_.forget(claim);
  if (const std::int64_t lease = stray_keys_.released(claim, keys)) leases_.retire(lease);
  std::int64_t deleted = 0;
  for (const Outcome& outcome : reply.value().outcomes) deleted += outcome.count;
  co_return deleted > 0;
}

}  // namespace holdfast::etcd
