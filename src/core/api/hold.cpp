#include "holdfast/hold.hpp"

#include <algorithm>
#include <utility>

#include "core/runtime/client_core.hpp"

namespace holdfast {
namespace {

void check_extension(std::chrono::nanoseconds duration) {
  constexpr std::chrono::nanoseconds longest = LockOptions::max_ttl;
  if (duration > std::chrono::nanoseconds::zero() && duration <= longest) return;
  throw Error(Errc::invalid_argument, "the extension of a lease must be more than zero and at most 30 days");
}

}  // namespace

Hold& Hold::operator=(Hold&& other) noexcept {
  if (this == &other) return *this;
  const Hold previous(std::move(*this));
  core_ = std::move(other.core_);
  record_ = std::move(other.record_);
  return *this;
}

Hold::~Hold() {
  if (record_) core_->release_without_waiting(*record_);
}

core::HoldRecord& Hold::record() const {
  if (!record_) throw Error(Errc::not_held, "this Hold is empty: it never held a lock, or was moved from");
  return *record_;
}

const LockName& Hold::name() const { return *record().name; }

Token Hold::token() const { return record().token; }

ClaimMode Hold::mode() const { return record().mode(); }

std::uint32_t Hold::permits() const { return record().permits; }

std::chrono::milliseconds Hold::lease() const { return record().lease; }

HoldState Hold::state() const {
  core::HoldRecord& mine = record();
  if (core_->forked()) return HoldState::lost;
  return mine.state_at(base::BootClock::now());
}

bool Hold::valid() const noexcept {
  if (!record_ || core_->forked()) return false;
  const HoldState state = record_->state_at(base::BootClock::now());
  return state == HoldState::held || state == HoldState::at_risk;
}

std::chrono::nanoseconds Hold::remaining() const {
  const base::Instant until = record().valid_until();
  if (!valid()) return std::chrono::nanoseconds::zero();
  return std::max(until - base::BootClock::now(), std::chrono::nanoseconds::zero());
}

std::stop_token Hold::stop_token() const {
  core::HoldRecord& mine = record();
  return core_->inside([&] { return mine.stop_token(); });
}

void Hold::on_change(Callback callback) {
  core::HoldRecord& mine = record();
  core_->inside([&] { mine.on_change(std::move(callback), *core_); });
}

void Hold::on_release_request(MoveOnlyFunction<void(const ReleaseRequest&)> callback) {
  core::HoldRecord& mine = record();
  core_->inside([&] { mine.on_release_request(std::move(callback), *core_); });
}

int Hold::lost_fd() const {
  core::HoldRecord& mine = record();
  const int descriptor = core_->inside([&] { return mine.lost_fd(); });
  if (descriptor < 0)
    throw Error(Errc::exhausted, "lost_fd(): the process has no descriptors left; raise its limit on open files");
  return descriptor;
}

Released Hold::release() {
  core::HoldRecord& mine = record();
  return core_->release(mine);
}

void Hold::async_release(AsyncCallback<Released> callback) {
  static_cast<void>(record());
  core_->async_release(record_, std::move(callback));
}

void Hold::extend_by(std::chrono::nanoseconds duration) {
  check_extension(duration);
  static_cast<void>(record());
  core_->extend(record_, duration);
}

void Hold::async_extend_by(std::chrono::nanoseconds duration, AsyncCallback<> callback) {
  check_extension(duration);
  static_cast<void>(record());
  core_->async_extend(record_, duration, std::move(callback));
}

void Hold::downgrade() {
  static_cast<void>(record());
  core_->downgrade(record_);
}

void Hold::async_downgrade(AsyncCallback<> callback) {
  static_cast<void>(record());
  core_->async_downgrade(record_, std::move(callback));
}

}  // namespace holdfast
