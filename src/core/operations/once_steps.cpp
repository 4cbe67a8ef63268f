#include "core/operations/once_steps.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/operations/fields.hpp"
#include "core/operations/parts.hpp"
#include "core/operations/store_requests.hpp"
#include "spi/part_name.hpp"

namespace holdfast::core {

using spi::Failure;
using spi::Nothing;
using std::chrono::milliseconds;

namespace {

constexpr auto pause_after_failure = milliseconds(50);

/// What the register remembers.
struct Memory {
  WallTime last_start = {};    ///< of any run that was written down
  WallTime closed_until = {};  ///< at_least
  Token writer = {};           ///< of the newest run that wrote
  std::optional<LastRun> success = {};
  std::uint64_t version = 0;
};

LockName register_of(const LockName& name) { return spi::PartName::of(name, once_part); }

std::string to_field(WallTime time) {
  return std::to_string(std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count());
}

std::optional<WallTime> to_time(const std::string& field) {
  const auto count = to_number<std::int64_t>(field);
  if (!count) return std::nullopt;
  return WallTime(std::chrono::duration_cast<WallTime::duration>(milliseconds(*count)));
}

std::string to_text(const Memory& memory) {
  std::vector<std::string> fields = {to_field(memory.last_start), to_field(memory.closed_until),
                                     to_string(memory.writer)};
  if (memory.success) {
    const LastRun& run = *memory.success;
    fields.insert(fields.end(), {to_field(run.started), to_field(run.ended), std::to_string(run.result),
                                 to_string(run.token), run.host});
  }
  return to_record(fields);
}

spi::Result<Memory> parsed(const spi::Versioned& stored) {
  Memory memory{.version = stored.version};
  if (stored.version == 0) return memory;
  const Failure corrupt{Errc::store_failed, "what the store has under this name is not the record of a run"};
  const auto fields = from_record(stored.value);
  if (!fields || (fields->size() != 3 && fields->size() != 8)) return corrupt;
  const auto last_start = to_time((*fields)[0]);
  const auto closed_until = to_time((*fields)[1]);
  const auto writer = to_number<std::uint64_t>((*fields)[2]);
  if (!last_start || !closed_until || !writer) return corrupt;
  memory.last_start = *last_start;
  memory.closed_until = *closed_until;
  memory.writer = Token(*writer);
  if (fields->size() == 3) return memory;
  const auto started = to_time((*fields)[3]);
  const auto ended = to_time((*fields)[4]);
  const auto result = to_number<std::int32_t>((*fields)[5]);
  const auto token = to_number<std::uint64_t>((*fields)[6]);
  if (!started || !ended || !result || !token) return corrupt;
  memory.success = LastRun{*started, *ended, *result, Token(*token), (*fields)[7]};
  return memory;
}

Operation<Memory> remembered(Caller& caller, LockName name, Persistence persistence) {
  spi::Result<spi::Versioned> stored = co_await read(caller, register_of(name), persistence);
  if (!stored.ok()) co_return std::move(stored.failure());
  co_return parsed(stored.value());
}

/// The time of day: the store's if it has a clock, so that hosts need not agree on it.
Operation<WallTime> time_of_day(Caller& caller, Persistence persistence) {
  if (!caller.engine().traits().has_clock) co_return std::chrono::system_clock::now();
  auto start = [&](spi::Done<WallTime> done) { caller.engine().backend().administration().now(std::move(done)); };
  auto now = co_await ask<WallTime>(caller, persistence, Effect::none, start);
  co_return now;
}

bool may_begin(const Memory& known, WallTime now, milliseconds period) {
  const bool done = known.success && now < known.success->started + period - slack_of(period);
  return !done && now >= known.closed_until;
}

/// Changes what is remembered, in the name of whoever holds the lock; Errc::lost if it is not held any more, or a later
/// holder has written. Writing the same again is harmless, so doubt is resolved by trying again.
template <class Change>
Operation<Nothing> rewrite(Caller& caller, LockName name, std::shared_ptr<HoldRecord> lock, Change change) {
  const Failure lost{Errc::lost, "the lock was lost before this could be recorded"};
  bool in_doubt = false;
  for (;;) {
    if (lock->group() == nullptr) co_return in_doubt ? Failure{Errc::in_doubt, "the lock was lost meanwhile"} : lost;
    if (caller.interrupted()) co_return *caller.interrupted();
    spi::Result<Memory> memory = co_await remembered(caller, name, Persistence::until_contact);
    std::optional<Failure> failure;
    if (memory.ok()) {
      if (memory.value().writer > lock->token) co_return lost;
      const std::string before = to_text(memory.value());
      change(memory.value());
      memory.value().writer = lock->token;
      std::string text = to_text(memory.value());
      if (memory.value().version > 0 && text == before) co_return Nothing{};
      spi::Result<spi::Registers::WriteAnswer> answer =
          co_await write_if(caller, register_of(name), memory.value().version, std::move(text));
      if (answer.ok() && answer.value().written) co_return Nothing{};
      if (answer.ok()) continue;
      in_doubt = in_doubt || answer.failure().code == Errc::in_doubt;
      failure = std::move(answer.failure());
    } else {
      failure = std::move(memory.failure());
    }
    if (!spi::is_retryable(failure->code)) co_return *std::move(failure);
    co_await caller.nap_for(pause_after_failure);
  }
}

/// Decides and writes in one step of the store's. Written in any case: what an earlier run, which has lost the lock
/// since, may have under way then fails; and if it came first, it is decided anew.
Operation<std::optional<BegunRun>> begin_with_lock(Caller& caller, std::shared_ptr<HoldRecord> lock,
                                                   milliseconds period, milliseconds at_least) {
  const LockName name = *lock->name;
  for (;;) {
    spi::Result<Memory> memory = co_await remembered(caller, name, Persistence::for_ever);
    if (!memory.ok()) co_return std::move(memory.failure());
    Memory& known = memory.value();
    if (lock->group() == nullptr || known.writer > lock->token) {
      co_return Failure{Errc::lost, "the lock was lost before the run could begin"};
    }
    if (known.writer == lock->token) {  // it was in doubt, and was written
      co_return std::optional<BegunRun>({lock, known.last_start});
    }
    spi::Result<WallTime> now = co_await time_of_day(caller, Persistence::for_ever);
    if (!now.ok()) co_return std::move(now.failure());
    if (!may_begin(known, now.value(), period)) co_return std::optional<BegunRun>();

    const WallTime started = std::max(now.value(), known.last_start);
    known.last_start = started;
    if (at_least > milliseconds::zero()) known.closed_until = started + at_least;
    known.writer = lock->token;
    spi::Result<spi::Registers::WriteAnswer> answer =
        co_await write_if(caller, register_of(name), known.version, to_text(known));
    if (answer.ok() && answer.value().written) co_return std::optional<BegunRun>({lock, started});
    if (!answer.ok() && !spi::is_retryable(answer.failure().code)) co_return std::move(answer.failure());
    if (auto why = caller.why_end()) co_return *std::move(why);
    if (!answer.ok()) co_await caller.nap_for(pause_after_failure);
  }
}

}  // namespace

Operation<std::optional<BegunRun>> begin_run(Caller& caller, Cell& cell, milliseconds period, milliseconds at_least,
                                             LockOptions options, spi::WhenBusy when_busy) {
  if (auto why = why_no_registers(caller)) co_return *std::move(why);
  Request::Answer lock = co_await caller.acquire(cell, options, {}, when_busy);
  if (!lock.ok()) co_return std::move(lock.failure());
  const std::shared_ptr<HoldRecord> held = lock.value();
  spi::Result<std::optional<BegunRun>> begun = co_await begin_with_lock(caller, held, period, at_least);
  const bool runs = begun.ok() && begun.value().has_value();
  if (!runs && held->cell() != nullptr) held->cell()->release(*held);
  co_return begun;
}

Operation<Nothing> remember_success(Caller& caller, LockName name, BegunRun run, std::int32_t result) {
  spi::Result<WallTime> now = co_await time_of_day(caller, Persistence::until_contact);
  const WallTime ended = std::max(now.ok() ? now.value() : std::chrono::system_clock::now(), run.started);
  const LastRun success{run.started, ended, result, run.lock->token, caller.engine().identity()->host};
  auto remember = [=](Memory& changed) {
    changed.last_start = std::max(changed.last_start, run.started);
    changed.success = success;
  };
  auto written = co_await rewrite(caller, std::move(name), run.lock, remember);
  co_return written;
}

Operation<bool> is_due(Caller& caller, LockName name, milliseconds period) {
  spi::Result<Memory> memory = co_await remembered(caller, std::move(name), Persistence::until_contact);
  if (!memory.ok()) co_return std::move(memory.failure());
  spi::Result<WallTime> now = co_await time_of_day(caller, Persistence::until_contact);
  if (!now.ok()) co_return std::move(now.failure());
  co_return may_begin(memory.value(), now.value(), period);
}

Operation<std::optional<LastRun>> last_run(Caller& caller, LockName name) {
  spi::Result<Memory> memory = co_await remembered(caller, std::move(name), Persistence::until_contact);
  if (!memory.ok()) co_return std::move(memory.failure());
  co_return std::move(memory.value().success);
}

}  // namespace holdfast::core
