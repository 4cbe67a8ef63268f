// Campaigns, publications and observers of one election.
#include <algorithm>
#include <set>

#include "core/operations/election_steps.hpp"
#include "core/operations/fields.hpp"
#include "core/operations/parts.hpp"
#include "core/operations/store_requests.hpp"
#include "sim/operations_story.hpp"
#include "spi/part_name.hpp"

namespace holdfast::sim {
namespace {

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

}  // namespace

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

}  // namespace holdfast::sim
