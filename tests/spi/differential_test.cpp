// All stores obey the same rules, so the same steps lead to the same answers: each store against the first one.

#include <gtest/gtest.h>

#include <algorithm>
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

class Differential : public testing::TestWithParam<StoreKind> {
 protected:
  const FreshStore model_ = store_kinds().front().make();
  const FreshStore store_ = GetParam().make();
};

TEST_P(Differential, StepByStepNothingDiffers) {
  const std::uint64_t seed = seed_or(20260101);
  Trail trail(seed);
  const auto numbers = GetParam().sessions ? Player::Numbers::on_joining : Player::Numbers::on_granting;
  Player model(model_.url, numbers);
  Player player(store_.url, numbers);
  for (Step& step : random_script(seed, static_cast<std::size_t>(GetParam().steps))) {
    if (!GetParam().lock_delay) step.wish.lock_delay = 0ms;
    const std::string expected = model.play(step);
    const std::string outcome = player.play(step);
    trail.add(step, outcome);
    ASSERT_EQ(outcome, expected) << trail.text();
    ASSERT_EQ(player.state(), model.state()) << trail.text();
    ASSERT_FALSE(HasFailure()) << trail.text();
  }
  EXPECT_TRUE(model.all_were_told());
  EXPECT_TRUE(player.all_were_told()) << trail.text();
  // A script in which little happens shows little.
  for (const char* outcome : {"granted,", "waiting", "absent", "failed:", "1", "0"}) {
    EXPECT_GT(trail.count(outcome), GetParam().steps / 60) << outcome;
  }
  EXPECT_GT(player.pushes(), static_cast<std::size_t>(GetParam().steps / 30));
}

bool tells_standings(const Step& step) {
  return step.kind == Step::Kind::acquire || step.kind == Step::Kind::renew || step.kind == Step::Kind::downgrade;
}
bool has_failed(const std::string& outcome) { return outcome.starts_with("failed"); }

class DifferentialInOneGo : public Differential {};

/// Many steps of one client at once, on a store that has yet to be opened: it may execute them as one.
TEST_P(DifferentialInOneGo, NothingDiffers) {
  for (std::uint64_t seed = seed_or(1), last = seed + 15; seed < last; ++seed) {
    Trail trail(seed);
    const FreshStore fresh_model = store_kinds().front().make();
    const FreshStore fresh_store = GetParam().make();
    const auto numbers = GetParam().sessions ? Player::Numbers::on_joining : Player::Numbers::on_granting;
    Player model(fresh_model.url, numbers);
    Player player(fresh_store.url, numbers);
    std::vector<Step> script = random_script(seed, 100);
    // Registers are written on another way than claims are, and so in an order of their own; and a listing may take
    // several steps, between which other requests are executed.
    std::erase_if(script, [](const Step& step) { return step.kind >= Step::Kind::list; });
    // What comes before the first claim may open another session than that one needs.
    script.erase(script.begin(), std::ranges::find_if(script, [](const Step& step) {
                   return step.kind == Step::Kind::acquire && step.wish.lease > 0ms;
                 }));
    std::vector<std::function<std::string()>> expected;
    std::vector<std::function<std::string()>> outcomes;
    for (Step& step : script) {
      step.client = 0;
      if (!GetParam().lock_delay) step.wish.lock_delay = 0ms;
      expected.push_back(model.begin(step));
      outcomes.push_back(player.begin(step));
    }
    for (std::size_t i = 0; i < script.size(); ++i) {
      const std::string outcome = outcomes[i]();
      trail.add(script[i], outcome);
      const std::string should_be = expected[i]();
      ASSERT_FALSE(HasFailure()) << trail.text();
      // Where a client finds out for itself whose turn it is, its answer may tell already what followed.
      const bool may_differ = GetParam().sessions && tells_standings(script[i]) && !has_failed(should_be);
      if (may_differ) {
        ASSERT_FALSE(has_failed(outcome)) << trail.text();
      } else {
        ASSERT_EQ(outcome, should_be) << trail.text();
      }
    }
    ASSERT_EQ(player.state(), model.state()) << trail.text();
    ASSERT_TRUE(player.all_were_told()) << trail.text();
  }
}

INSTANTIATE_TEST_SUITE_P(Store, Differential, testing::ValuesIn(store_kinds()), name_of);
INSTANTIATE_TEST_SUITE_P(Store, DifferentialInOneGo, testing::ValuesIn(store_kinds()), name_of);

}  // namespace
}  // namespace holdfast::spi_suite
