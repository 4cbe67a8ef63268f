// All stores obey the same rules, so the same steps lead to the same answers: each store against the first one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "spi/player.hpp"
#include "spi/stores.hpp"

namespace holdfast::spi_suite {
namespace {

/// HOLDFAST_SPI_SEED plays another script than usual.
std::uint64_t seed_or(std::uint64_t usual) {
  const char* const text = std::getenv("HOLDFAST_SPI_SEED");
  return text == nullptr ? usual : std::stoull(text);
}

/// What happened last, for whoever reads a failure.
class Trail {
 public:
  explicit Trail(std::uint64_t seed) : seed_(seed) {}
  void add(const Step& step, const std::string& outcome) {
    lines_.push_back(step.describe() + " -> " + outcome);
    ++outcomes_[outcome.substr(0, outcome.find(' '))];
  }
  /// How many outcomes began with this word.
  int count(const std::string& word) const { return outcomes_.contains(word) ? outcomes_.at(word) : 0; }
  std::string text() const {
    constexpr std::size_t last = 20;
    std::string text = "HOLDFAST_SPI_SEED=" + std::to_string(seed_) + ", the last steps:\n";
    for (std::size_t i = lines_.size() - std::min(lines_.size(), last); i < lines_.size(); ++i) {
      text += std::to_string(i) + " " + lines_[i] + "\n";
    }
    return text;
  }

 private:
  const std::uint64_t seed_;
  std::vector<std::string> lines_;
  std::map<std::string, int> outcomes_;
};

/// A request that a busy machine did not answer in time: what it did is unknown, so the script must be played again.
bool was_too_late(const std::string& outcome) {
  const std::array codes = {make_error_code(Errc::in_doubt), make_error_code(Errc::unreachable)};
  return std::ranges::any_of(codes, [&](const std::error_code& code) { return outcome.ends_with(code.message()); });
}

bool tells_standings(const Step& step) {
  return step.kind == Step::Kind::acquire || step.kind == Step::Kind::renew || step.kind == Step::Kind::downgrade;
}
bool has_failed(const std::string& outcome) { return outcome.starts_with("failed"); }

class Differential : public testing::TestWithParam<const FixtureKind*> {
 protected:
  static const Capabilities& can() { return GetParam()->capabilities; }
  static bool has_sessions() { return !can().fixed_leases; }

  enum class Played { whole, too_late };

  /// Plays a script on fresh stores until every request was answered in time.
  void play(const std::function<void(Player& model, Player& player, Played& played)>& script) {
    constexpr int attempts = 20;
    const auto numbers = has_sessions() ? Player::Numbers::on_joining : Player::Numbers::on_granting;
    for (int attempt = 0; attempt < attempts; ++attempt) {
      const std::unique_ptr<test::Fixture> fresh_model = test::fixture_kind("memory").make();
      const std::unique_ptr<test::Fixture> fresh_store = GetParam()->make();
      Player model(fresh_model->url(), numbers);
      Player player(fresh_store->url(), numbers);
      Played played = Played::whole;
      script(model, player, played);
      if (played == Played::whole || HasFailure()) return;
    }
    ADD_FAILURE() << attempts << " times in a row, a request was not answered in time";
  }
};

TEST_P(Differential, StepByStepNothingDiffers) {
  const std::uint64_t seed = seed_or(20260101);
  play([&](Player& model, Player& player, Played& played) {
    Trail trail(seed);
    for (Step& step : random_script(seed, static_cast<std::size_t>(can().steps))) {
      if (!can().lock_delay) step.options.lock_delay = 0ms;
      const std::string expected = model.play(step);
      const std::string outcome = player.play(step);
      trail.add(step, outcome);
      if (outcome != expected && was_too_late(outcome)) {
        played = Played::too_late;
        return;
      }
      ASSERT_EQ(outcome, expected) << trail.text();
      ASSERT_EQ(player.state(), model.state()) << trail.text();
      ASSERT_FALSE(HasFailure()) << trail.text();
    }
    EXPECT_THAT(model.not_told(), testing::IsEmpty());
    EXPECT_THAT(player.not_told(), testing::IsEmpty()) << trail.text();
    // A script in which little happens shows little.
    for (const char* outcome : {"granted,", "waiting", "absent", "failed:", "1", "0"}) {
      EXPECT_GT(trail.count(outcome), can().steps / 60) << outcome;
    }
    EXPECT_GT(player.turns_that_came(), static_cast<std::size_t>(can().steps / 30));
    EXPECT_GT(player.told_of_their_grants(), 0.9) << "hints are for the few whose connection broke";
  });
}

class DifferentialInOneGo : public Differential {
 protected:
  /// How many steps go at once. All of them must be answered within a second: fewer where each takes several requests.
  std::size_t length() const { return has_sessions() ? 25 : 100; }

  /// Steps of one client that can be begun without waiting for the answers of others.
  std::vector<Step> script_of(std::uint64_t seed) const {
    std::vector<Step> script = random_script(seed, length());
    // Registers are written on another way than claims are, and so in an order of their own; and a listing may take
    // several steps, between which other requests are executed.
    std::erase_if(script, [](const Step& step) { return step.kind >= Step::Kind::list; });
    // What comes before the first claim may open another session than that one needs.
    script.erase(script.begin(), std::ranges::find_if(script, [](const Step& step) {
                   return step.kind == Step::Kind::acquire && step.options.lease > 0ms;
                 }));
    for (Step& step : script) {
      step.client = 0;
      if (!can().lock_delay) step.options.lock_delay = 0ms;
    }
    return script;
  }
};

/// Many steps of one client at once, on a store that has yet to be opened: it may execute them as one.
TEST_P(DifferentialInOneGo, NothingDiffers) {
  for (std::uint64_t seed = seed_or(1), last = seed + 1500 / length(); seed < last && !HasFailure(); ++seed) {
    const std::vector<Step> script = script_of(seed);
    play([&](Player& model, Player& player, Played& played) {
      Trail trail(seed);
      std::vector<std::function<std::string()>> expected;
      std::vector<std::function<std::string()>> outcomes;
      for (const Step& step : script) {
        expected.push_back(model.begin(step));
        outcomes.push_back(player.begin(step));
      }
      for (std::size_t i = 0; i < script.size(); ++i) {
        const std::string outcome = outcomes[i]();
        trail.add(script[i], outcome);
        const std::string should_be = expected[i]();
        ASSERT_FALSE(HasFailure()) << trail.text();
        if (was_too_late(outcome)) played = Played::too_late;
        if (played == Played::too_late) continue;  // all must be answered before the players go
        // Where a client finds out for itself whose turn it is, its answer may tell already what followed.
        const bool may_differ = has_sessions() && tells_standings(script[i]) && !has_failed(should_be);
        if (may_differ) {
          ASSERT_FALSE(has_failed(outcome)) << trail.text();
        } else {
          ASSERT_EQ(outcome, should_be) << trail.text();
        }
      }
      if (played == Played::too_late) return;
      ASSERT_EQ(player.state(), model.state()) << trail.text();
      ASSERT_THAT(player.not_told(), testing::IsEmpty()) << trail.text();
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Store, Differential, testing::ValuesIn(line_stores()), test::name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, DifferentialInOneGo, testing::ValuesIn(line_stores()), test::name_of_store);

}  // namespace
}  // namespace holdfast::spi_suite
