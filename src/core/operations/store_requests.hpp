#pragma once

#include <optional>
#include <string>
#include <utility>

#include "core/engine/caller.hpp"
#include "core/engine/engine.hpp"
#include "core/operations/operation.hpp"
#include "spi/registers.hpp"

/// Questions to the store in the name of a caller.
namespace holdfast::core {

/// How long a question goes on.
enum class Persistence {
  until_contact,  ///< repeated until the store was reached for the first time, for at most the connect_timeout
  for_ever,       ///< then also through outages, until the caller is late or interrupted
};

/// Whether a question may be asked again although it may have been executed.
enum class Effect { none, once };

/// Asks what `start` asks. A question without effect is never in doubt: it was not answered, or it was.
template <class T, class Start>
Operation<T> ask(Caller& caller, Persistence persistence, Effect effect, Start start) {
  Engine& engine = caller.engine();
  const base::Instant first_contact_by = base::saturating_add(engine.loop().now(), engine.options().connect_timeout);
  base::Duration pause = std::chrono::milliseconds(10);
  for (;;) {
    if (caller.interrupted()) co_return *caller.interrupted();
    const bool knew_store = engine.contacted();
    spi::Result<T> answer = co_await answer_of<T>(start);
    engine.contact(spi::was_reached(answer));
    if (answer.ok() || !spi::is_retryable(answer.failure().code)) co_return answer;
    if (answer.failure().code == Errc::in_doubt) {
      if (effect == Effect::once) co_return answer;
      answer.failure().code = Errc::unreachable;
    }
    const bool hopeless =
        knew_store ? persistence == Persistence::until_contact : engine.loop().now() >= first_contact_by;
    if (hopeless || caller.late()) co_return answer;
    co_await caller.nap_for(engine.jittered(pause));
    pause = std::min<base::Duration>(pause * 2, spi::longest_patience);
  }
}

/// One lock or semaphore of the store's, as spi::Administration shows it.
Operation<std::optional<LockStatus>> show(Caller& caller, LockName name, LockKind kind, Persistence persistence);
/// How many holders were asked.
Operation<std::size_t> ask_to_release(Caller& caller, LockName name, LockKind kind, ReleaseRequest request);
/// How many holders it was taken away from.
Operation<std::size_t> evict(Caller& caller, LockName name, LockKind kind, std::uint64_t up_to);

// Registers, as spi::Registers has them. Errc::unsupported where the traits say that the store has none.

/// For operations that start with another step.
std::optional<spi::Failure> why_no_registers(const Caller& caller);

Operation<spi::Versioned> read(Caller& caller, LockName name, Persistence persistence);
Operation<spi::Registers::WriteAnswer> write_if(Caller& caller, LockName name, std::uint64_t expected,
                                                std::string value);
/// Overwrites the value unconditionally and returns the new version.
Operation<std::uint64_t> set(Caller& caller, LockName name, std::string value);
Operation<std::int64_t> add(Caller& caller, LockName name, std::int64_t amount);
/// Waits until the version is no longer `seen`. Survives outages; Errc::timed_out if the caller is late.
Operation<spi::Versioned> changed(Caller& caller, LockName name, std::uint64_t seen);
/// Naps until the version may no longer be `seen`, or until `instant`.
Operation<spi::Nothing> nap_until_changed(Caller& caller, LockName name, std::uint64_t seen, base::Instant instant);

}  // namespace holdfast::core
