// Reads, conditional writes, additions and waits for a change of one register.
#include <map>
#include <set>

#include "core/operations/store_requests.hpp"
#include "sim/operations_story.hpp"

namespace holdfast::sim {

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

}  // namespace holdfast::sim
