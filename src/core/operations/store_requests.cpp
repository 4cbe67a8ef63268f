#include "core/operations/store_requests.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

namespace holdfast::core {

using base::Instant;
using spi::Nothing;
using spi::Registers;
using spi::Versioned;

Operation<std::optional<LockStatus>> show(Caller& caller, LockName name, LockKind kind, Persistence persistence) {
  using Shown = std::optional<LockStatus>;
  auto start = [&](spi::Done<Shown> done) {
    caller.engine().backend().administration().show(name, kind, std::move(done));
  };
  auto answer = co_await ask<Shown>(caller, persistence, Effect::none, start);
  co_return answer;
}

Operation<std::size_t> ask_to_release(Caller& caller, LockName name, LockKind kind, ReleaseRequest request) {
  constexpr std::chrono::hours for_ever(24 * 365 * 100);  // stores add it to their time of day
  request.within = std::min<std::chrono::milliseconds>(request.within, for_ever);
  auto start = [&](spi::Done<std::size_t> done) {
    caller.engine().backend().administration().ask_to_release(name, kind, request, std::move(done));
  };
  auto answer = co_await ask<std::size_t>(caller, Persistence::until_contact, Effect::once, start);
  co_return answer;
}

Operation<std::size_t> evict(Caller& caller, LockName name, LockKind kind, std::uint64_t up_to) {
  auto start = [&](spi::Done<std::size_t> done) {
    caller.engine().backend().administration().evict(name, kind, up_to, std::move(done));
  };
  auto answer = co_await ask<std::size_t>(caller, Persistence::until_contact, Effect::once, start);
  co_return answer;
}

std::optional<spi::Failure> why_no_registers(const Caller& caller) {
  const StoreTraits& traits = caller.engine().traits();
  if (traits.registers) return std::nullopt;
  return spi::Failure{Errc::unsupported, traits.store +
                                             " does not support registers, nor what needs them: run once, "
                                             "latches, barriers and elections"};
}

Operation<Versioned> read(Caller& caller, LockName name, Persistence persistence) {
  if (auto why = why_no_registers(caller)) co_return *std::move(why);
  auto start = [&](spi::Done<Versioned> done) { caller.engine().backend().registers().read(name, std::move(done)); };
  auto answer = co_await ask<Versioned>(caller, persistence, Effect::none, start);
  co_return answer;
}

Operation<Registers::WriteAnswer> write_if(Caller& caller, LockName name, std::uint64_t expected, std::string value) {
  if (auto why = why_no_registers(caller)) co_return *std::move(why);
  auto start = [&](spi::Done<Registers::WriteAnswer> done) {
    caller.engine().backend().registers().write_if(name, expected, value, std::move(done));
  };
  auto answer = co_await ask<Registers::WriteAnswer>(caller, Persistence::until_contact, Effect::once, start);
  co_return answer;
}

Operation<std::uint64_t> set(Caller& caller, LockName name, std::string value) {
  for (;;) {
    spi::Result<spi::Versioned> now = co_await read(caller, name, Persistence::until_contact);
    if (!now.ok()) co_return std::move(now.failure());
    spi::Result<spi::Registers::WriteAnswer> answer = co_await write_if(caller, name, now.value().version, value);
    if (!answer.ok()) co_return std::move(answer.failure());
    if (answer.value().written) co_return answer.value().now.version;
  }
}

Operation<std::int64_t> add(Caller& caller, LockName name, std::int64_t amount) {
  if (auto why = why_no_registers(caller)) co_return *std::move(why);
  auto start = [&](spi::Done<std::int64_t> done) {
    caller.engine().backend().registers().add(name, amount, std::move(done));
  };
  auto answer = co_await ask<std::int64_t>(caller, Persistence::until_contact, Effect::once, start);
  co_return answer;
}

Operation<Nothing> nap_until_changed(Caller& caller, LockName name, std::uint64_t seen, Instant instant) {
  constexpr auto pause_after_failure = std::chrono::milliseconds(100);
  constexpr auto looks_again_after = std::chrono::seconds(2);  // a watch is a hint, and hints may be lost
  if (caller.interrupted()) co_return Nothing{};
  // The watch may be answered long after the nap, and then wakes nobody.
  const auto stays = std::make_shared<const LockName>(std::move(name));
  const spi::Loop& loop = caller.engine().loop();
  const auto failed = std::make_shared<bool>(false);
  caller.engine().backend().registers().watch(*stays, seen,
                                              [stays, failed, wake = caller.waker()](const spi::Result<>& answer) {
                                                *failed = !answer.ok();
                                                wake();
                                              });
  co_await caller.nap_until(std::min(instant, loop.now() + looks_again_after));
  if (*failed && !caller.interrupted()) co_await caller.nap_until(std::min(instant, loop.now() + pause_after_failure));
  co_return Nothing{};
}

Operation<Versioned> changed(Caller& caller, LockName name, std::uint64_t seen) {
  for (;;) {
    spi::Result<Versioned> now = co_await read(caller, name, Persistence::for_ever);
    if (!now.ok() || now.value().version != seen) co_return now;
    if (auto why = caller.why_end()) co_return *why;
    co_await nap_until_changed(caller, name, seen, Instant::max());
    if (auto why = caller.why_end()) co_return *why;
  }
}

}  // namespace holdfast::core
