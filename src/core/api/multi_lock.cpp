#include "holdfast/multi_lock.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/random.hpp"
#include "core/api/multi_hold_state.hpp"
#include "core/operations/multi_lock_steps.hpp"
#include "holdfast/mutex.hpp"

namespace holdfast {

using std::chrono::nanoseconds;

namespace core {

namespace {

/// How long the locks of a further client are waited for while others are held. The wait grows up to the longest each
/// time that the client's store has not answered at all.
constexpr nanoseconds first_short_wait = std::chrono::milliseconds(20);
constexpr nanoseconds longest_short_wait = std::chrono::seconds(1);
constexpr auto longest_pause = std::chrono::milliseconds(50);

}  // namespace

class MultiLockState : public std::enable_shared_from_this<MultiLockState> {
 public:
  MultiLockState(const std::vector<MultiLock::Part>& parts, const LockOptions& options) {
    if (parts.empty()) throw Error(Errc::invalid_argument, "a MultiLock needs at least one name");
    for (const MultiLock::Part& part : parts) {
      const std::size_t index = mutexes_.size();
      mutexes_.push_back(std::make_unique<Mutex>(part.client, part.name, options));
      add_to_group(*ClientCore::of(part.client), index);
    }
    for (Group& group : groups_) {
      const auto name_of = [this](std::size_t index) -> const LockName& { return mutexes_[index]->name(); };
      std::ranges::sort(group.members, {}, name_of);
      const auto twice = std::ranges::adjacent_find(group.members, {}, name_of);
      if (twice != group.members.end()) {
        throw Error(Errc::invalid_argument, "a MultiLock contains '" + name_of(*twice).text() + "' twice");
      }
    }
  }

  std::optional<MultiHold> try_acquire(nanoseconds wait, std::stop_token stop) {
    std::optional<spi::Result<MultiHold>> result;
    take_all(shared_from_this(), wait, std::move(stop), Waiting::blocks).start([&](spi::Result<MultiHold> taken) {
      result.emplace(std::move(taken));
    });
    if (result->ok()) return std::move(result->value());
    const auto& [code, detail] = result->failure();
    if (code == Errc::busy || code == Errc::timed_out) return std::nullopt;
    throw Error(code, detail);
  }

  void async_acquire(AsyncCallback<MultiHold> callback, std::stop_token stop) {
    for (const Group& group : groups_) group.core->check_open();
    take_all(shared_from_this(), nanoseconds::max(), std::move(stop), Waiting::calls_back)
        .start(
            [heard = heard_by(std::move(callback))](spi::Result<MultiHold> taken) mutable { heard(std::move(taken)); });
  }

  void report_unlock_by_stranger() const noexcept {
    ClientCore& core = *groups_.front().core;
    if (core.forked()) return;
    core.report(Errc::not_held, "unlock() of a MultiLock with '" + mutexes_.front()->name().text() +
                                    "' by a thread that does not hold it; nothing was changed");
  }

 private:
  /// The locks of one client, in the order of their names.
  struct Group {
    ClientCore* core;
    std::vector<std::size_t> members;
  };

  void add_to_group(ClientCore& core, std::size_t index) {
    const auto found = std::ranges::find(groups_, &core, &Group::core);
    if (found != groups_.end()) return found->members.push_back(index);
    groups_.push_back({&core, {index}});
  }

  static Operation<MultiHold> take_all(std::shared_ptr<MultiLockState> self, nanoseconds wait, std::stop_token stop,
                                       Waiting waiting) {
    const Deadline deadline(wait);
    const bool tries_once = wait <= nanoseconds::zero();
    base::Random random(base::Random::fresh_seed());
    std::size_t first = 0;
    nanoseconds short_wait = first_short_wait;
    nanoseconds pause = std::chrono::milliseconds(1);
    for (;;) {
      std::vector<Hold> holds(self->mutexes_.size());
      std::vector<std::size_t> taken;
      std::optional<std::size_t> busy;
      for (std::size_t i = 0; i < self->groups_.size() && !busy; ++i) {
        const std::size_t at = (first + i) % self->groups_.size();
        for (const std::size_t member : self->groups_[at].members) {
          const nanoseconds left = deadline.left();
          const nanoseconds patience = i == 0 ? left : std::min(left, short_wait);
          spi::Result<Hold> hold = co_await Take(*self->mutexes_[member], patience, stop, waiting);
          if (hold.ok()) {
            holds[member] = std::move(hold.value());
            taken.push_back(member);
            continue;
          }
          busy = at;
          const Errc code = hold.failure().code;
          const bool was_busy = code == Errc::busy || code == Errc::timed_out;
          // The wait was too short to call a store unreachable that is slow or not connected yet. It is asked first in
          // the next round, with all the time that is left.
          const bool was_slow = patience < left && spi::is_retryable(code);
          if (was_slow) short_wait = std::min(short_wait * 2, longest_short_wait);
          if (!(was_busy || was_slow) || tries_once || deadline.left() == nanoseconds::zero()) {
            let_go(holds, taken);
            co_return std::move(hold.failure());
          }
          break;
        }
      }
      const bool all_valid = std::ranges::all_of(holds, [](const Hold& hold) { return hold.valid(); });
      if (!busy && all_valid) {
        const auto held = std::make_shared<MultiHoldState>(std::move(holds), std::move(taken));
        held->tie();
        co_return MultiHold(held);
      }
      let_go(holds, taken);
      if (busy) first = *busy;
      const auto length = pause / 2 + nanoseconds(random.next() % static_cast<std::uint64_t>(pause.count()));
      pause = std::min<nanoseconds>(pause * 2, longest_pause);
      ClientCore& core = *self->groups_[first].core;
      spi::Result<> paused = co_await Pause(core, std::min(length, deadline.left()), stop, waiting);
      if (!paused.ok()) co_return std::move(paused.failure());
    }
  }

