#include "core/operations/latch_steps.hpp"

#include <charconv>
#include <utility>

#include "core/operations/parts.hpp"
#include "core/operations/store_requests.hpp"
#include "spi/part_name.hpp"

// A register with two numbers: "missing/count". Version 0 is a latch that nobody has counted down yet.

namespace holdfast::core {

using spi::Failure;

namespace {

LockName register_of(const LockName& name) { return spi::PartName::of(name, latch_part); }

spi::Result<std::uint32_t> missing_in(const spi::Versioned& stored, const LockName& name, std::uint32_t count) {
  if (stored.version == 0) return count;
  std::uint32_t missing = 0;
  std::uint32_t its_count = 0;
  const char* const end = stored.value.data() + stored.value.size();
  auto at = std::from_chars(stored.value.data(), end, missing);
  const bool parted = at.ec == std::errc() && at.ptr != end && *at.ptr == '/';
  if (parted) at = std::from_chars(at.ptr + 1, end, its_count);
  if (!parted || at.ec != std::errc() || at.ptr != end || missing > its_count) {
    return Failure{Errc::store_failed, "what the store has under this name is not a latch"};
  }
  if (its_count != count) {
    return Failure{Errc::invalid_argument, "latch '" + name.text() + "' has a count of " + std::to_string(its_count) +
                                               ", not of " + std::to_string(count) + "; all who use it must agree"};
  }
  return missing;
}

}  // namespace

Operation<std::uint32_t> count_missing(Caller& caller, LockName name, std::uint32_t count) {
  spi::Result<spi::Versioned> now = co_await read(caller, register_of(name), Persistence::until_contact);
  if (!now.ok()) co_return std::move(now.failure());
  co_return missing_in(now.value(), name, count);
}

Operation<std::uint32_t> count_down(Caller& caller, LockName name, std::uint32_t count, std::uint32_t by) {
  const LockName place = register_of(name);
  for (;;) {
    spi::Result<spi::Versioned> now = co_await read(caller, place, Persistence::until_contact);
    if (!now.ok()) co_return std::move(now.failure());
    const spi::Result<std::uint32_t> missing = missing_in(now.value(), name, count);
    if (!missing.ok()) co_return missing;
    if (by > missing.value()) {
      co_return Failure{Errc::invalid_argument, "only " + std::to_string(missing.value()) + " of " +
                                                    std::to_string(count) +
                                                    " are missing; it cannot be counted down by " + std::to_string(by)};
    }
    const std::uint32_t left = missing.value() - by;
    spi::Result<spi::Registers::WriteAnswer> answer =
        co_await write_if(caller, place, now.value().version, std::to_string(left) + "/" + std::to_string(count));
    if (!answer.ok()) co_return std::move(answer.failure());
    if (answer.value().written) co_return left;
  }
}

Operation<spi::Nothing> wait_until_open(Caller& caller, LockName name, std::uint32_t count) {
  const LockName place = register_of(name);
  for (;;) {
    spi::Result<spi::Versioned> now = co_await read(caller, place, Persistence::for_ever);
    if (!now.ok()) co_return std::move(now.failure());
    spi::Result<std::uint32_t> missing = missing_in(now.value(), name, count);
    if (!missing.ok()) co_return std::move(missing.failure());
    if (missing.value() == 0) co_return spi::Nothing{};
    if (auto why = caller.why_end()) co_return *why;
    co_await nap_until_changed(caller, place, now.value().version, base::Instant::max());
    if (auto why = caller.why_end()) co_return *why;
  }
}

}  // namespace holdfast::core
