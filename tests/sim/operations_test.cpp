// Registers, latches, elections, runs and barriers on virtual time: each history runs the real operations of several
// clients over bad connections, writes down what their callers did and heard, and is checked when it has ended.

#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <map>
#include <set>

#include "core/asking.hpp"
#include "core/operations/barrier.hpp"
#include "core/operations/election.hpp"
#include "core/operations/latch.hpp"
#include "core/operations/once.hpp"
#include "core/parts.hpp"
#include "core/record.hpp"
#include "sim/campaign.hpp"
#include "sim/operations_world.hpp"
#include "spi/part_name.hpp"

namespace holdfast::sim {
namespace {

using core::Caller;
using core::Operation;
using spi::Result;

constexpr Moment users_end{milliseconds(3000)};

/// What is deliberately wrong, to see whether it is noticed.
struct Wrong {
  OperationsMistakes store = {};
  bool latch_retries_doubt = false;
  bool publishes_without_looking = false;
  bool runs_without_looking = false;
};

struct Totals {
  std::uint64_t histories = 0;
  std::uint64_t operations = 0;
  std::uint64_t answered = 0;  ///< with success
  std::uint64_t doubtful = 0;
  OperationsWorld::Counters world = {};
};

/// One history: a world, its users, and what is wrong with it.
class Story {
 public:
  Story(std::uint64_t seed, std::size_t clients, const Wrong& its_wrong)
      : world(seed, clients, its_wrong.store), wrong(its_wrong) {
    for (std::size_t at = 0; at < clients; ++at) {
      OperationsClient& client = world.client(at);
      if (world.dice().chance(500)) {
        const Moment pauses = some_time(Moment(), OperationsWorld::faults_end);
        world.at(pauses, [&client] { client.pause(); });
        world.at(pauses + world.dice().between(milliseconds(5), milliseconds(600)), [&client] { client.resume(); });
        ++world.counters.pauses;
      }
      if (at > 0 && world.dice().chance(250)) {
        ++world.counters.deaths;
        world.at(some_time(Moment(), OperationsWorld::faults_end), [this, &client] {
          client.die();
          for (auto& died : on_death_[&client]) died();
        });
      }
    }
  }

  Moment some_time(Moment from, Moment to) { return from + world.dice().between(Duration(0), to - from); }
  /// For as long as the history.
  void keep(std::shared_ptr<void> thing) { kept_.push_back(std::move(thing)); }
  void broken(std::string what) { findings.push_back(std::move(what)); }
  void on_death(OperationsClient& client, std::function<void()> task) { on_death_[&client].push_back(std::move(task)); }

  /// Later, by a client, if it lives then and is not paused.
  void then(OperationsClient& client, Duration after, std::function<void()> task) {
    world.at(world.now() + after, [&client, task = std::move(task)] {
      client.deliver([&client, task] {
        if (!client.dead()) task();
      });
    });
  }

  /// Starts an operation in the name of a caller of its own. `done` hears of it if the client lives then.
  template <class Make, class Done>
  std::shared_ptr<Caller> start(OperationsClient& client, Duration patience, Make make, Done done) {
    ++totals.operations;
    ++unanswered_;
    const Instant deadline = spi::saturating_add(client.loop().now(), patience);
    auto caller = std::make_shared<Caller>(client.engine(), deadline);
    std::move(make(*caller)).start([this, caller, &client, done](auto result) mutable {
      --unanswered_;
      if (client.dead()) return;
      result.ok() ? ++totals.answered : ++totals.doubtful;
      done(std::move(result));
    });
    return caller;
  }

  /// To the end: everything is answered, and nothing is left behind.
  void finish() {
    if (!world.run_until_quiet()) broken("something goes on for ever");
    for (std::size_t at = 0; at < world.clients(); ++at) world.client(at).close();
    if (!world.run_until_quiet()) broken("closing goes on for ever");
    if (unanswered_ != 0) broken(std::to_string(unanswered_) + " operations were never answered");
    for (std::size_t at = 0; at < world.clients(); ++at) {
      if (!world.client(at).closed()) broken("a client did not close");
      if (world.client(at).left_over() > 0) broken("client " + std::to_string(at) + " left something behind");
    }
    if (!world.store().empty()) broken("the store still has claims");
  }

  OperationsWorld world;
  const Wrong& wrong;
  Totals totals = {};
  std::vector<std::string> findings = {};

