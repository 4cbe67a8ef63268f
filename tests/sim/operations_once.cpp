// Runs of a job that needs to succeed once per period.
#include <algorithm>

#include "core/operations/once_steps.hpp"
#include "sim/operations_story.hpp"

namespace holdfast::sim {

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

}  // namespace holdfast::sim
