#include "kit/rules.hpp"

#include <charconv>
#include <string>

#include "spi/part_name.hpp"

namespace holdfast::kit {
namespace {

spi::Failure invalid(std::string why) { return {Errc::invalid_argument, std::move(why)}; }

std::optional<std::int64_t> parse_number(const std::string& text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace

std::optional<spi::Failure> why_invalid(const spi::ClaimRequest& request) {
  if (request.lease <= spi::milliseconds::zero()) return invalid("a lease must be longer than zero");
  if (request.lock_delay < spi::milliseconds::zero()) return invalid("a lock delay cannot be negative");
  const spi::Mode& mode = request.mode;
  if (mode.kind == ClaimMode::permits && (mode.permits == 0 || mode.permits > mode.limit)) {
    return invalid("cannot take " + std::to_string(mode.permits) + " of " + std::to_string(mode.limit) +
                   " permits: take at least one and at most all");
  }
  return std::nullopt;
}

spi::Failure different_total(const spi::ClaimRequest& request, std::uint32_t total) {
  return invalid("'" + spi::PartName::shown(request.name) + "' has " + std::to_string(total) +
                 " permits while others hold or wait for them, not " + std::to_string(request.mode.limit) +
                 ": use the same total everywhere, or wait until all permits are released");
}

std::optional<spi::Failure> why_invalid_total(const LockName& name, std::uint32_t total) {
  if (total > 0) return std::nullopt;
  return invalid("'" + spi::PartName::shown(name) + "' cannot have 0 permits: nobody could ever take one");
}

spi::Failure cannot_downgrade_permits(const LockName& name) {
  return invalid("cannot make permits of '" + spi::PartName::shown(name) +
                 "' shared: only an exclusive claim can be downgraded");
}

std::optional<spi::Failure> why_too_large(std::size_t bytes, std::size_t max_bytes) {
  if (bytes <= max_bytes) return std::nullopt;
  return invalid("a register of this store holds at most " + std::to_string(max_bytes) + " bytes, not " +
                 std::to_string(bytes));
}

spi::Failure not_a_number() { return invalid("cannot add to the register: its value is not a decimal number"); }

spi::Failure sum_does_not_fit() { return invalid("cannot add to the register: the sum does not fit in 64 bits"); }

spi::Result<std::int64_t> sum_of(const spi::Versioned& now, std::int64_t amount) {
  const auto number = now.version == 0 ? std::optional<std::int64_t>(0) : parse_number(now.value);
  if (!number) return not_a_number();
  std::int64_t sum = 0;
  if (__builtin_add_overflow(*number, amount, &sum)) return sum_does_not_fit();
  return sum;
}

}  // namespace holdfast::kit
