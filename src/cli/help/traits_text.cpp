#include "cli/help/traits_text.hpp"

#include "cli/text/field.hpp"
#include "cli/text/output.hpp"
#include "cli/text/time_text.hpp"
#include "holdfast/options.hpp"

namespace holdfast::cli {
namespace {

std::string lease_of(const StoreTraits& traits) {
  const bool own = traits.lease_scope == StoreTraits::LeaseScope::claim;
  const bool servers_decide = traits.min_ttl > std::chrono::milliseconds::zero();
  return std::string(own ? "each lock has its own" : "all locks of a client share one") + "; shortest " +
         human(shortest_ttl(traits)) + (servers_decide ? " with the usual settings of servers" : "") +
         (traits.fixed_leases ? "" : "; always renewed");
}

std::string size_text(std::size_t bytes) {
  constexpr std::size_t kibi = 1024;
  if (bytes >= kibi * kibi && bytes % (kibi * kibi) == 0) return std::to_string(bytes / (kibi * kibi)) + " MiB";
  if (bytes >= kibi && bytes % kibi == 0) return std::to_string(bytes / kibi) + " KiB";
  return std::to_string(bytes) + " bytes";
}

}  // namespace

std::chrono::milliseconds shortest_ttl(const StoreTraits& traits) {
  return traits.min_ttl > std::chrono::milliseconds::zero() ? traits.min_ttl : LockOptions::min_ttl;
}

std::string in_words(const StoreTraits& traits) {
  const auto either = [](bool which, const char* yes, const char* no) { return std::string(which ? yes : no); };
  const std::string& loss = traits.failover_may_lose;
  return field("store", printable(traits.store)) +
         field("reach",
               either(traits.shared_between_processes, "every process that can open it", "this process only")) +
         field("order", either(traits.fifo, "first come, first served", "none; any waiter may be next")) +
         field("lease", lease_of(traits)) +
         field("tokens",
               either(traits.durable_tokens, "rise for ever, restarts included", "rise until the store is restarted")) +
         field("shared", either(traits.shared, "locks can be shared by readers", "no shared locks")) +
         field("permits", either(traits.permits, "semaphores", "no semaphores")) +
         field("delay", either(traits.lock_delay, "a lock can stay closed for a while after its holder has died",
                               "no delay after a holder has died")) +
         field("registers", either(traits.registers, "values with versions", "no registers")) +
         field("listing", either(traits.lists, "all locks", "none; one lock at a time, by its name")) +
         field("asking",
               either(traits.release_requests, "holders can be asked to release a lock", "holders cannot be asked")) +
         field("clock", either(traits.has_clock, "the store tells the time", "none; each host's own is used")) +
         field("failover", loss.empty() ? "loses nothing" : "may lose: " + printable(loss)) +
         field("values", "up to " + size_text(traits.max_value_bytes));
}

}  // namespace holdfast::cli