 private:
  std::map<OperationsClient*, std::vector<std::function<void()>>> on_death_;
  std::vector<std::shared_ptr<void>> kept_;
  int unanswered_ = 0;
};

// --- registers ------------------------------------------------------------------------------------------------------

void run_registers(Story& story) {
  struct Seen {
    Moment began;
    Moment ended;
    std::uint64_t version;
    bool wrote;
  };
  struct Notes {
    std::vector<Seen> seen = {};
    std::map<std::uint64_t, std::string> values = {};
    std::set<std::string> tried = {""};
    std::map<std::string, std::uint64_t> versions = {};
    std::set<std::int64_t> sums = {};
    int adds_sent = 0;
  };
  static const LockName value_name("value");
  static const LockName sum_name("sum");
  auto notes = std::make_shared<Notes>();
  const auto note = [&story, notes](Moment began, const spi::Versioned& now, bool wrote) {
    notes->seen.push_back({began, story.world.now(), now.version, wrote});
    if (notes->values.emplace(now.version, now.value).first->second != now.value)
      story.broken("a version has two values");
    if (notes->versions.emplace(now.value, now.version).first->second != now.version) {
      story.broken("a value has two versions: it was written twice");
    }
    if (!notes->tried.contains(now.value)) story.broken("a value that nobody wrote");
  };
  for (std::size_t at = 0; at < story.world.clients(); ++at) {
    OperationsClient& client = story.world.client(at);
    auto step = std::make_shared<std::function<void(int, std::uint64_t)>>();
    *step = [&story, &client, notes, note, at, weak = step.get()](int left, std::uint64_t version) {
      if (left == 0) return;
      const Moment began = story.world.now();
      const auto next = [&story, &client, weak, left](std::uint64_t seen) {
        story.then(client, story.world.dice().between(microseconds(100), microseconds(120'000)),
                   [weak, left, seen] { (*weak)(left - 1, seen); });
      };
      const std::uint32_t what = story.world.dice().below(10);
      if (what < 3) {
        story.start(
            client, Duration::max(),
            [](Caller& caller) { return core::read(caller, value_name, core::Persistence::until_contact); },
            [=](Result<spi::Versioned> now) {
              if (now.ok()) note(began, now.value(), false);
              next(now.ok() ? now.value().version : version);
            });
      } else if (what < 7) {
        const std::string value = std::to_string(at) + "/" + std::to_string(left);
        notes->tried.insert(value);
        story.start(
            client, Duration::max(), [=](Caller& caller) { return core::write_if(caller, value_name, version, value); },
            [=, &story](Result<spi::Registers::WriteAnswer> answer) {
              if (!answer.ok()) return next(version);
              note(began, answer.value().now, answer.value().written);
              if (answer.value().written && answer.value().now.version != version + 1) {
                story.broken("a write replaced a version that it did not expect");
              }
              next(answer.value().now.version);
            });
      } else if (what < 9) {
        ++notes->adds_sent;
        story.start(
            client, Duration::max(), [](Caller& caller) { return core::add(caller, sum_name, 1); },
            [=, &story](Result<std::int64_t> sum) {
              if (sum.ok() && !notes->sums.insert(sum.value()).second) story.broken("two additions have one sum");
              next(version);
            });
      } else {
        story.start(
            client, milliseconds(300), [=](Caller& caller) { return core::changed(caller, value_name, version); },
            [=, &story](Result<spi::Versioned> now) {
              if (now.ok() && now.value().version == version) story.broken("changed, and has not");
              if (now.ok()) note(began, now.value(), false);
              next(now.ok() ? now.value().version : version);
            });
      }
    };
    story.then(client, milliseconds(1), [step] { (*step)(14, 0); });
    story.keep(step);
  }
  story.finish();
  const auto& registers = story.world.store().registers();
  const std::uint64_t last = registers.read(value_name).version;
  for (const Seen& one : notes->seen) {
    if (one.version > last) story.broken("an acknowledged version is gone");
    for (const Seen& other : notes->seen) {
      const bool older = one.version < other.version || (one.wrote && other.wrote && one.version == other.version);
      if (other.ended < one.began && older) story.broken("an older version was seen after a newer one");
    }
  }
  const std::string sum = registers.read(sum_name).value;
  const auto total = sum.empty() ? 0 : std::stoll(sum);
  if (total > notes->adds_sent) story.broken("more was added than anybody sent");
  if (total < static_cast<long long>(notes->sums.size())) story.broken("an acknowledged addition is gone");
}

// --- latch ----------------------------------------------------------------------------------------------------------

Operation<std::uint32_t> count_down_again_when_in_doubt(Caller& caller, LockName name, std::uint32_t count) {
  for (;;) {
    Result<std::uint32_t> left = co_await core::count_down(caller, name, count, 1);
    if (left.ok() || left.failure().code != Errc::in_doubt) co_return left;
  }
}

void run_latch(Story& story) {
  constexpr std::uint32_t count = 12;
  static const LockName name("latch");
  struct Notes {
    std::set<std::uint32_t> lefts = {};
    std::uint32_t begun = 0;   ///< counting that may have happened
    std::uint32_t failed = 0;  ///< of these, known not to have
    int waiting = 0;
  };
  auto notes = std::make_shared<Notes>();
  const auto count_once = [&story, notes](OperationsClient& client, std::function<void(bool)> next) {
    ++notes->begun;
    story.start(
        client, Duration::max(),
        [&story](Caller& caller) {
          return story.wrong.latch_retries_doubt ? count_down_again_when_in_doubt(caller, name, count)
                                                 : core::count_down(caller, name, count, 1);
        },
        [=, &story](Result<std::uint32_t> left) {
          if (left.ok() && !notes->lefts.insert(left.value()).second) story.broken("two counted to the same number");
          if (!left.ok() && left.failure().code != Errc::in_doubt) ++notes->failed;
          next(!left.ok() && left.failure().code == Errc::invalid_argument);
        });
  };
  for (std::size_t at = 0; at < story.world.clients(); ++at) {
    OperationsClient& client = story.world.client(at);
    story.then(client, milliseconds(1), [&story, &client, notes] {
      ++notes->waiting;
      auto waits = std::make_shared<bool>(true);
      story.on_death(client, [notes, waits] { notes->waiting -= *waits ? 1 : 0; });
      story.start(
          client, Duration::max(), [](Caller& caller) { return core::wait_until_open(caller, name, count); },
          [&story, notes, waits](const Result<>& opened) {
            --notes->waiting;
            *waits = false;
            if (!opened.ok()) return story.broken("waiting for the latch failed");
            if (notes->begun - notes->failed < count) story.broken("the latch opened before all had counted");
          });
    });
    for (int i = 0; i < 3; ++i) {
      story.then(client, story.some_time(Moment(milliseconds(2)), OperationsWorld::faults_end).time_since_epoch(),
                 [count_once, &client] { count_once(client, [](bool) {}); });
    }
  }
  auto rest = std::make_shared<std::function<void()>>();
  *rest = [&story, count_once, weak = rest.get()] {
    count_once(story.world.client(0), [weak](bool open) {
      if (!open) (*weak)();
    });
  };
  story.keep(rest);
  story.then(story.world.client(0), users_end.time_since_epoch(), [rest] { (*rest)(); });
  if (!story.world.run_until_quiet()) story.broken("the latch goes on for ever");
  if (notes->waiting != 0) story.broken("the latch is open, and somebody waits");
  story.finish();
  if (notes->begun - notes->failed < count) story.broken("more was counted than anybody did");
  if (notes->lefts.size() > count) story.broken("an acknowledged count did not count");
}

// --- election -------------------------------------------------------------------------------------------------------

Operation<spi::Nothing> publish_without_looking(Caller& caller, LockName name, std::shared_ptr<core::HoldRecord> lead,
                                                std::string value) {
  const LockName place = spi::PartName::of(name, core::leader_part);
  Result<spi::Versioned> now = co_await core::read(caller, place, core::Persistence::until_contact);
  if (!now.ok()) co_return std::move(now.failure());
  auto fields = core::from_record(now.value().value);
  if (!fields) fields.emplace();
  const auto last = fields->size() < 4 ? 0 : core::to_number<std::uint64_t>((*fields)[fields->size() - 4]).value_or(0);
  const std::string sequence = std::to_string(last + 1);
  fields->insert(fields->end(), {sequence, std::to_string(lead->token.value() >> 8U), to_string(lead->token), value});
  Result<spi::Registers::WriteAnswer> written =
      co_await core::write_if(caller, place, now.value().version, core::to_record(*fields));
  if (!written.ok()) co_return std::move(written.failure());
  co_return spi::Nothing{};
}

void run_election(Story& story) {
  static const LockName name("election");
  struct Term {
    Moment elected;
    Moment ended;
    std::uint64_t token;
  };
  struct Notes {
    std::vector<Term> terms = {};
    std::set<std::string> tried = {};
    std::uint64_t newest = 0;  ///< term of an acknowledged publication
  };
  auto notes = std::make_shared<Notes>();
  auto callers = std::make_shared<std::vector<std::weak_ptr<Caller>>>();
  LockOptions options;
  options.ttl = milliseconds(200);

  for (std::size_t at = 0; at < story.world.clients(); ++at) {
    OperationsClient& client = story.world.client(at);
    struct Heard {
      std::uint64_t term = 0;
      std::set<std::string> values = {};
      bool ended = false;  ///< it never reached the store
    };
    auto heard = std::make_shared<Heard>();
    story.then(client, milliseconds(1), [=, &story, &client] {
      callers->push_back(story.start(
          client, Duration::max(),
          [=, &story, &client](Caller& caller) {
            return core::observe(caller, name, [=, &story, &client](const Leader& leader) {
              if (client.dead()) return;
              if (leader.term.value() < heard->term)
                story.broken("an observer heard of an older term after a newer one");
              heard->term = leader.term.value();
              // A leadership that was lost while it was published is followed by another one with the same value.
              if (!heard->values.insert(to_string(leader.term) + leader.value).second) {
                story.broken("an observer heard something twice");
              }
              if (!notes->tried.contains(leader.value)) story.broken("an observer heard what nobody said");
            });
          },
          [=](const Result<>&) { heard->ended = true; }));
    });
    if (at == 0) {
      story.world.at(users_end + milliseconds(9500), [=, &story] {
        // One that could look for the first time when all had resigned hears of nobody.
        const bool looked_in_time = !heard->ended && heard->term > 0;
        if (looked_in_time && heard->term < notes->newest)
          story.broken("an acknowledged publication was overwritten by an older one");
      });
    }

    auto step = std::make_shared<std::function<void(int)>>();
    *step = [=, &story, &client, weak = step.get()](int left) {
      if (left == 0 || story.world.now() > users_end) return;
      const std::string value = std::to_string(at) + "/" + std::to_string(left);
      notes->tried.insert(value);
      const auto again = [=, &story, &client] {
        story.then(client, story.world.dice().between(milliseconds(1), milliseconds(100)), [=] { (*weak)(left - 1); });
      };
      story.start(
          client, milliseconds(600),
          [=](Caller& caller) { return core::campaign(caller, name, value, options, spi::WhenBusy::wait); },
          [=, &story, &client](Result<std::shared_ptr<core::HoldRecord>> elected) {
            if (!elected.ok()) return again();
            const std::shared_ptr<core::HoldRecord> lead = elected.value();
            const std::size_t index = notes->terms.size();
            const auto v = [&client, lead] { return client.loop().clock().when(lead->valid_until()); };
            notes->terms.push_back({story.world.now(), never, lead->token.value()});
            notes->newest = std::max(notes->newest, lead->token.value());
            const auto ends = [=, &story] {
              Term& term = notes->terms[index];
              if (term.ended == never) term.ended = std::min(story.world.now(), v());
            };
            story.on_death(client, [=] {
              if (notes->terms[index].ended == never) notes->terms[index].ended = v();
            });
            const std::string second = value + "+";
            notes->tried.insert(second);
            const auto publish = [=, &story, &client] {
              story.start(
                  client, milliseconds(400),
                  [=, &story](Caller& caller) {
                    return story.wrong.publishes_without_looking ? publish_without_looking(caller, name, lead, second)
                                                                 : core::publish(caller, name, lead, second);
                  },
                  [](const Result<>&) {});
            };
            const Duration leads = story.world.dice().between(milliseconds(5), milliseconds(150));
            if (story.world.dice().chance(500)) story.then(client, leads * 9 / 10, publish);
            story.then(client, leads, [=] {
              ends();
              if (lead->cell() != nullptr) lead->cell()->release(*lead);
              again();
            });
          });
    };
    story.keep(step);
    story.then(client, milliseconds(2), [step] { (*step)(6); });
    story.world.at(users_end + milliseconds(10000), [callers] {
      for (const auto& weak : *callers) {
        if (const auto caller = weak.lock()) caller->interrupt({Errc::cancelled});
      }
    });
  }
  story.finish();
  std::sort(notes->terms.begin(), notes->terms.end(),
            [](const Term& a, const Term& b) { return a.elected < b.elected; });
  for (std::size_t i = 1; i < notes->terms.size(); ++i) {
    const Term& before = notes->terms[i - 1];
    const Term& term = notes->terms[i];
    if (term.token <= before.token) story.broken("a later leader has no larger term");
    if (before.ended != never && term.elected < before.ended) story.broken("two led at the same time");
  }
}

// --- once -----------------------------------------------------------------------------------------------------------

void run_once(Story& story) {
  constexpr milliseconds period(300);
  constexpr milliseconds apart = period - core::slack_of(period) - milliseconds(1);  // they are kept in milliseconds
  static const LockName name("once");
  struct Success {
    core::WallTime started;
    Moment known;  ///< when it was acknowledged
    std::uint64_t token;
  };
  auto successes = std::make_shared<std::vector<Success>>();
  auto begun = std::make_shared<int>(0);
  auto doubts = std::make_shared<int>(0);
  LockOptions options;
  options.ttl = milliseconds(200);
  for (std::size_t at = 0; at < story.world.clients(); ++at) {
    OperationsClient& client = story.world.client(at);
    story.on_death(client, [doubts] { ++*doubts; });
    auto step = std::make_shared<std::function<void()>>();
    *step = [=, &story, &client, weak = step.get()] {
      if (story.world.now() > users_end) return;
      const auto again = [=, &story, &client] {
        story.then(client, story.world.dice().between(milliseconds(5), milliseconds(90)), [=] { (*weak)(); });
      };
      const Moment asked = story.world.now();
      core::Cell& cell = client.engine().cell(name);
      auto kept = std::make_shared<core::KeptCell>(cell);
      const milliseconds its_period = story.wrong.runs_without_looking ? milliseconds(0) : period;
      story.start(
          client, milliseconds(500),
          [=, &cell](Caller& caller) {
            return core::begin_run(caller, cell, its_period, milliseconds(0), options, spi::WhenBusy::wait);
          },
          [=, &story, &client](Result<std::optional<core::BegunRun>> answer) mutable {
            kept.reset();
            if (!answer.ok() || !answer.value()) return again();
            const core::BegunRun run = *answer.value();
            ++*begun;
            for (const Success& success : *successes) {
              if (success.known < asked && run.started < success.started + apart) {
                story.broken("a run began too soon after a successful one");
              }
            }
            const auto let_go = [=] {
              if (run.lock->cell() != nullptr) run.lock->cell()->release(*run.lock);
              again();
            };
            const Duration works = story.world.dice().between(milliseconds(1), milliseconds(60));
            if (story.world.dice().chance(300)) return story.then(client, works, let_go);  // it fails
            story.then(client, works, [=, &story, &client] {
              story.start(
                  client, milliseconds(500),
                  [=](Caller& caller) { return core::remember_success(caller, name, run, 7); },
                  [=, &story](const Result<>& written) {
                    if (written.ok()) successes->push_back({run.started, story.world.now(), run.lock->token.value()});
                    if (!written.ok()) ++*doubts;
                    let_go();
                  });
            });
          });
    };
    story.then(client, milliseconds(1), [step] { (*step)(); });
    story.keep(step);
  }
  if (!story.world.run_until_quiet()) story.broken("the runs go on for ever");
  OperationsClient& survivor = story.world.client(0);
  story.start(
      survivor, milliseconds(900), [](Caller& caller) { return core::last_run(caller, name); },
      [=, &story](const Result<std::optional<LastRun>>& last) {
        if (!last.ok()) return story.broken("the last run cannot be read");
        std::uint64_t newest = 0;
        for (const Success& success : *successes) newest = std::max(newest, success.token);
        const std::uint64_t remembered = last.value() ? last.value()->token.value() : 0;
        if (remembered < newest) story.broken("an acknowledged success was forgotten");
        if (remembered > newest && *doubts == 0) story.broken("a success that nobody had is remembered");
      });
  story.finish();
  for (const Success& one : *successes) {
    for (const Success& other : *successes) {
      if (other.token <= one.token) continue;
      if (other.started < one.started + apart) {
        story.broken("two successful runs in one period");
      }
    }
  }
  if (*begun == 0) story.broken("nobody ran");
}

// --- barrier --------------------------------------------------------------------------------------------------------

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

// --- campaigns ------------------------------------------------------------------------------------------------------

struct Primitive {
  std::string name;
  void (*run)(Story& story);
};

struct Outcome {
  Totals totals = {};
  std::uint64_t histories = 0;
  std::uint64_t seed = 0;
  std::string finding = {};
};

/// A tenth as many histories as the simulation of claims: each of these is for one primitive.
Outcome run_many(const Primitive& primitive, const Wrong& wrong) {
  const CampaignOptions options = CampaignOptions::from_environment();
  Outcome outcome;
  const std::uint64_t most = std::max<std::uint64_t>(options.histories / 10, 1);
  while (outcome.histories < most && outcome.finding.empty()) {
    outcome.seed = options.first_seed + outcome.histories++;
    Story story(outcome.seed, 4, wrong);
    primitive.run(story);
    outcome.totals.operations += story.totals.operations;
    outcome.totals.answered += story.totals.answered;
    outcome.totals.doubtful += story.totals.doubtful;
    outcome.totals.world.requests += story.world.counters.requests;
    outcome.totals.world.in_doubt += story.world.counters.in_doubt;
    outcome.totals.world.repeated += story.world.counters.repeated;
    outcome.totals.world.deaths += story.world.counters.deaths;
    outcome.totals.world.pauses += story.world.counters.pauses;
    if (!story.findings.empty()) outcome.finding = story.findings.front();
  }
  return outcome;
}

class Operations : public testing::TestWithParam<Primitive> {};

TEST_P(Operations, KeepEveryPromise) {
  const Outcome outcome = run_many(GetParam(), {});
  const Totals& totals = outcome.totals;
  std::cout << GetParam().name << ": " << outcome.histories << " histories, " << totals.operations << " operations ("
            << totals.answered << " succeeded), " << totals.world.requests << " requests (" << totals.world.in_doubt
            << " in doubt, " << totals.world.repeated << " repeated), " << totals.world.deaths << " deaths, "
            << totals.world.pauses << " pauses\n";
  ASSERT_EQ(outcome.finding, "") << "seed " << outcome.seed << ", history " << outcome.histories;
  if (outcome.histories < 20) return;
  EXPECT_GT(totals.answered, 0U);
  EXPECT_GT(totals.world.in_doubt, 0U);
  EXPECT_GT(totals.world.repeated, 0U);
  EXPECT_GT(totals.world.deaths, 0U);
}

const Primitive registers{"Registers", &run_registers};
const Primitive latch{"Latch", &run_latch};
const Primitive election{"Election", &run_election};
const Primitive once{"Once", &run_once};
const Primitive barrier{"Barrier", &run_barrier};

INSTANTIATE_TEST_SUITE_P(Simulation, Operations, testing::Values(registers, latch, election, once, barrier),
                         [](const auto& primitive) { return primitive.param.name; });

struct OperationsControl {
  std::string name;
  Primitive primitive;
  Wrong wrong;
};

class OperationsControls : public testing::TestWithParam<OperationsControl> {};

TEST_P(OperationsControls, AreCaughtWithinTheBudget) {
  const Outcome outcome = run_many(GetParam().primitive, GetParam().wrong);
  ASSERT_NE(outcome.finding, "") << outcome.histories << " histories, and nobody noticed";
  std::cout << GetParam().name << ": after " << outcome.histories << " histories: " << outcome.finding << '\n';
}

INSTANTIATE_TEST_SUITE_P(
    Simulation, OperationsControls,
    testing::Values(OperationsControl{"WriteIgnoresTheVersion", registers, {.store = {.ignores_version = true}}},
                    OperationsControl{"AddIsRepeated", registers, {.store = {.repeats_adds = true}}},
                    OperationsControl{"LatchCountsAgainWhenInDoubt", latch, {.latch_retries_doubt = true}},
                    OperationsControl{"LeaderPublishesWithoutLooking", election, {.publishes_without_looking = true}},
                    OperationsControl{"RunsWithoutLooking", once, {.runs_without_looking = true}},
                    OperationsControl{"BarrierCountsTheDead", barrier, {.store = {.lists_the_dead = true}}}),
    [](const auto& control) { return control.param.name; });

}  // namespace
}  // namespace holdfast::sim
