#include "cli/text/answer_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/help/traits_text.hpp"
#include "cli/text/json_text.hpp"
#include "holdfast/version.hpp"

namespace holdfast::cli {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const StoreTraits& traits) {
  return {{"store", traits.store},
          {"lease_scope", traits.lease_scope == StoreTraits::LeaseScope::claim ? "claim" : "session"},
          {"proves_lease_late", traits.proves_lease_late},
          {"has_clock", traits.has_clock},
          {"fifo", traits.fifo},
          {"min_ttl_ms", shortest_ttl(traits).count()},
          {"fixed_leases", traits.fixed_leases},
          {"shared", traits.shared},
          {"permits", traits.permits},
          {"lock_delay", traits.lock_delay},
          {"registers", traits.registers},
          {"lists", traits.lists},
          {"release_requests", traits.release_requests},
          {"durable_tokens", traits.durable_tokens},
          {"shared_between_processes", traits.shared_between_processes},
          {"failover_may_lose", traits.failover_may_lose},
          {"max_value_bytes", traits.max_value_bytes}};
}

}  // namespace

std::string to_json(const LockName& name, const Versioned& value) {
  return json_text({{"name", name.text()}, {"value", value.value}, {"version", value.version}});
}

std::string to_json(const LockName& name, const Leader& leader) {
  return json_text({{"name", name.text()}, {"value", leader.value}, {"term", to_string(leader.term)}});
}

std::string version_json(const StoreTraits* traits) {
  Json object = {{"version", version}};
  if (traits != nullptr) object["traits"] = json_of(*traits);
  return json_text(object);
}

std::string to_json(const std::string& store, const std::vector<BenchFigure>& figures) {
  Json object = {{"store", store}};
  for (const BenchFigure& figure : figures) {
    object[figure.id] = {{"count", figure.count},
                         {"per_second", std::llround(figure.per_second)},
                         {"p50_ns", figure.p50.count()},
                         {"p99_ns", figure.p99.count()}};
  }
  return json_text(object);
}

}  // namespace holdfast::cli
