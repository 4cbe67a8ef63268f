#include "core/cell.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "core/engine.hpp"
#include "spi/part_name.hpp"

namespace holdfast::core {

using spi::Duration;
using spi::Failure;
using spi::Instant;
using spi::WhenBusy;
using Phase = Claim::Phase;

namespace {

Claim::Terms terms_of(const Request& request) {
  return {.ttl = request.options.ttl,
          .lock_delay = request.options.lock_delay,
          .mode = request.mode,
          .kind = request.options.lease};
}

bool is_exclusive(const Request& request) { return request.mode.kind == ClaimMode::exclusive; }
bool is_shared(const Request& request) { return request.mode.kind == ClaimMode::shared; }
bool is_try(const Request& request) { return request.when_busy == WhenBusy::refuse; }

bool suits(const Tenure& tenure, const Request& request) { return tenure.claim.terms() == terms_of(request); }

bool is_held(const Tenure& tenure, ClaimMode mode) {
  return !tenure.holds.empty() && tenure.claim.terms().mode.kind == mode;
}

/// The name as the user gave it.
std::shared_ptr<const LockName> shown_name(const std::shared_ptr<const LockName>& name) {
  const auto [users, part] = spi::PartName::split(name->text());
  return part.empty() ? name : std::make_shared<const LockName>(users);
}

std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

Cell::Cell(Engine& engine, const LockName& name, LockKind its_kind)
    : kind(its_kind), serial(next_serial()), engine_(engine), name_(std::make_shared<const LockName>(name)) {}

Cell::~Cell() {
  while (!tenures_.empty()) dispose_of(tenures_.front());
}

// --- the line -------------------------------------------------------------------------------------------------------

void Cell::enter(Request& request) {
  catch_up();
  request.entered_at = engine_.loop().now();
  if (engine_.closing()) {
    return answer(request, Failure{Errc::closed, "lock '" + spi::PartName::shown(*name_) + "': the client is closed"});
  }
  if (auto failure = why_impossible(request)) return answer(request, *std::move(failure));
  if (is_try(request) && in_the_way_of(request)) return answer(request, Failure{Errc::busy});
  line_.push_back(request);
  if (is_exclusive(request)) ++exclusive_waiting_;
  if (is_try(request)) ++tries_waiting_;
  set_request_timer(request);
  pump();
}

std::optional<Failure> Cell::why_impossible(const Request& request) const {
  const StoreTraits& traits = engine_.traits();
  const char* what = nullptr;
  if (is_shared(request) && !traits.shared) what = "shared locks";
  if (request.mode.kind == ClaimMode::permits && !traits.permits) what = "semaphores";
  if (request.options.lease == LeaseKind::fixed && !traits.fixed_leases) what = "fixed leases";
  if (request.options.lock_delay > spi::milliseconds::zero() && !traits.lock_delay) what = "a lock_delay";
  if (what != nullptr) {
    return Failure{Errc::unsupported,
                   "lock '" + spi::PartName::shown(*name_) + "': " + traits.store + " has not got " + what};
  }
  if (request.options.ttl < traits.min_ttl) {
    return Failure{Errc::unsupported, "lock '" + spi::PartName::shown(*name_) + "': the shortest ttl that " +
                                          traits.store + " can give is " + std::to_string(traits.min_ttl.count()) +
                                          " ms"};
  }
  return std::nullopt;
}

/// Whether a request that will not wait can be refused without asking the store.
bool Cell::in_the_way_of(const Request& request) const {
  if (is_shared(request)) {
    const bool in_line = sought_ != nullptr && sought_->claim.phase() == Phase::waiting;
    return exclusive_waiting_ > 0 || in_line || exclusive_tenure() != nullptr;
  }
  if (!line_.empty()) return true;
  const bool lock_is_held = is_exclusive(request) && holds() > 0;
  return lock_is_held;
}

void Cell::cancel(Request& request, Failure why) {
  if (!request.listed()) return;
  answer(request, std::move(why));
  pump();
  forget_if_idle();
}

/// Lets in whom it can, and sees to it that the store is asked for what the first in line wants.
void Cell::pump() {
  while (!line_.empty()) {
    Tenure* const shared = shared_tenure_for(line_.front());
    if (shared == nullptr) break;
    ++shared->turns;
    ++engine_.counters().local_turns;
    admit_front(*shared);
  }
  if (line_.empty()) return unseek();
  if (exclusive_tenure() != nullptr) return;  // when it ends, it serves the line
  if (sought_ != nullptr && suits(*sought_, line_.front())) return;
  seek(sought_ != nullptr ? *sought_ : vacant_tenure());
}

/// Asks the store for what the first in line wants, in place of what `tenure` has had so far.
void Cell::seek(Tenure& tenure, Claim::Told told) {
  const Request& first = line_.front();
  sought_ = &tenure;
  tenure.claim.ask(terms_of(first), first.when_busy, first.options.reason, std::move(told));
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
    if (is_exclusive(request)) --exclusive_waiting_;
    if (is_try(request)) --tries_waiting_;
  }
  request.timer.reset();
  auto done = std::move(request.done);
  done(std::move(answer));
}

void Cell::answer_all(const Failure& why) {
  while (!line_.empty()) answer(line_.front(), why);
}

/// Those who will not wait, wherever they stand.
void Cell::answer_tries(const Failure& why) {
  if (tries_waiting_ == 0) return;
  Request* next = nullptr;
  for (Request* request = line_.first(); request != nullptr; request = next) {
    next = line_.next(*request);
    if (is_try(*request)) answer(*request, why);
  }
}

void Cell::set_request_timer(Request& request) {
  Instant due = request.deadline;
  if (!engine_.contacted()) {
    due = std::min(due, spi::saturating_add(request.entered_at, engine_.options().connect_timeout));
  }
  if (due == Instant::max()) return;
  request.timer.emplace(engine_.loop(), [this, &request] { request_timer_due(request); });
  request.timer->set(due);
}

void Cell::request_timer_due(Request& request) {
  const Instant now = engine_.loop().now();
  if (now >= request.deadline) return cancel(request, why_not_in_time(request));
  if (!engine_.contacted()) {
    return cancel(request, Failure{why_no_answer(), "lock '" + spi::PartName::shown(*name_) +
                                                        "': no contact with the store within " +
                                                        "the connect_timeout; " + last_failure().detail});
  }
  if (request.deadline != Instant::max()) request.timer->set(request.deadline);
}

const Failure& Cell::last_failure() const {
  static const Failure none_yet{Errc::in_doubt, "it was asked, and nothing was heard yet"};
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
  for (const Tenure* tenure = tenures_.first(); tenure != nullptr && !store_knows; tenure = tenures_.next(*tenure)) {
    store_knows = tenure->claim.last_answer_at() >= request.entered_at;
  }
  if (store_knows) return Failure{Errc::timed_out};
  return {why_no_answer(),
          "lock '" + spi::PartName::shown(*name_) + "': the store did not answer in time; " + last_failure().detail};
}

// --- holds ----------------------------------------------------------------------------------------------------------

/// The first in line holds on this claim. REQUIRES: it is granted.
void Cell::admit_front(Tenure& tenure) {
  Request& first = line_.front();
  const bool exclusive = is_exclusive(first);
  const std::uint64_t turn = exclusive ? tenure.turns : tenure.writers_turn;
  const bool has_turns = engine_.options().local_turns > 0;
  const Token token(has_turns ? tenure.claim.number() << 8U | turn : tenure.claim.number());
  auto hold = std::make_shared<HoldRecord>(tenure, shown_name(name_), token, first.mode);
  const Duration max_hold = detail::saturated(first.options.max_hold);
  const Instant end = spi::saturating_add(engine_.loop().now(), max_hold);
  if (max_hold > Duration::zero() && end != Instant::max()) {
    hold->end_at(end, engine_.loop(), [this, record = hold.get()] {
      Cell& cell = *this;  // the timer goes with the hold, and this function with the timer
      cell.max_hold_is_over(*record);
      cell.forget_if_idle();
    });
  }
  hold->extend_until(tenure.claim.valid_until());
  tenure.holds.add(hold);
  answer(first, std::move(hold));
}

void Cell::release(HoldRecord& hold, Claim::Told told) {
  catch_up(hold);
  if (hold.tenure() == nullptr) {
    if (told) told(Released::not_held);
    return forget_if_idle();
  }
  Tenure& tenure = *hold.tenure();
  const auto released = tenure.holds.remove(hold);
  released->end(HoldState::released, engine_.user());
  if (!tenure.holds.empty()) {
    if (told) told(Released::released);  // other readers go on
    return;
  }
  const bool ends_here = tenure.stays_closed;
  pass_on(tenure, std::move(told));
  if (ends_here) forget_if_idle();
}

/// REQUIRES: the claim is granted, and nobody holds on it any more.
void Cell::pass_on(Tenure& tenure, Claim::Told told) {
  if (tenure.stays_closed) {  // somebody who has lost it may still be at work
    tenure.claim.let_expire();
    if (told) told(Released::released);
    pump();
  } else if (may_hand_over(tenure)) {
    ++tenure.turns;
    ++engine_.counters().local_turns;
    admit_front(tenure);
    if (told) told(Released::released);
  } else if (line_.empty() || sought_ != nullptr) {
    vacant_ = &tenure;
    tenure.claim.leave(std::move(told));
  } else {
    seek(tenure, std::move(told));
  }
}

/// Whether a claim may still serve others here than those for whom it was granted.
bool Cell::within_bounds(const Tenure& tenure) const {
  const Claim& claim = tenure.claim;
  if (claim.phase() != Phase::granted || claim.at_risk() || claim.asked_for()) return false;
  if (claim.terms().kind == LeaseKind::fixed) return false;
  const EngineOptions& options = engine_.options();
  const Instant now = engine_.loop().now();
  const Duration bound = std::min(Duration(claim.terms().ttl) / options.max_local_share, options.max_local_time);
  return tenure.turns < options.local_turns && now - tenure.began < bound && now < claim.valid_until();
}

bool Cell::may_hand_over(const Tenure& tenure) const {
  if (line_.empty() || !suits(tenure, line_.front()) || !is_exclusive(line_.front())) return false;
  return within_bounds(tenure);
}

/// What is held already and can serve a reader, too.
Tenure* Cell::shared_tenure_for(const Request& request) const {
  if (!is_shared(request)) return nullptr;
  for (Tenure* tenure = tenures_.first(); tenure != nullptr; tenure = tenures_.next(*tenure)) {
    if (is_held(*tenure, ClaimMode::shared) && suits(*tenure, request) && within_bounds(*tenure)) return tenure;
  }
  return nullptr;
}

/// Readers whose claim has served its time go on with a newer one: both are held, so there is no gap.
void Cell::absorb_older_readers(Tenure& newer) {
  const Claim::Terms& terms = newer.claim.terms();
  if (terms.mode.kind != ClaimMode::shared || terms.kind == LeaseKind::fixed) return;
  for (Tenure* older = tenures_.first(); older != nullptr; older = tenures_.next(*older)) {
    const bool same = older != &newer && older->claim.phase() == Phase::granted && older->claim.terms() == terms;
    const Instant now = engine_.loop().now();
    if (!same || older->claim.valid_until() <= now) continue;
    // Whoever asked for the older one means its readers, and an extended lease must not become shorter.
    const bool extended = older->claim.valid_until() > spi::saturating_add(now, terms.ttl);
    if (older->claim.asked_for() || extended) continue;
    while (HoldRecord* const hold = older->holds.first()) {
      newer.holds.add(older->holds.remove(*hold));
      hold->move_to(newer);
    }
    older->stays_closed ? older->claim.let_expire() : older->claim.leave();
  }
  claim_changed(newer);
}

void Cell::extend(HoldRecord& hold, spi::milliseconds length, spi::Done<> done) {
  catch_up(hold);
  if (hold.tenure() != nullptr) return hold.tenure()->claim.extend(length, std::move(done));
  engine_.loop().defer([done = std::move(done), name = name_]() mutable {
    done(Failure{Errc::lost, "lock '" + spi::PartName::shown(*name) + "' was lost; it cannot be extended"});
  });
}

void Cell::downgrade(HoldRecord& hold, spi::Done<> done) {
  catch_up(hold);
  std::optional<Failure> refusal;
  if (hold.tenure() == nullptr) {
    refusal = Failure{Errc::lost, "lock '" + spi::PartName::shown(*name_) + "' was lost; it cannot be downgraded"};
  } else if (hold.mode() == ClaimMode::permits) {
    refusal = Failure{Errc::invalid_argument, "permits of '" + spi::PartName::shown(*name_) + "' cannot be shared"};
  } else if (!engine_.traits().shared) {
    refusal = Failure{Errc::unsupported, engine_.traits().store + " has not got shared locks"};
  }
  if (refusal || hold.mode() == ClaimMode::shared) {
    engine_.loop().defer([done = std::move(done), refusal = std::move(refusal)]() mutable {
      refusal ? done(*std::move(refusal)) : done(spi::Nothing{});
    });
    return;
  }
  hold.make_shared();
  hold.tenure()->writers_turn = hold.tenure()->turns;
  hold.tenure()->claim.downgrade(std::move(done));
  pump();
}

void Cell::lose(HoldRecord& hold, const std::string& why) {
  Tenure& tenure = *hold.tenure();
  const auto lost = tenure.holds.remove(hold);
  tenure.stays_closed = tenure.claim.terms().lock_delay > spi::milliseconds::zero();
  ++engine_.counters().lost;
  engine_.user().log(LogLevel::warning, "lock '" + spi::PartName::shown(*name_) + "' was lost: " + why);
  lost->end(HoldState::lost, engine_.user());
}

void Cell::lose_all(Tenure& tenure, const std::string& why) {
  while (HoldRecord* const hold = tenure.holds.first()) lose(*hold, why);
}

void Cell::max_hold_is_over(HoldRecord& hold) {
  Tenure& tenure = *hold.tenure();
  lose(hold, "it was held for as long as max_hold allows");
  if (tenure.holds.empty()) pass_on(tenure, {});
}

/// After a pause the timers may be late: whatever they are about to say is true already. (Permits stand in nobody's way
/// here, and there may be many.)
void Cell::catch_up() {
  if (kind == LockKind::semaphore) return;
  for (Tenure *tenure = tenures_.first(), *next = nullptr; tenure != nullptr; tenure = next) {
    next = tenures_.next(*tenure);
    if (HoldRecord* const hold = tenure->holds.first()) catch_up(*hold);
  }
}

void Cell::catch_up(HoldRecord& hold) {
  if (hold.tenure() == nullptr) return;
  const Instant now = engine_.loop().now();
  Tenure& tenure = *hold.tenure();
  if (now >= hold.ends_at()) {
    max_hold_is_over(hold);
  } else if (now >= tenure.claim.valid_until()) {
    tenure.claim.catch_up();
  } else if (hold.seen_lost()) {
    claim_changed(tenure);
  }
}

// --- what becomes of a claim ----------------------------------------------------------------------------------------

void Cell::claim_granted(Tenure& tenure) {
  if (sought_ == &tenure) sought_ = nullptr;
  tenure.turns = tenure.writers_turn = 0;
  tenure.stays_closed = false;
  tenure.began = engine_.loop().now();
  ++engine_.counters().grants;
  if (line_.empty()) return tenure.claim.leave();
  if (!suits(tenure, line_.front())) return seek(tenure);
  admit_front(tenure);
  if (tenure.claim.terms().mode.kind == ClaimMode::exclusive) return;
  // All readers that stood behind the first enter with it.
  const bool joined = tenure.claim.terms().mode.kind == ClaimMode::shared && engine_.options().local_turns > 0 &&
                      tenure.claim.terms().kind == LeaseKind::renewed;
  while (joined && tenure.claim.phase() == Phase::granted && !line_.empty() && suits(tenure, line_.front())) {
    ++engine_.counters().local_turns;
    admit_front(tenure);
  }
  absorb_older_readers(tenure);
  pump();
}

void Cell::claim_refused(Tenure& tenure) {
  if (sought_ == &tenure) sought_ = nullptr;
  answer_tries(Failure{Errc::busy});
  pump();
}

void Cell::claim_changed(Tenure& tenure) {
  if (tenure.claim.phase() == Phase::waiting) return answer_tries(Failure{Errc::busy});
  const bool had_holds = !tenure.holds.empty();
  HoldRecord* next = nullptr;
  for (HoldRecord* hold = tenure.holds.first(); hold != nullptr; hold = next) {
    next = tenure.holds.next(*hold);
    if (hold->seen_lost()) {
      lose(*hold, "its lease ended before it could be renewed");
      continue;
    }
    hold->extend_until(tenure.claim.valid_until());
    hold->set_at_risk(tenure.claim.at_risk(), engine_.user());
  }
  if (had_holds && tenure.holds.empty()) pass_on(tenure, {});
}

void Cell::claim_lost(Tenure& tenure, const std::string& why) {
  lose_all(tenure, why);
  pump();
}

void Cell::claim_asked_for(Tenure& tenure, const ReleaseRequest& request) {
  for (HoldRecord* hold = tenure.holds.first(); hold != nullptr; hold = tenure.holds.next(*hold)) {
    hold->asked_for(request, engine_.user());
  }
}

void Cell::claim_failed(Tenure& tenure, const Failure& failure) {
  last_failure_ = std::make_unique<const Failure>(failure);
  if (!spi::is_retryable(failure.code)) {
    const Claim::Terms terms = tenure.claim.terms();
    if (sought_ == &tenure) sought_ = nullptr;
    Request* next = nullptr;
    for (Request* request = line_.first(); request != nullptr; request = next) {
      next = line_.next(*request);
      if (terms_of(*request) == terms) answer(*request, failure);
    }
    return pump();
  }
  if (!engine_.contacted()) return;
  answer_tries(failure);
  pump();
}

/// Must be the last thing a function does, as with forget_if_idle().
void Cell::claim_idle(Tenure& tenure) {
  if (tenures_.size() > 1 && tenure.holds.empty() && &tenure != sought_) dispose_of(tenure);
  forget_if_idle();
}

void Cell::granted(spi::ClaimId id, const spi::ClaimAnswer& answer) {
  if (Tenure* const tenure = find(id)) tenure->claim.pushed(id, answer);
}

void Cell::check(spi::ClaimId id) {
  if (Tenure* const tenure = find(id)) tenure->claim.check(id);
}

// --- the end --------------------------------------------------------------------------------------------------------

void Cell::close() {
  answer_all(Failure{Errc::closed, "lock '" + spi::PartName::shown(*name_) + "': the client is closed"});
  unseek();
  for (Tenure* tenure = tenures_.first(); tenure != nullptr; tenure = tenures_.next(*tenure)) {
    lose_all(*tenure, "the client is closed");
    if (tenure->claim.phase() == Phase::none) continue;
    tenure->stays_closed ? tenure->claim.let_expire() : tenure->claim.leave();
  }
  closing_ = true;
  forget_if_idle();
}

void Cell::abandon() {
  std::vector<Tenure*> all;
  for (Tenure* tenure = tenures_.first(); tenure != nullptr; tenure = tenures_.next(*tenure)) all.push_back(tenure);
  keep();
  for (Tenure* tenure : all) tenure->claim.abandon();
  let_go();
}

void Cell::let_go() {
  --keepers_;
  forget_if_idle();
}

bool Cell::idle() const {
  if (!line_.empty()) return false;
  for (const Tenure* tenure = tenures_.first(); tenure != nullptr; tenure = tenures_.next(*tenure)) {
    if (!tenure->holds.empty() || !tenure->claim.idle()) return false;
  }
  return true;
}

std::size_t Cell::holds() const {
  std::size_t count = 0;
  for (const Tenure* tenure = tenures_.first(); tenure != nullptr; tenure = tenures_.next(*tenure)) {
    count += tenure->holds.size();
  }
  return count;
}

std::size_t Cell::holds_at_risk() const {
  std::size_t count = 0;
  for (const Tenure* tenure = tenures_.first(); tenure != nullptr; tenure = tenures_.next(*tenure)) {
    if (tenure->claim.at_risk()) count += tenure->holds.size();
  }
  return count;
}

Tenure* Cell::exclusive_tenure() const {
  if (kind == LockKind::semaphore) return nullptr;
  for (Tenure* tenure = tenures_.first(); tenure != nullptr; tenure = tenures_.next(*tenure)) {
    if (is_held(*tenure, ClaimMode::exclusive)) return tenure;
  }
  return nullptr;
}

/// One whose claim is none, so that the next claim replaces what is left over of it.
Tenure& Cell::vacant_tenure() {
  if (vacant_ != nullptr && vacant_->claim.phase() == Phase::none) return *vacant_;
  for (Tenure* tenure = tenures_.first(); tenure != nullptr; tenure = tenures_.next(*tenure)) {
    if (tenure->claim.phase() == Phase::none) return *tenure;
    if (kind == LockKind::semaphore) break;  // there may be many
  }
  auto* const made = new Tenure(engine_, *this);
  tenures_.push_back(*made);
  return *made;
}

Tenure* Cell::find(spi::ClaimId id) const {
  if (sought_ != nullptr && sought_->claim.id() == id) return sought_;
  for (Tenure* tenure = tenures_.first(); tenure != nullptr; tenure = tenures_.next(*tenure)) {
    if (tenure->claim.id() == id) return tenure;
  }
  return nullptr;
}

void Cell::dispose_of(Tenure& tenure) {
  if (vacant_ == &tenure) vacant_ = nullptr;
  tenures_.remove(tenure);
  delete &tenure;
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
