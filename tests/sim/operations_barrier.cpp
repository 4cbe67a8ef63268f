// Parties that meet again and again.
#include <algorithm>
#include <map>

#include "core/operations/barrier_steps.hpp"
#include "sim/operations_story.hpp"

namespace holdfast::sim {

void run_barrier(Story& story) {
  constexpr std::uint32_t parties = 3;
  static const LockName name("barrier");
  // A permit may be in the store for so long after its party has left: what is given back is heard of, or expires.
  constexpr milliseconds ghost(410);
  story.world.unordered_claims = false;
  struct Visit {
    Moment began;
    Moment there_until = never;  ///< its permit may be in the store until then
    Moment ended = never;
    std::uint64_t phase = 0;
  };
  auto visits = std::make_shared<std::vector<Visit>>();
  LockOptions options;
  options.ttl = milliseconds(200);
  for (std::size_t at = 0; at < story.world.clients(); ++at) {
    OperationsClient& client = story.world.client(at);
    auto step = std::make_shared<std::function<void(int, std::uint64_t)>>();
    *step = [=, &story, &client, weak = step.get()](int left, std::uint64_t last) {
      if (left == 0) return;
      const std::size_t index = visits->size();
      visits->push_back({.began = story.world.now()});
      story.on_death(client, [=, &story] {
        if ((*visits)[index].ended == never) (*visits)[index].there_until = story.world.now() + ghost;
      });
      story.start(
          client, story.world.dice().between(milliseconds(100), milliseconds(900)),
          [=](Caller& caller) { return core::arrive_and_wait(caller, name, parties, options); },
          [=, &story, &client](const Result<std::uint64_t>& phase) {
            Visit& visit = (*visits)[index];
            visit.ended = story.world.now();
            visit.there_until = story.world.now() + (phase.ok() ? milliseconds(0) : ghost);
            if (phase.ok() && phase.value() <= last) story.broken("the phases of a caller do not rise");
            if (phase.ok()) visit.phase = phase.value();
            const std::uint64_t now_last = phase.ok() ? phase.value() : last;
            story.then(client, story.world.dice().between(milliseconds(1), milliseconds(150)),
                       [=] { (*weak)(left - 1, now_last); });
          });
    };
    story.then(client, story.world.dice().between(milliseconds(1), milliseconds(100)), [step] { (*step)(6, 0); });
    story.keep(step);
  }
  story.finish();
  std::map<std::uint64_t, Moment> first;  // who left the phase first
  for (const Visit& visit : *visits) {
    if (visit.phase == 0) continue;
    const auto [at, added] = first.emplace(visit.phase, visit.ended);
    if (!added) at->second = std::min(at->second, visit.ended);
  }
  for (const auto& [phase, left] : first) {
    std::size_t most = 0;
    for (const Visit& moment : *visits) {  // how many were there when this one came
      const Moment when = moment.began;
      if (when > left) continue;
      std::size_t there = 0;
      for (const Visit& visit : *visits) {
        const bool elsewhere = visit.phase != 0 && visit.phase < phase;
        if (!elsewhere && visit.began <= when && visit.there_until >= when) ++there;
      }
      most = std::max(most, there);
    }
    if (most < parties) story.broken("phase " + std::to_string(phase) + " was left when too few had arrived");
  }
}

}  // namespace holdfast::sim
