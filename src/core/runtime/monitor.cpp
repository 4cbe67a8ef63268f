#include "core/runtime/monitor.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "base/set_timer.hpp"
#include "base/signals_blocked.hpp"
#include "holdfast/error.hpp"

namespace holdfast::core {

using base::Instant;

namespace {

base::FileDescriptor checked(int descriptor) {
  if (descriptor < 0) {
    throw Error(Errc::exhausted, "a client needs 4 descriptors: " + std::generic_category().message(errno) +
                                     "; raise the limit on open files (ulimit -n)");
  }
  return base::FileDescriptor(descriptor);
}

void drain(int event_descriptor) {
  eventfd_t count = 0;
  ::eventfd_read(event_descriptor, &count);
}

}  // namespace

Monitor::Monitor(Workers& workers)
    : workers_(workers),
      epoll_(checked(::epoll_create1(EPOLL_CLOEXEC))),
      timer_(checked(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK))),
      posted_(std::make_shared<PostedTasks>(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
                                            checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)))) {
  watch(posted_->wake_reader.get(), {.readable = true}, [this](Ready) {
    // Only for whoever has the role. If the background thread took it away, the reader would sleep on.
    if (!role_taken_ || !posted_->reader_asleep) drain(posted_->wake_reader.get());
  });
  const base::SignalsBlocked signals_blocked;
  try {
    background_ = std::thread([this] { background(); });
  } catch (const std::system_error& failure) {
    throw Error(Errc::exhausted, std::string("a client needs a thread: ") + failure.code().message());
  }
}

Monitor::~Monitor() = default;

void Monitor::stop() {
  {
    const Section section(*this);
    stopping_ = true;
  }
  ::eventfd_write(posted_->wake_background.get(), 1);
  if (background_.joinable()) background_.join();
}

// --- entering, leaving, waiting -------------------------------------------------------------------------------------

void Monitor::enter() {
  if (background_waits_.load(std::memory_order_relaxed)) const std::scoped_lock after_it(queue_mutex_);
  mutex_.lock();
  now_ = Instant::min();
}

void Monitor::enter_before_others() {
  const std::scoped_lock next(queue_mutex_);
  background_waits_ = true;
  mutex_.lock();
  background_waits_ = false;
  now_ = Instant::min();
}

/// Runs what was put off, hands on the role, and only then wakes others: they find the mutex free.
void Monitor::leave() {
  run_deferred();
  pass_the_role();
  const bool call_background = !background_called_ && !background_reads_ && background_should_read();
  if (call_background) background_called_ = true;

  constexpr std::size_t few = 8;
  std::array<std::pair<Parker*, WakeReason>, few> first_wakes;
  std::vector<std::pair<Parker*, WakeReason>> more_wakes;
  const std::size_t count = wakes_.size();
  if (count <= few) {
    std::copy(wakes_.begin(), wakes_.end(), first_wakes.begin());
    wakes_.clear();
  } else {
    more_wakes.swap(wakes_);
  }
  mutex_.unlock();

  if (call_background) ::eventfd_write(posted_->wake_background.get(), 1);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [parker, reason] = count <= few ? first_wakes[i] : more_wakes[i];
    parker->wake(reason);
  }
}

void Monitor::wait(Waiter& waiter) {
  for (;;) {
    run_deferred();
    if (waiter.done_) return leave();
    if (user_expectations_ > 0 && !role_taken_) {
      read_for(waiter);
      continue;
    }
    waiter.state_ = Waiter::State::parked;
    waiter.parker_ = &Parker::mine();
    parked_.push_back(waiter);
    leave();
    // Completed while parked: the answer is there, and the monitor is not needed any more.
    if ((Parker::mine().wait() & take_the_role) == 0) return;
    enter();
    role_offered_ = false;
    waiter.state_ = Waiter::State::running;
  }
}

/// Takes the role until `waiter` is done or nobody waits for the store any more.
void Monitor::read_for(Waiter& waiter) {
  role_taken_ = true;
  waiter.state_ = Waiter::State::reading;
  while (!waiter.done_ && user_expectations_ > 0) {
    posted_->reader_asleep = true;
    if (posted_->filled()) {  // whoever filled it may have looked before we were asleep
      posted_->reader_asleep = false;
      run_deferred();
      continue;
    }
    leave();
    std::array<epoll_event, 16> events;  // NOLINT(cppcoreguidelines-pro-type-member-init): about to be written
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    enter();
    posted_->reader_asleep = false;
    dispatch(events.data(), count);
    run_deferred();
  }
  waiter.state_ = Waiter::State::running;
  role_taken_ = false;
}

void Monitor::complete(Waiter& waiter) {
  waiter.done_ = true;
  switch (waiter.state_) {
    case Waiter::State::running:
    case Waiter::State::summoned: return;  // it is awake or on its way, and will see
    case Waiter::State::parked:
      parked_.remove(waiter);
      wakes_.emplace_back(waiter.parker_, WakeReason::completed);
      return;
    case Waiter::State::reading:
      if (posted_->reader_asleep) ::eventfd_write(posted_->wake_reader.get(), 1);
      return;
  }
}

