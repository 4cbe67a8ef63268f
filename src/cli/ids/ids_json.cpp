#include "cli/ids/ids_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/ids/far_times.hpp"
#include "cli/ids/workers.hpp"

namespace holdfast::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string dumped(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json json_of(const ids::Traits& kind) {
  Json object = {{"kind", kind.kind},
                 {"unique_by", kind.unique_by},
                 {"order", ids::to_string(kind.order)},
                 {"carries_time", kind.carries_time},
                 {"in_an_outage", kind.in_an_outage},
                 {"ends", nullptr}};
  if (kind.ends) object["ends"] = day_text(*kind.ends);
  return object;
}

}  // namespace

std::string to_json(const std::string& kind, const std::vector<std::string>& texts) {
  return dumped({{"kind", kind}, {"ids", texts}});
}

std::string to_json(const DecodedId& decoded) {
  Json object = {{"kind", decoded.kind}, {"id", decoded.id}};
  if (decoded.version) object["version"] = *decoded.version;
  if (decoded.time) object["time"] = time_text(*decoded.time);
  if (decoded.worker) object["worker"] = *decoded.worker;
  if (decoded.sequence) object["sequence"] = *decoded.sequence;
  return dumped(object);
}

std::string to_json(const std::vector<ids::Traits>& kinds) {
  Json all = Json::array();
  for (const ids::Traits& kind : kinds) all.push_back(json_of(kind));
  return dumped({{"kinds", all}});
}

std::string to_json(const ids::SnowflakeLayout& layout) {
  const ids::SnowflakeLayout::Fields& fields = layout.fields();
  const bool in_seconds = fields.unit == ids::SnowflakeLayout::Unit::seconds;
  return dumped({{"layout", to_string(layout)},
                 {"time_bits", fields.time_bits},
                 {"worker_bits", fields.worker_bits},
                 {"sequence_bits", fields.sequence_bits},
                 {"unit", in_seconds ? "s" : "ms"},
                 {"epoch", time_text(fields.epoch)},
                 {"workers", layout.workers()},
                 {"ids_per_second", layout.ids_per_second()},
                 {"ends", day_text(std::chrono::floor<std::chrono::seconds>(layout.ends()))},
                 {"exact_in_javascript", layout.is_exact_in_javascript()}});
}

std::string to_json(const std::string& name, const ids::WorkerPoolStatus& pool) {
  Json used = Json::array();
  for (const ids::WorkerStatus& worker : pool.used) {
    used.push_back({{"number", worker.number},
                    {"state", to_string(worker.state)},
                    {"holder", worker.holder},
                    {"since", time_text(worker.since)},
                    {"reserved_until", time_text(worker.reserved_until)}});
  }
  return dumped({{"pool", name},
                 {"layout", to_string(pool.layout)},
                 {"workers", pool.workers},
                 {"window_ms", pool.window.count()},
                 {"used", used}});
}

std::string to_json(const std::string& store, const std::vector<IdFigure>& figures) {
  Json object = {{"store", store}};
  for (const IdFigure& figure : figures) object[figure.id] = {{"per_second", std::llround(figure.per_second)}};
  return dumped(object);
}

}  // namespace holdfast::cli
