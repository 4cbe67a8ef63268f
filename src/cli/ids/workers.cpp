#include "cli/ids/workers.hpp"

#include "cli/ids/far_times.hpp"
#include "cli/text/output.hpp"
#include "cli/text/table.hpp"
#include "cli/text/time_text.hpp"

namespace holdfast::cli {

std::string_view to_string(ids::WorkerStatus::State state) {
  using State = ids::WorkerStatus::State;
  switch (state) {
    case State::held: return "held";
    case State::given_back: return "given back";
    case State::lapsed: return "lapsed";
    case State::poisoned: return "poisoned";
  }
  return "unknown";
}

std::string text_of(const ids::WorkerPoolStatus& pool) {
  Table table({"NUMBER", "STATE", "SINCE", "RESERVED UNTIL", "HOLDER"});
  std::size_t held = 0;
  for (const ids::WorkerStatus& worker : pool.used) {
    if (worker.state == ids::WorkerStatus::State::held) ++held;
    table.add({std::to_string(worker.number), std::string(to_string(worker.state)), time_text(worker.since),
               time_text(worker.reserved_until), printable(worker.holder)});
  }
  return table.text() + std::to_string(held) + " of " + std::to_string(pool.workers) + " numbers are held; layout " +
         to_string(pool.layout) + ", window " + human(pool.window) + "\n";
}

}  // namespace holdfast::cli