void Monitor::pass_the_role() {
  if (user_expectations_ == 0 || role_taken_ || role_offered_ || parked_.empty()) return;
  Waiter& next = parked_.front();
  parked_.remove(next);
  next.state_ = Waiter::State::summoned;
  role_offered_ = true;
  wakes_.emplace_back(next.parker_, WakeReason::take_the_role);
}

bool Monitor::background_should_read() const {
  const bool nobody_else = !role_taken_ && !role_offered_;
  return upkeep_expectations_ > 0 || (user_expectations_ > 0 && nobody_else);
}

void Monitor::expect(bool by_user, int change) { (by_user ? user_expectations_ : upkeep_expectations_) += change; }

// --- tasks ----------------------------------------------------------------------------------------------------------

/// Runs everything that was put off, and what that puts off. Not nested: whoever runs it already goes on with it.
void Monitor::run_deferred() noexcept {
  if (running_deferred_) return;
  running_deferred_ = true;
  for (;;) {
    if (posted_->filled()) posted_->move_to(deferred_);
    if (deferred_done_ == deferred_.size()) break;
    base::Task task = std::move(deferred_[deferred_done_++]);
    task();
  }
  deferred_.clear();
  deferred_done_ = 0;
  running_deferred_ = false;
}

void Monitor::run_blocking(base::Task work, base::Task done) {
  workers_.run([posted = posted_, work = std::move(work), done = std::move(done)]() mutable {
    work();
    posted->post(std::move(done));
  });
}

// --- timers ---------------------------------------------------------------------------------------------------------

void Monitor::arm(spi::Timer& timer) {
  timers_.push(timer);
  if (timer.due() < timer_set_for_) set_timer_descriptor(timer.due());
}

void Monitor::set_timer_descriptor(Instant due) {
  timer_set_for_ = due;
  base::set_timer(timer_.get(), due);
}

/// True if more are due than could be run without keeping everybody else out for long.
bool Monitor::run_due_timers() noexcept {
  constexpr int most_at_once = 512;
  const Instant now = this->now();
  for (int i = 0; timers_.next() <= now; ++i) {
    if (i == most_at_once) return true;
    spi::Timer& timer = timers_.top();
    timers_.erase(timer);
    timer.fire();
  }
  return false;
}

/// Timers are late rather than early, and what the store has said by then is heard first.
void Monitor::background() {
  enter_before_others();
  while (!stopping_) {
    read_ready();
    const bool more_timers_are_due = run_due_timers();
    run_deferred();
    if (timers_.next() != timer_set_for_) set_timer_descriptor(timers_.next());
    background_called_ = false;
    background_reads_ = background_should_read();
    const bool reads = background_reads_;
    leave();
    // Whoever waits for the mutex needs a moment to wake up and take it.
    if (more_timers_are_due) std::this_thread::sleep_for(std::chrono::microseconds(50));

    std::array<pollfd, 3> descriptors{{{posted_->wake_background.get(), POLLIN, 0},
                                       {timer_.get(), POLLIN, 0},
                                       {reads ? epoll_.get() : -1, POLLIN, 0}}};
    ::poll(descriptors.data(), descriptors.size(), -1);
    if (descriptors[0].revents != 0) drain(posted_->wake_background.get());

    enter_before_others();
    background_reads_ = false;
  }
  leave();
}

// --- descriptors ----------------------------------------------------------------------------------------------------

void Monitor::watch(int descriptor, Ready wanted, ReadyHandler handler) {
  const auto generation = ++next_generation_;
  const bool known =
      !watches_.insert_or_assign(descriptor, std::make_shared<Watch>(Watch{generation, std::move(handler)})).second;
  epoll_event event{};
  event.events = (wanted.readable ? static_cast<unsigned>(EPOLLIN) : 0U) |
                 (wanted.writable ? static_cast<unsigned>(EPOLLOUT) : 0U);
  event.data.u64 = std::uint64_t{generation} << 32U | static_cast<std::uint32_t>(descriptor);
  if (::epoll_ctl(epoll_.get(), known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor, &event) != 0) {
    const std::string why = std::generic_category().message(errno);
    watches_.erase(descriptor);
    throw Error(Errc::exhausted, "a descriptor cannot be watched: " + why);
  }
}

void Monitor::unwatch(int descriptor) {
  if (watches_.erase(descriptor) > 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
}

void Monitor::read_ready() {
  std::array<epoll_event, 16> events;  // NOLINT(cppcoreguidelines-pro-type-member-init): about to be written
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  dispatch(events.data(), count);
}

void Monitor::dispatch(const epoll_event* events, int count) noexcept {
  for (int i = 0; i < count; ++i) {
    const auto descriptor = static_cast<int>(events[i].data.u64 & 0xFFFFFFFFU);
    const auto found = watches_.find(descriptor);
    // Another thread may have unwatched it, and the number may be another file's by now.
    if (found == watches_.end() || found->second->generation != events[i].data.u64 >> 32U) continue;
    const std::shared_ptr<Watch> watch = found->second;  // the handler may unwatch itself
    const bool broken = (events[i].events & static_cast<unsigned>(EPOLLERR | EPOLLHUP)) != 0;
    watch->handler({.readable = broken || (events[i].events & static_cast<unsigned>(EPOLLIN)) != 0,
                    .writable = broken || (events[i].events & static_cast<unsigned>(EPOLLOUT)) != 0});
  }
}

}  // namespace holdfast::core
