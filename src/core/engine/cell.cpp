#include "core/engine/cell.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/engine.hpp"
#include "spi/part_name.hpp"

namespace holdfast::core {

using base::Instant;
using spi::Failure;
using Phase = Claim::Phase;

namespace {

std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

/// `5 s`, or `250 ms`.
std::string in_words(base::Duration duration) {
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  return milliseconds % 1000 == 0 ? std::to_string(milliseconds / 1000) + " s" : std::to_string(milliseconds) + " ms";
}

}  // namespace

Cell::Cell(Engine& engine, const LockName& name, LockKind its_kind)
    : kind(its_kind), serial(next_serial()), engine_(engine), name_(std::make_shared<const LockName>(name)) {}

Cell::~Cell() {
  while (!groups_.empty()) dispose_of(groups_.front());
}

std::string Cell::called() const { return "lock '" + spi::PartName::shown(*name_) + "'"; }

// --- the line -------------------------------------------------------------------------------------------------------

void Cell::enter(Request& request) {
  catch_up();
  request.entered_at = engine_.loop().now();
  if (engine_.closing()) {
    return answer(request, Failure{Errc::closed, called() + ": the client is closed"});
  }
  if (auto failure = why_impossible(request)) return answer(request, *std::move(failure));
  if (request.is_try() && in_the_way_of(request)) return answer(request, Failure{Errc::busy});
  line_.push_back(request);
  if (request.exclusive()) ++exclusive_waiting_;
  if (request.is_try()) ++tries_waiting_;
  set_request_timer(request);
  pump();
}

std::optional<Failure> Cell::why_impossible(const Request& request) const {
  const StoreTraits& traits = engine_.traits();
  const char* what = nullptr;
  if (request.shared() && !traits.shared) what = "shared locks";
  if (request.mode.kind == ClaimMode::permits && !traits.permits) what = "semaphores";
  if (request.options.lease == LeaseKind::fixed && !traits.fixed_leases) what = "fixed leases";
  if (request.options.lock_delay > spi::milliseconds::zero() && !traits.lock_delay) what = "a lock_delay";
  if (what != nullptr) {
    return Failure{Errc::unsupported, called() + ": " + traits.store + " does not support " + what};
  }
  return std::nullopt;
}

/// Whether a request that will not wait can be refused without asking the store.
bool Cell::in_the_way_of(const Request& request) const {
  if (request.shared()) {
    const bool in_line = sought_ != nullptr && sought_->claim.phase() == Phase::waiting;
    return exclusive_waiting_ > 0 || in_line || exclusive_group() != nullptr;
  }
  if (!line_.empty()) return true;
  const bool lock_is_held = request.exclusive() && holds() > 0;
  return lock_is_held;
}

void Cell::cancel(Request& request, Failure why) {
  if (!request.listed()) return;
  answer(request, std::move(why));
  pump();
  forget_if_idle();
}

/// Admits whoever can be admitted locally, then makes sure that a claim for the first in line is outstanding.
void Cell::pump() {
  while (!line_.empty()) {
    HoldGroup* const shared = shared_group_for(line_.front());
    if (shared == nullptr) break;
    ++shared->turns;
    ++engine_.counters().local_turns;
    admit_front(*shared);
  }
  if (line_.empty()) return unseek();
  if (exclusive_group() != nullptr) return;  // when it ends, it serves the line
  if (sought_ != nullptr && sought_->suits(line_.front())) return;
  seek(sought_ != nullptr ? *sought_ : vacant_group());
}

/// Asks the store for what the first in line wants, in place of what `group` has had so far.
void Cell::seek(HoldGroup& group, Claim::Told told) {
  const Request& first = line_.front();
  sought_ = &group;
  group.claim.ask(first.terms(), first.when_busy, first.options.reason, std::move(told));
}

/// Nobody waits any more.
void Cell::unseek() {
  if (sought_ == nullptr) return;
  vacant_ = std::exchange(sought_, nullptr);
  if (vacant_->claim.sought()) vacant_->claim.leave();
}

void Cell::answer(Request& request, Request::Answer answer) {
  if (request.listed()) {
    line_.remove(request);
    if (request.exclusive()) --exclusive_waiting_;
    if (request.is_try()) --tries_waiting_;
  }
  request.timer.reset();
  auto done = std::move(request.done);
  done(std::move(answer));
}

void Cell::answer_all(const Failure& why) {
  while (!line_.empty()) answer(line_.front(), why);
}

/// Those who will not wait, wherever they stand.
void Cell::answer_tries(const Failure& why, Tries which) {
  if (tries_waiting_ == 0) return;
  Request* next = nullptr;
  for (Request* request = line_.first(); request != nullptr; request = next) {
    next = line_.next(*request);
    if (!request->is_try()) continue;
    Failure told = why;
    if (spi::is_retryable(why.code)) {
      request->in_doubt = request->in_doubt || why.code == Errc::in_doubt;
      if (request->in_doubt) told.code = Errc::in_doubt;
    }
    const bool stays =
        which == Tries::those_that_outlast_no_failure && engine_.loop().now() < request->outlasts_failures_until;
    if (!stays) answer(*request, std::move(told));
  }
}

void Cell::set_request_timer(Request& request) {
  Instant due = request.deadline;
  if (!engine_.contacted()) {
    due = std::min(due, base::saturating_add(request.entered_at, engine_.options().connect_timeout));
  }
  if (due == Instant::max()) return;
  request.timer.emplace(engine_.loop(), [this, &request] { request_timer_due(request); });
  request.timer->set(due);
}

void Cell::request_timer_due(Request& request) {
  const Instant now = engine_.loop().now();
  if (now >= request.deadline) return cancel(request, why_not_in_time(request));
  if (!engine_.contacted()) {
    return cancel(request, Failure{why_no_answer(), called() + ": the store did not answer within " +
                                                        in_words(engine_.options().connect_timeout) + "; " +
                                                        last_failure().detail});
  }
  if (request.deadline != Instant::max()) request.timer->set(request.deadline);
}

const Failure& Cell::last_failure() const {
  static const Failure none_yet{Errc::in_doubt, "a request was sent but not answered"};
  return last_failure_ ? *last_failure_ : none_yet;
}

/// A store that was never heard cannot be said to have been asked.
Errc Cell::why_no_answer() const {
  const Errc code = last_failure().code;
  return code == Errc::in_doubt && !engine_.contacted() ? Errc::unreachable : code;
}

Failure Cell::why_not_in_time(const Request& request) const {
  const bool in_line = sought_ != nullptr && sought_->claim.phase() == Phase::waiting;
  bool store_knows = in_line || holds() > 0;
  for (const HoldGroup* group = groups_.first(); group != nullptr && !store_knows; group = groups_.next(*group)) {
    store_knows = group->claim.last_answer_at() >= request.entered_at;
  }
  if (store_knows) return Failure{Errc::timed_out};
  return {why_no_answer(), called() + ": the store did not answer in time; " + last_failure().detail};
}

// --- the end --------------------------------------------------------------------------------------------------------

void Cell::close() {
  answer_all(Failure{Errc::closed, called() + ": the client is closed"});
  unseek();
  for (HoldGroup* group = groups_.first(); group != nullptr; group = groups_.next(*group)) {
    lose_all(*group, "the client is closed");
    if (group->claim.phase() == Phase::none) {
      group->claim.hurry();
      continue;
    }
    if (group->stays_closed) {
      group->claim.let_expire();
    } else {
      group->claim.leave();
    }
  }
  closing_ = true;
  forget_if_idle();
}

void Cell::abandon() {
  std::vector<HoldGroup*> all;
  for (HoldGroup* group = groups_.first(); group != nullptr; group = groups_.next(*group)) all.push_back(group);
  keep();
  for (HoldGroup* group : all) group->claim.abandon();
  let_go();
}

void Cell::let_go() {
  --keepers_;
  forget_if_idle();
}

bool Cell::idle() const {
  if (!line_.empty()) return false;
  for (const HoldGroup* group = groups_.first(); group != nullptr; group = groups_.next(*group)) {
    if (!group->holds.empty() || !group->claim.idle()) return false;
  }
  return true;
}

std::size_t Cell::holds() const {
  std::size_t count = 0;
  for (const HoldGroup* group = groups_.first(); group != nullptr; group = groups_.next(*group)) {
    count += group->holds.size();
  }
  return count;
}

std::size_t Cell::holds_at_risk() const {
  std::size_t count = 0;
  for (const HoldGroup* group = groups_.first(); group != nullptr; group = groups_.next(*group)) {
    if (group->claim.at_risk()) count += group->holds.size();
  }
  return count;
}

HoldGroup* Cell::exclusive_group() const {
  if (kind == LockKind::semaphore) return nullptr;
  for (HoldGroup* group = groups_.first(); group != nullptr; group = groups_.next(*group)) {
    if (group->held_as(ClaimMode::exclusive)) return group;
  }
  return nullptr;
}

/// One whose claim is none, so that the next claim replaces what is left over of it.
HoldGroup& Cell::vacant_group() {
  if (vacant_ != nullptr && vacant_->claim.phase() == Phase::none) return *vacant_;
  for (HoldGroup* group = groups_.first(); group != nullptr; group = groups_.next(*group)) {
    if (group->claim.phase() == Phase::none) return *group;
    if (kind == LockKind::semaphore) break;  // there may be many
  }
  auto* const made = new HoldGroup(engine_, *this);
  groups_.push_back(*made);
  return *made;
}

HoldGroup* Cell::find(spi::ClaimId id) const {
  if (sought_ != nullptr && sought_->claim.id() == id) return sought_;
  for (HoldGroup* group = groups_.first(); group != nullptr; group = groups_.next(*group)) {
    if (group->claim.id() == id) return group;
  }
  return nullptr;
}

void Cell::dispose_of(HoldGroup& group) {
  if (vacant_ == &group) vacant_ = nullptr;
  groups_.remove(group);
  delete &group;
}

/// Must be the last thing a function does: afterwards the cell may be gone.
void Cell::forget_if_idle() {
  if (!idle()) return;
  Engine& engine = engine_;
  const bool was_closing = std::exchange(closing_, false);
  if (keepers_ == 0) engine.forget(*this);
  if (was_closing) engine.cell_closed();
}

}  // namespace holdfast::core
