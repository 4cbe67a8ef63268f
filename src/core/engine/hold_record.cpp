#include "core/engine/hold_record.hpp"

#include <sys/eventfd.h>

#include <mutex>
#include <optional>
#include <utility>

#include "base/file_descriptor.hpp"
#include "core/engine/hold_group.hpp"

namespace holdfast::core {

namespace {

bool is_live(HoldState state) { return state == HoldState::held || state == HoldState::at_risk; }

/// Calls a user's callback with one piece of news at a time and never with an older one after a newer one, although
/// several threads may want to. Not under the monitor, and so with a mutex of its own.
template <class News>
class Listener {
 public:
  explicit Listener(base::Callback<void(News)> callback) : callback_(std::move(callback)) {}

  void call(std::uint64_t sequence, News news) {
    const std::scoped_lock lock(mutex_);
    if (sequence <= last_) return;
    last_ = sequence;
    callback_(news);
  }

 private:
  std::mutex mutex_;
  std::uint64_t last_ = 0;
  base::Callback<void(News)> callback_;
};

template <class News>
std::shared_ptr<Listener<News>> listener_for(base::Callback<void(News)> callback) {
  return callback ? std::make_shared<Listener<News>>(std::move(callback)) : nullptr;
}

}  // namespace

struct HoldRecord::Signals {
  std::stop_source stop;
  std::shared_ptr<Listener<HoldState>> listener;
  std::shared_ptr<Listener<const ReleaseRequest&>> request_listener;
  std::optional<ReleaseRequest> request;  ///< heard, perhaps before anybody listened
  std::uint64_t told = 0;
  base::FileDescriptor lost_fd;
  std::unique_ptr<spi::Timer> end;  ///< of max_hold
};

HoldRecord::HoldRecord(HoldGroup& group, std::shared_ptr<const LockName> its_name, Token its_token,
                       const spi::Mode& its_mode)
    : name(std::move(its_name)),
      token(its_token),
      permits(its_mode.permits),
      lease(group.claim.lease_length()),
      mode_(its_mode.kind),
      group_(&group) {}

HoldRecord::~HoldRecord() = default;

Cell* HoldRecord::cell() const { return group_ != nullptr ? &group_->cell() : nullptr; }

void HoldRecord::end_at(base::Instant instant, spi::Loop& loop, spi::Timer::OnDue on_due) {
  signals().end = std::make_unique<spi::Timer>(loop, std::move(on_due));
  signals_->end->set(instant);
}

base::Instant HoldRecord::ends_at() const {
  return signals_ && signals_->end ? signals_->end->due() : base::Instant::max();
}

HoldState HoldRecord::state_at(base::Instant now) {
  HoldState state = state_.load(std::memory_order_acquire);
  while (is_live(state) && now >= valid_until()) {
    if (state_.compare_exchange_weak(state, HoldState::lost, std::memory_order_acq_rel)) return HoldState::lost;
  }
  return state;
}

void HoldRecord::set_at_risk(bool at_risk, UserSide& user) {
  const HoldState state = at_risk ? HoldState::at_risk : HoldState::held;
  HoldState before = at_risk ? HoldState::held : HoldState::at_risk;
  const bool changed = group_ != nullptr && state_.compare_exchange_strong(before, state, std::memory_order_acq_rel);
  if (changed) tell(state, user);
}

void HoldRecord::end(HoldState last, UserSide& user) {
  if (group_ == nullptr) return;
  group_ = nullptr;
  if (signals_) signals_->end.reset();
  state_.store(last, std::memory_order_release);
  if (last == HoldState::lost) tell(last, user);
}

std::stop_token HoldRecord::stop_token() { return signals().stop.get_token(); }

void HoldRecord::on_change(base::Callback<void(HoldState)> callback, UserSide& user) {
  signals().listener = listener_for(std::move(callback));
  if (state_.load(std::memory_order_relaxed) == HoldState::lost) tell(HoldState::lost, user);
}

void HoldRecord::on_release_request(base::Callback<void(const ReleaseRequest&)> callback, UserSide& user) {
  signals().request_listener = listener_for(std::move(callback));
  if (signals_->request) asked_for(*std::exchange(signals_->request, std::nullopt), user);
}

void HoldRecord::asked_for(const ReleaseRequest& request, UserSide& user) {
  Signals& mine = signals();
  mine.request = request;
  if (!mine.request_listener) return;
  user.run([listener = mine.request_listener, sequence = ++mine.told, request] { listener->call(sequence, request); });
}

int HoldRecord::lost_fd() {
  Signals& made = signals();
  if (!made.lost_fd) {
    const bool lost = state_.load(std::memory_order_relaxed) == HoldState::lost;
    made.lost_fd = base::FileDescriptor(::eventfd(lost ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK));
  }
  return made.lost_fd.get();
}

HoldRecord::Signals& HoldRecord::signals() {
  if (!signals_) {
    signals_ = std::make_unique<Signals>();
    if (state_.load(std::memory_order_relaxed) == HoldState::lost) signals_->stop.request_stop();
  }
  return *signals_;
}

/// Stop-callbacks are the user's code: they must not run under the monitor, nor may they hold up other holds'.
void HoldRecord::tell(HoldState state, UserSide& user) {
  if (!signals_) return;
  const bool lost = state == HoldState::lost;
  if (lost && signals_->lost_fd) ::eventfd_write(signals_->lost_fd.get(), 1);
  if (lost) user.run([stop = signals_->stop]() mutable { stop.request_stop(); });
  if (!signals_->listener) return;
  user.run([listener = signals_->listener, sequence = ++signals_->told, state] { listener->call(sequence, state); });
}

}  // namespace holdfast::core
