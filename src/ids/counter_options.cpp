#include "ids/counter_options.hpp"

#include <utility>

namespace holdfast::ids {
namespace {

std::string shown(std::string_view kind, const LockName& name) { return std::string(kind) + " '" + name.text() + "'"; }

}  // namespace

LockName register_of(std::string_view kind, const LockName& name) {
  return {"id-" + std::string(kind) + "/" + name.text()};
}

void check_store(const Client& client, std::string_view kind, const LockName& name, bool require_durable) {
  const StoreTraits traits = client.traits();
  if (!traits.registers) {
    throw Error(Errc::unsupported, shown(kind, name) + " needs registers, and " + traits.store + " has none");
  }
  if (require_durable && !traits.failover_may_lose.empty()) {
    throw Error(Errc::unsupported, shown(kind, name) + " is to be kept in a store that loses nothing, but with " +
                                       traits.store + " a failover may lose " + traits.failover_may_lose);
  }
}

std::shared_ptr<Counter> make_counter(std::string_view kind, const LockName& name, const CounterOptions& options) {
  constexpr auto largest = static_cast<std::uint64_t>(Counter::largest_last);
  if (options.last == 0 || options.last > largest) {
    throw Error(Errc::invalid_argument, "the last id of " + shown(kind, name) + " must be between 1 and " +
                                            std::to_string(largest) + ", got " + std::to_string(options.last));
  }
  if (options.gap_after_loss > largest) {
    throw Error(Errc::invalid_argument, "the gap_after_loss of " + shown(kind, name) + " must be at most " +
                                            std::to_string(largest) + ", got " +
                                            std::to_string(options.gap_after_loss));
  }
  return std::make_shared<Counter>(shown(kind, name), static_cast<std::int64_t>(options.last),
                                   static_cast<std::int64_t>(options.gap_after_loss));
}

std::int64_t checked_count(std::size_t count, const Counter& counter) {
  if (count == 0 || count > static_cast<std::uint64_t>(Counter::largest_last)) {
    throw Error(Errc::invalid_argument, "of " + counter.name + " 1 to " + std::to_string(Counter::largest_last) +
                                            " ids can be reserved at once, not " + std::to_string(count));
  }
  return static_cast<std::int64_t>(count);
}

}  // namespace holdfast::ids
