// Counting down, and waiting for the end of it.
#include <set>

#include "core/operations/latch_steps.hpp"
#include "sim/operations_story.hpp"

namespace holdfast::sim {
namespace {

Operation<std::uint32_t> count_down_again_when_in_doubt(Caller& caller, LockName name, std::uint32_t count) {
  for (;;) {
    Result<std::uint32_t> left = co_await core::count_down(caller, name, count, 1);
    if (left.ok() || left.failure().code != Errc::in_doubt) co_return left;
  }
}

}  // namespace

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

}  // namespace holdfast::sim
