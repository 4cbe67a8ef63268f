#include "faults/campaign.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "holdfast/client.hpp"
#include "support/eventually.hpp"

namespace holdfast::faults {

namespace {

/// How long a thread may take for what it could do at once, with 64 of them on two busy processors. The longest time
/// for which the nemesis saw the whole machine stand still is added.
constexpr milliseconds noise{5000};
/// How long the whole fleet may take to have a last turn each, and to end.
constexpr milliseconds patience{90'000};

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoull(text);
}

void set_up(Arena& arena, const CampaignOptions& options) {
  if (options.url.size() >= arena.url.size() || options.processes > Arena::most_processes ||
      options.names > Arena::most_names) {
    throw std::invalid_argument("too large a campaign");
  }
  std::memcpy(arena.url.data(), options.url.c_str(), options.url.size() + 1);
  arena.seed = options.seed;
  arena.ttl_ms = options.ttl.count();
  arena.threads = options.threads;
  arena.names = options.names;
  arena.mistakes = options.mistakes;
}

Testimony testimony_of(const Life& life) {
  Testimony testimony{.slot = static_cast<std::uint8_t>(life.slot),
                      .started = life.started,
                      .killed = life.killed,
                      .gone = life.gone,
                      .notes = life.log->read()};
  for (const Life::Pause& pause : life.pauses) testimony.pauses.push_back({pause.from, pause.until});
  return testimony;
}

bool is_empty(const Client& client, std::uint8_t names) {
  if (client.traits().lists) return client.list().empty();
  for (std::uint8_t name = 0; name < names; ++name) {
    if (client.show(Arena::name_text(name))) return false;
  }
  return true;
}

}  // namespace

CampaignOptions CampaignOptions::from_environment(std::string url) {
  const auto today =
      static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) % 1'000'000;
  return {.url = std::move(url),
          .duration = std::chrono::seconds(number_from("HOLDFAST_FAULTS_SECONDS", 10)),
          .seed = number_from("HOLDFAST_FAULTS_SEED", today)};
}

namespace {

/// How much longer everything takes because others want the processors, too. The processes of a campaign alone, which
/// mostly wait, do not count.
double crowdedness() {
  constexpr double usual_load_of_a_processor = 6;
  double load = 0;
  if (getloadavg(&load, 1) != 1) return 1;
  return std::max(1.0, load / (usual_load_of_a_processor * std::thread::hardware_concurrency()));
}

}  // namespace

CampaignResult run_campaign(const CampaignOptions& options) {
  CampaignResult result;
  if (options.sabotage) result.sabotage = options.sabotage->kind;
  Mapping<Arena> arena;
  set_up(*arena, options);
  Recording& recording = result.recording;
  recording.processes = options.processes;
  recording.names = options.names;
  recording.ttl = options.ttl;
  recording.noise = noise;

  Fleet fleet(arena, options.processes);
  if (options.harm) {
    result.harm = Nemesis(fleet, arena, options.seed, options.sabotage).run(options.duration);
    recording.troubles = result.harm.troubles;
    for (Trouble& trouble : recording.troubles) trouble.forgets = trouble.forgets && !options.conceals_losses;
    recording.noise += std::chrono::ceil<milliseconds>(result.harm.longest_stall);
  } else {
    std::this_thread::sleep_for(options.duration);
  }
  recording.noise = std::chrono::ceil<milliseconds>(recording.noise * crowdedness());
  const bool finished = fleet.finish(patience);
  if (finished) {
    Client client(options.url, {.label = "campaign"});
    recording.store_is_empty = test::eventually(options.ttl + noise, [&] { return is_empty(client, options.names); });
  }
  recording.ended = now();
  for (const Life& life : fleet.lives()) {
    recording.lives.push_back(testimony_of(life));
    if (!life.death.empty()) result.deaths.push_back(life.death);
  }
  for (std::uint8_t name = 0; name < options.names; ++name) recording.journals.push_back(arena->fenced[name].journal());
  result.statistics = statistics_of(recording);
  result.violations = judge(recording);
  return result;
}

std::vector<std::string> CampaignResult::shortcomings() const {
  std::vector<std::string> reasons;
  const auto require = [&](std::uint64_t number, const char* what) {
    if (number == 0) reasons.emplace_back(what);
  };
  require(statistics.grants, "nobody was granted anything");
  require(harm.kills, "nobody was killed");
  require(harm.short_stops, "nobody was stopped for less than a lease");
  require(harm.long_stops, "nobody was stopped for longer than a lease");
  require(harm.stops_in_section, "nobody was stopped between its look and its write");
  require(statistics.losses, "nobody lost a lock");
  // While the store is away, nobody can follow whoever is stopped, so it need not come too late.
  if (!sabotage || !takes_away(*sabotage)) {
    require(statistics.refused_writes, "the fence refused no late write");
    require(statistics.harmful_writes, "without a fence no late write did any harm");
  }
  if (sabotage) {
    require(harm.sabotages, "the store was not harmed");
    require(harm.hits, "what was done to the store hit nothing");
    if (forgets(*sabotage)) require(statistics.forgotten, "nobody held what the store has forgotten");
  }
  return reasons;
}

bool CampaignResult::broke(sim::Rule rule) const {
  return std::any_of(violations.begin(), violations.end(),
                     [&](const sim::Violation& violation) { return violation.rule == rule; });
}

std::string CampaignResult::summary() const {
  std::ostringstream text;
  text << recording.lives.size() << " processes, " << statistics.turns << " turns, " << statistics.grants << " grants, "
       << statistics.refusals << " refused or timed out, " << statistics.errors << " unreachable or in doubt, "
       << statistics.other_errors << " other errors\n"
       << harm.kills << " kills, " << harm.short_stops << " stops shorter and " << harm.long_stops
       << " longer than the lease, " << harm.stops_in_section << " more between a look and the write\n"
       << (sabotage ? name_of(*sabotage) : "nothing") << " was done to the store " << harm.sabotages
       << " times, and hit " << harm.hits << '\n'
       << statistics.losses << " holds lost, " << statistics.forgotten << " of them forgotten, "
       << statistics.refused_writes << " late writes refused by the fence, " << statistics.harmful_writes
       << " did harm without it\n"
       << "the machine stood still for " << std::chrono::ceil<milliseconds>(harm.longest_stall).count()
       << " ms at most; latest answer " << statistics.latest_answer.count() << " ms after its time, longest wait "
       << statistics.longest_wait.count() << " ms\n"
       << violations.size() << " violations\n";
  for (const sim::Violation& violation : violations) {
    text << "  " << sim::name_of(violation.rule) << ", at "
         << std::chrono::duration_cast<milliseconds>(violation.at.time_since_epoch()).count()
         << " ms: " << violation.what << '\n';
  }
  return text.str();
}

}  // namespace holdfast::faults