  static void let_go(std::vector<Hold>& holds, const std::vector<std::size_t>& taken) {
    for (const std::size_t at : std::views::reverse(taken)) holds[at] = Hold();
  }

  std::vector<std::unique_ptr<Mutex>> mutexes_;  ///< in the order given
  std::vector<Group> groups_;
};

}  // namespace core

namespace {

std::vector<MultiLock::Part> parts_of(Client& client, const std::vector<LockName>& names) {
  std::vector<MultiLock::Part> parts;
  parts.reserve(names.size());
  for (const LockName& name : names) parts.push_back({client, name});
  return parts;
}

/// What this thread has locked through lock(), by MultiLock.
std::vector<std::pair<const void*, MultiHold>>& held_by_this_thread() {
  thread_local std::vector<std::pair<const void*, MultiHold>> held;
  return held;
}

auto entry_of_this_thread(const void* lock) {
  return std::ranges::find(held_by_this_thread(), lock, &std::pair<const void*, MultiHold>::first);
}

}  // namespace

MultiLock::MultiLock(Client& client, const std::vector<LockName>& names, LockOptions options)
    : MultiLock(parts_of(client, names), std::move(options)) {}

// NOLINTNEXTLINE(performance-unnecessary-value-param): as the contract has it
MultiLock::MultiLock(const std::vector<Part>& parts, LockOptions options)
    : state_(std::make_shared<core::MultiLockState>(parts, options)) {}

MultiLock::~MultiLock() = default;

void MultiLock::lock(std::stop_token stop) {
  if (entry_of_this_thread(state_.get()) != held_by_this_thread().end()) {
    throw std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur),
                            "this thread already holds this MultiLock");
  }
  held_by_this_thread().emplace_back(state_.get(), acquire(std::move(stop)));
}

bool MultiLock::try_lock() { return try_lock_within(nanoseconds::zero(), {}); }

bool MultiLock::try_lock_within(nanoseconds wait, std::stop_token stop) {
  if (entry_of_this_thread(state_.get()) != held_by_this_thread().end()) return false;
  auto hold = state_->try_acquire(std::max(wait, nanoseconds::zero()), std::move(stop));
  if (!hold) return false;
  held_by_this_thread().emplace_back(state_.get(), *std::move(hold));
  return true;
}

void MultiLock::unlock() noexcept {
  const auto entry = entry_of_this_thread(state_.get());
  if (entry == held_by_this_thread().end()) return state_->report_unlock_by_stranger();
  held_by_this_thread().erase(entry);
}

const MultiHold& MultiLock::hold() const {
  const auto entry = entry_of_this_thread(state_.get());
  if (entry == held_by_this_thread().end()) throw Error(Errc::not_held, "this thread does not hold this MultiLock");
  return entry->second;
}

MultiHold MultiLock::acquire(std::stop_token stop) { return *state_->try_acquire(nanoseconds::max(), std::move(stop)); }

std::optional<MultiHold> MultiLock::try_acquire() { return state_->try_acquire(nanoseconds::zero(), {}); }

std::optional<MultiHold> MultiLock::try_acquire_within(nanoseconds wait, std::stop_token stop) {
  if (wait < nanoseconds::zero()) {
    throw Error(Errc::invalid_argument, "the time to wait for several locks must not be negative; zero tries once");
  }
  return state_->try_acquire(wait, std::move(stop));
}

void MultiLock::async_acquire(AsyncCallback<MultiHold> callback, std::stop_token stop) {
  state_->async_acquire(std::move(callback), std::move(stop));
}

std::optional<Hold> try_lock_any(Client& client, const std::vector<LockName>& names, const LockOptions& options) {
  for (const LockName& name : names) {
    if (auto hold = Mutex(client, name, options).try_acquire()) return hold;
  }
  return std::nullopt;
}

}  // namespace holdfast
