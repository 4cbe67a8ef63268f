#include "backends/etcd/claims.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "backends/etcd/claims_steps.hpp"
#include "kit/answer_soon.hpp"
#include "kit/rules.hpp"

// Joining a line and leaving it. (claims_renewal.cpp has the rest.)

namespace holdfast::etcd {

using base::Instant;
using spi::ClaimAnswer;
using spi::ClaimRef;
using spi::ClaimRequest;
using spi::Done;
using spi::Failure;
using spi::milliseconds;
using spi::Nothing;
using spi::Operation;
using spi::Result;

namespace {

/// The shortest lease that etcd grants.
constexpr milliseconds shortest_lease = std::chrono::seconds(1);

/// After so many attempts in which somebody else was faster, the claim joins without a condition.
constexpr int polite_attempts = 3;

/// The end of a line may contain the claim itself, or the one that it replaces, behind the claim to wait for.
constexpr std::int64_t end_of_line = 2;

}  // namespace

base::Duration EtcdClaims::patience_for(milliseconds lease) {
  const bool only_asks = lease == milliseconds::zero();
  return spi::patience(only_asks ? lease : std::max(lease, shortest_lease));
}

Failure EtcdClaims::Wanted::different_total(std::uint32_t total) const {
  return kit::different_total({.name = claim.name, .id = claim.id, .mode = mode}, total);
}

// --- acquire --------------------------------------------------------------------------------------------------------

EtcdClaims::Wanted::Wanted(const ClaimRequest& request, const Keys& keys)
    : claim{request.name, request.kind(), request.id},
      mode(request.mode),
      lease(request.lease),
      lease_kind(request.lease_kind),
      refuse(request.when_busy == spi::WhenBusy::refuse),
      record(Record::of(request, request.lease)),
      line(keys.line(request.name.text(), request.kind())) {
  if (request.replaces && *request.replaces != request.id) replaces = request.replaces;
}

void EtcdClaims::Wanted::choose_keys(const Keys& keys, spi::ClaimId slot) {
  const std::string& name = claim.name.text();
  key = keys.claim(name, mode.kind, slot);
  possible_keys = keys.claims(name, claim.kind, slot);
  if (permits()) joined_mark = keys.joined_mark(name);
}

void EtcdClaims::acquire(const ClaimRequest& request, Done<ClaimAnswer> done) {
  std::optional<Failure> failure = kit::why_invalid(request);
  if (!failure && request.lock_delay > milliseconds::zero()) {
    failure = Failure{Errc::unsupported, "etcd does not support lock_delay, because its leases end without a trace"};
  }
  if (failure) return kit::answer_soon(loop_, std::move(done), *std::move(failure));
  acquiring(Wanted(request, keys_)).start(std::move(done));
}

Operation<ClaimAnswer> EtcdClaims::acquiring(Wanted wanted) {
  const Instant began = loop_.now();
  const kit::RequestOrder::Place queued =
      wanted.replaces ? order_.enter_to_replace(wanted.line, *wanted.replaces) : order_.enter(wanted.line);
  co_await queued;
  wanted.deadline = calls_.deadline_after(began, patience_for(wanted.lease));
  wanted.choose_keys(keys_, slots_.of(wanted.claim));
  const ClaimKey replaced = {wanted.claim.name, wanted.claim.kind, wanted.replaces.value_or(spi::ClaimId())};
  if (wanted.replaces) {
    auto keys = co_await finding_keys(replaced, wanted.deadline);
    if (!keys.ok()) co_return std::move(keys.failure());
    wanted.replaced_keys = std::move(keys.value());
    replacements_.try_emplace(replaced);
  }
  auto answer = co_await joining(wanted);
  const bool happened = answer.ok() || !spi::is_retryable(answer.failure().code);
  const bool in_doubt = !answer.ok() && answer.failure().code == Errc::in_doubt;
  if (in_doubt) slots_.doubt(wanted.claim);
  const bool is_there = answer.ok() && answer.value().standing != ClaimAnswer::Standing::absent;
  if (happened && !is_there) has_ended(wanted.claim);
  if (wanted.replaces) {
    auto node = replacements_.extract(replaced);
    if (in_doubt) slots_.doubt(replaced);
    if (happened || node.mapped().released) has_ended(replaced);
    if (node.mapped().done) node.mapped().done(node.mapped().was_there);
  }
  co_return answer;
}

/// In most cases one transaction joins the line and reads what must be known about it. A read comes first where perhaps
/// nothing is to be written, because a busy name or a different total of permits is refused. Then the claim joins on the
/// condition that nobody else has joined meanwhile. If others were faster several times, it joins without that
/// condition, and leaves again if it must.
Operation<ClaimAnswer> EtcdClaims::joining(const Wanted& wanted) {
  bool lost_a_lease = false;
  for (int attempt = 1;; ++attempt) {
    const auto cached = attempt == 1 ? cached_for(wanted) : std::nullopt;
    std::vector<Compare> unless;
    if (cached) {
      unless.push_back(
          {.key = wanted.joined_mark, .what = Compare::What::mod_revision, .number = cached->mark_revision});
    } else if (wanted.refuse || wanted.permits()) {
      auto refused = co_await peeking(wanted, unless);
      if (!refused.ok()) co_return std::move(refused.failure());
      if (refused.value()) co_return *std::move(refused.value());
      if (attempt > polite_attempts) unless.clear();
    }
    auto lease = co_await leases_.get(wanted.lease, wanted.lease_kind, wanted.deadline);
    if (!lease.ok()) co_return std::move(lease.failure());
    const LeasePtr under = lease.value();
    const Instant armed = under->armed;
    Record record = wanted.record;
    record.lease = under->length;
    Transaction transaction = join(wanted, record, under->id, std::move(unless));
    if (!cached) add_line_view(wanted, transaction.then);
    auto reply = co_await transacting(calls_, std::move(transaction), wanted.deadline);
    if (!reply.ok()) {
      const Errc code = reply.failure().code;
      if (code == Errc::lost && !std::exchange(lost_a_lease, true)) {
        leases_.is_gone(under->id);
        continue;
      }
      if (code == Errc::in_doubt) stray_keys_.doubt(wanted.claim, under->id);
      if (code == Errc::lost)
        co_return Failure{Errc::unreachable, "the lease was revoked before the lock could be acquired; try again"};
      co_return std::move(reply.failure());
    }
    const std::span<const Outcome> outcomes = reply.value().outcomes;
    note_replaced(wanted, outcomes);
    if (!reply.value().succeeded) {
      // Either the claim exists already, or somebody else has joined meanwhile.
      const auto there = std::ranges::find_if(outcomes, [](const Outcome& each) { return !each.found.empty(); });
      if (there == outcomes.end()) continue;
      stray_keys_.is_wanted(wanted.key);
      auto again = co_await renewing_one(wanted.claim, wanted.lease, wanted.deadline);
      co_return again;
    }
    stray_keys_.is_wanted(wanted.key);
    const std::int64_t revision = reply.value().revision;
    const Line::Claim claim = {wanted.key, revision, revision, under->id, std::move(record)};
    Result<ClaimAnswer> answer = ClaimAnswer{};
    if (cached) {
      answer = tracker_.found(wanted.claim, {.claim = claim, .granted = true, .revision = revision}, ClaimMode::permits,
                              armed);
      tracker_.semaphores().learn(wanted.claim.name, revision, cached->total, cached->claimed + wanted.mode.permits);
    } else {
      const std::size_t first = wanted.replaced_keys.size() + (wanted.permits() ? 2 : 1);
      answer = co_await joined(wanted, claim, line_view_in(wanted, outcomes.subspan(first)), armed);
    }
    const bool stays = answer.ok() && answer.value().standing != ClaimAnswer::Standing::absent;
    if (!stays || !leases_.is_outlived(*under)) co_return answer;
    auto moved = co_await renewing_one(wanted.claim, wanted.lease, wanted.deadline);
    co_return moved;
  }
}

/// What is known about the semaphore, if that is enough to know that the claim will be granted.
std::optional<SemaphoreCache::Semaphore> EtcdClaims::cached_for(const Wanted& wanted) {
  if (!wanted.permits()) return std::nullopt;
  const SemaphoreCache::Semaphore* const cached = tracker_.semaphores().find(wanted.claim.name);
  if (cached == nullptr || !cached->fits(wanted.mode.permits, wanted.mode.limit)) return std::nullopt;
  return *cached;
}

/// Returns an answer if the claim is refused without joining. Otherwise sets the condition on which it may join.
Operation<std::optional<ClaimAnswer>> EtcdClaims::peeking(const Wanted& wanted, std::vector<Compare>& unless) {
  Transaction read;
  for (const std::string& key : wanted.possible_keys) read.then.emplace_back(Range{.key = key, .keys_only = true});
  const std::size_t first = read.then.size();
  add_line_view(wanted, read.then);
  auto reply = co_await transacting(calls_, std::move(read), wanted.deadline);
  if (!reply.ok()) co_return std::move(reply.failure());
  const std::span<const Outcome> outcomes = reply.value().outcomes;
  for (const Outcome& own : outcomes.first(first)) {
    if (!own.found.empty()) co_return std::optional<ClaimAnswer>();  // the claim exists already
  }
  LineView view = line_view_in(wanted, outcomes.subspan(first));
  for (const std::string& key : wanted.replaced_keys) view.line.remove(key);
  const bool another_total = wanted.permits() && !view.line.empty() && view.line.total() != wanted.mode.limit;
  const std::uint32_t total = view.line.total();
  const bool busy =
      wanted.refuse && !standing_behind(std::move(view.line), {.key = wanted.key, .record = wanted.record}).granted;
  if (another_total || busy) {
    auto withdrawn = co_await withdrawing(wanted);
    if (!withdrawn.ok()) co_return std::move(withdrawn.failure());
    if (another_total) co_return wanted.different_total(total);
    co_return std::optional(ClaimAnswer{});
  }
  if (wanted.refuse) {
    unless.push_back({.key = wanted.line,
                      .range_end = Keys::end_of(wanted.line),
                      .is = Compare::Is::less,
                      .number = reply.value().revision + 1});
  }
  co_return std::optional<ClaimAnswer>();
}

void EtcdClaims::add_line_view(const Wanted& wanted, std::vector<KeyOperation>& operations) {
  if (wanted.permits()) {
    operations.emplace_back(whole_line(wanted.line));
    return;
  }
  Range count = whole_line(wanted.line);
  count.count_only = true;
  operations.emplace_back(std::move(count));
  operations.emplace_back(rivals(wanted.line, wanted.mode.kind, end_of_line));
}

EtcdClaims::LineView EtcdClaims::line_view_in(const Wanted& wanted, std::span<const Outcome> outcomes) {
  std::vector<KeyValue> found = outcomes.back().found;
  if (!wanted.permits()) std::ranges::reverse(found);  // the newest one comes first in the reply
  LineView view = {.line = Line(found), .size = static_cast<std::uint32_t>(outcomes.front().count)};
  view.line.remove(wanted.key);
  return view;
}

/// `unless`: further conditions.
Transaction EtcdClaims::join(const Wanted& wanted, const Record& record, std::int64_t lease,
                             std::vector<Compare> unless) {
  Transaction transaction;
  transaction.about = wanted.line;
  transaction.when = std::move(unless);
  for (const std::string& key : wanted.replaced_keys) {
    transaction.then.emplace_back(Delete{key});
    transaction.otherwise.emplace_back(Delete{key});
  }
  for (const std::string& key : wanted.possible_keys) {
    transaction.when.push_back({.key = key, .number = 0});
    transaction.otherwise.emplace_back(Range{.key = key, .keys_only = true});
  }
  transaction.then.emplace_back(Put{.key = wanted.key, .value = record.text(), .lease = lease});
  if (wanted.permits()) transaction.then.emplace_back(Put{.key = wanted.joined_mark, .value = {}, .lease = lease});
  return transaction;
}

Operation<ClaimAnswer> EtcdClaims::joined(const Wanted& wanted, Line::Claim claim, LineView before, Instant armed) {
  const std::uint32_t total = before.line.empty() ? wanted.mode.limit : before.line.total();
  const std::uint64_t claimed = before.line.claimed() + wanted.mode.permits;
  LineStanding standing = standing_behind(std::move(before.line), claim);
  standing.place = before.size - 1;
  standing.revision = claim.create_revision;
  const bool another_total = wanted.permits() && total != wanted.mode.limit;
  if (another_total || (wanted.refuse && !standing.granted)) {
    auto withdrawn = co_await deleting(wanted.claim, claim.key, claim.create_revision, {}, wanted.deadline);
    if (!withdrawn.ok()) co_return std::move(withdrawn.failure());
    if (another_total) co_return wanted.different_total(total);
    co_return ClaimAnswer{};
  }
  const ClaimAnswer answer = tracker_.found(wanted.claim, standing, wanted.mode.kind, armed);
  if (wanted.permits()) tracker_.semaphores().learn(wanted.claim.name, claim.create_revision, total, claimed);
  co_return answer;
}

/// The replaced claim is withdrawn even if the new one is refused.
Operation<Nothing> EtcdClaims::withdrawing(const Wanted& wanted) {
  if (!wanted.replaces) co_return Nothing{};
  Transaction transaction;
  for (const std::string& key : wanted.replaced_keys) transaction.then.emplace_back(Delete{key});
  auto reply = co_await transacting(calls_, std::move(transaction), wanted.deadline);
  if (!reply.ok()) co_return std::move(reply.failure());
  note_replaced(wanted, reply.value().outcomes);
  co_return Nothing{};
}

void EtcdClaims::note_replaced(const Wanted& wanted, std::span<const Outcome> outcomes) {
  if (!wanted.replaces) return;
  for (const Outcome& deleted : outcomes.first(wanted.replaced_keys.size())) {
    if (deleted.count > 0) replacements_.at({wanted.claim.name, wanted.claim.kind, *wanted.replaces}).was_there = true;
  }
}

// --- release --------------------------------------------------------------------------------------------------------

void EtcdClaims::release(const ClaimRef& claim, Done<bool> done) {
  releasing({claim.name, claim.kind, claim.id}, patience_for(claim.lease)).start(std::move(done));
}

Operation<bool> EtcdClaims::releasing(ClaimKey claim, base::Duration patience) {
  const Instant began = loop_.now();
  const kit::RequestOrder::Place queued = order_.enter_to_release(line_of(claim), claim.id);
  co_await queued;
  auto released = co_await releasing_now(claim, calls_.deadline_after(began, patience));
  if (!released.ok() || released.value()) co_return released;
  // An acquire that replaces the claim may have deleted it.
  const auto replacement = replacements_.find(claim);
  if (replacement == replacements_.end() || replacement->second.done) co_return false;
  auto was_there = co_await spi::answer_of<bool>([&](Done<bool> done) { replacement->second.done = std::move(done); });
  co_return was_there;
}

Operation<bool> EtcdClaims::releasing_now(const ClaimKey& claim, Instant deadline) {
  std::vector<Look> one;
  one.push_back({.claim = claim});
  auto learned = co_await learning(one, deadline);
  if (!learned.ok()) co_return std::move(learned.failure());
  bool was_there = false;
  if (const std::optional<StandingQuery>& query = one.front().query) {
    const SemaphoreCache::Semaphore* const cached = claim.permits() ? tracker_.semaphores().find(claim.name) : nullptr;
    const bool last_of_ours = cached != nullptr && cached->own == 1;
    std::string joined_mark = last_of_ours ? keys_.joined_mark(claim.name.text()) : std::string();
    tracker_.ignore(claim);
    auto deleted = co_await deleting(claim, query->key, query->create_revision, std::move(joined_mark), deadline);
    if (!deleted.ok()) co_return std::move(deleted.failure());
    was_there = deleted.value();
  }
  if (const KnownClaim* const known = tracker_.find(claim); known != nullptr && was_there) {
    if (claim.permits()) tracker_.semaphores().gave_back(claim.name, known->permits);
  }
  if (const auto replacement = replacements_.find(claim); replacement != replacements_.end()) {
    replacement->second.released = true;  // the acquire that replaces it may still delete its keys
    tracker_.forget(claim);
    leave_no_key(claim);
  } else {
    has_ended(claim);
  }
  co_return was_there;
}

void EtcdClaims::has_ended(const ClaimKey& claim) {
  tracker_.forget(claim);
  leave_no_key(claim);
  slots_.free(claim);
}

/// A request to join that timed out may be executed later.
void EtcdClaims::leave_no_key(const ClaimKey& claim) {
  if (const std::int64_t lease = stray_keys_.ended(claim, keys_of(claim))) leases_.retire(lease);
}

/// A request that is executed late must not delete a key that was created again after it was sent.
Operation<bool> EtcdClaims::deleting(const ClaimKey& claim, std::string key, std::int64_t create_revision,
                                     std::string joined_mark, Instant deadline) {
  const std::string line = line_of(claim);
  for (;;) {
    Transaction transaction;
    transaction.about = line;
    transaction.when.push_back({.key = key, .number = create_revision});
    transaction.then.emplace_back(Delete{key});
    if (!joined_mark.empty()) transaction.then.emplace_back(Delete{joined_mark});
    transaction.otherwise.emplace_back(Range{.key = key, .keys_only = true});
    auto reply = co_await transacting(calls_, std::move(transaction), deadline);
    if (!reply.ok()) co_return std::move(reply.failure());
    if (reply.value().succeeded) co_return true;
    const std::vector<KeyValue>& found = reply.value().outcomes.front().found;
    if (found.empty()) co_return false;
    create_revision = found.front().create_revision;
  }
}

std::vector<std::string> EtcdClaims::keys_of(const ClaimKey& claim) const {
  const auto slot = slots_.find(claim);
  return slot ? keys_.claims(claim.name.text(), claim.kind, *slot) : std::vector<std::string>();
}

Operation<std::vector<std::string>> EtcdClaims::finding_keys(const ClaimKey& claim, Instant deadline) {
  if (const KnownClaim* const known = tracker_.find(claim)) co_return std::vector{known->key};
  if (slots_.find(claim)) co_return keys_of(claim);
  Look look = {.claim = claim};
  auto sought = co_await seeking(look, deadline);
  if (!sought.ok()) co_return std::move(sought.failure());
  co_return look.query ? std::vector{look.query->key} : std::vector<std::string>();
}

}  // namespace holdfast::etcd
