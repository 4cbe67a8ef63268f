#include "core/operations/barrier_steps.hpp"

#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "core/operations/parts.hpp"
#include "core/operations/store_requests.hpp"
#include "spi/part_name.hpp"

// A register counts the phases that are complete, and each phase has a semaphore with one permit for each party.
// Whoever arrives takes a permit; whoever finds that all are taken counts the phase as complete; all others watch the
// register. The permits of those who die come back by themselves. Whoever gives up returns its permit and then writes
// the register once more: so a party that has seen the permit and is about to count it must look again.

namespace holdfast::core {

using base::Duration;
using spi::Failure;

namespace {

struct Phase {
  std::uint64_t complete = 0;
  std::uint64_t version = 0;
};

Operation<Phase> read_phase(Caller& caller, LockName place) {
  spi::Result<spi::Versioned> now = co_await read(caller, std::move(place), Persistence::for_ever);
  if (!now.ok()) co_return std::move(now.failure());
  Phase phase{.version = now.value().version};
  const std::string& text = now.value().value;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), phase.complete);
  const bool valid = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  if (phase.version > 0 && !valid) {
    co_return Failure{Errc::store_failed, "what the store has under this name is not a barrier"};
  }
  co_return phase;
}

Operation<bool> all_have_arrived(Caller& caller, LockName phase_name, std::uint32_t parties) {
  auto phase = co_await show(caller, std::move(phase_name), LockKind::semaphore, Persistence::for_ever);
  if (!phase.ok()) co_return std::move(phase.failure());
  co_return phase.value() && phase.value()->holders.size() == parties;
}

/// Waits with a permit until the phase is complete. False if the permit was lost meanwhile.
Operation<bool> wait_for_the_others(Caller& caller, LockName place, LockName phase_name, std::uint64_t before,
                                    std::uint32_t parties, Duration look_again, std::shared_ptr<HoldRecord> arrived) {
  for (;;) {
    spi::Result<Phase> phase = co_await read_phase(caller, place);
    if (!phase.ok()) co_return std::move(phase.failure());
    if (phase.value().complete != before) co_return true;
    if (arrived->group() == nullptr) co_return false;
    spi::Result<bool> all = co_await all_have_arrived(caller, phase_name, parties);
    if (!all.ok()) co_return all;
    if (all.value()) {
      // Whoever is first completes it; if it is in doubt whether it was us, the next look tells.
      co_await write_if(caller, place, phase.value().version, std::to_string(before + 1));
      if (auto why = caller.interrupted()) co_return *why;
      continue;
    }
    if (auto why = caller.why_end()) co_return *why;
    const base::Instant look = caller.engine().loop().now() + look_again;
    co_await nap_until_changed(caller, place, phase.value().version, look);
    if (auto why = caller.why_end()) co_return *why;
  }
}

/// Takes back an arrival. False if the phase is complete: then it was counted.
Operation<bool> leave(Caller& caller, LockName place, std::uint64_t before, std::shared_ptr<HoldRecord> arrived) {
  for (;;) {
    spi::Result<Phase> phase = co_await read_phase(caller, place);
    if (!phase.ok()) co_return std::move(phase.failure());
    if (phase.value().complete != before) co_return false;
    if (arrived->cell() != nullptr) {
      auto start = [&](spi::Done<Released> done) {
        arrived->cell()->release(*arrived,
                                 [&loop = caller.engine().loop(), done = std::move(done)](Released outcome) mutable {
                                   loop.defer([done = std::move(done), outcome]() mutable { done(outcome); });
                                 });
      };
      co_await answer_of<Released>(start);
      continue;
    }
    spi::Result<spi::Registers::WriteAnswer> answer =
        co_await write_if(caller, place, phase.value().version, std::to_string(before));
    if (!answer.ok()) co_return std::move(answer.failure());
    if (answer.value().written) co_return true;
  }
}

}  // namespace

Operation<std::uint64_t> arrive_and_wait(Caller& caller, LockName name, std::uint32_t parties, LockOptions options) {
  const LockName place = spi::PartName::of(name, barrier_part);
  const spi::Mode one{ClaimMode::permits, 1, parties};
  const Duration look_again = Duration(options.ttl) / 3;
  for (;;) {
    spi::Result<Phase> phase = co_await read_phase(caller, place);
    if (!phase.ok()) co_return std::move(phase.failure());
    const std::uint64_t before = phase.value().complete;
    const LockName phase_name = spi::PartName::of(name, std::string(phase_part) + std::to_string(before + 1));
    Cell& cell = caller.engine().cell(phase_name, LockKind::semaphore);
    Request::Answer arrived =
        co_await caller.acquire(cell, options, one, spi::WhenBusy::refuse, Caller::TryInAnOutage::goes_on);
    if (!arrived.ok() && arrived.failure().code == Errc::busy) {  // enough have arrived: this one is of the next phase
      // One of them may give up or die before all are counted: then there is room again, and nothing is written.
      const base::Instant look = caller.engine().loop().now() + look_again;
      co_await nap_until_changed(caller, place, phase.value().version, look);
      if (auto why = caller.why_end()) co_return *why;
      continue;
    }
    if (!arrived.ok()) co_return std::move(arrived.failure());

    const std::shared_ptr<HoldRecord> permit = std::move(arrived.value());
    spi::Result<bool> complete =
        co_await wait_for_the_others(caller, place, phase_name, before, parties, look_again, permit);
    if (!complete.ok() && complete.failure().code == Errc::timed_out) {
      spi::Result<bool> left = co_await leave(caller, place, before, permit);
      if (left.ok() && !left.value()) complete = true;
    }
    if (permit->cell() != nullptr) permit->cell()->release(*permit);
    if (!complete.ok()) co_return std::move(complete.failure());
    if (complete.value()) co_return before + 1;
  }
}

}  // namespace holdfast::core
