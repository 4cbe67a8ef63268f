// The point of it all: an unprotected counter in a file.
#include <gtest/gtest.h>

#include <fstream>

#include "cli/world.hpp"

namespace holdfast::test {
namespace {

class Counter : public World {
 protected:
  static constexpr int processes = 8;
  static constexpr int rounds = 20;

  Counter() { std::ofstream(folder / "counter") << "0\n"; }

  /// Eight loops side by side, each of which runs `prefix increment` twenty times; then the counter.
  int count(const std::string& prefix) {
    const std::string increment = "n=$(cat \"$1\"); sleep 0.001; echo $((n + 1)) >\"$1\"";
    const std::string loop = "for i in $(seq " + std::to_string(rounds) + "); do " + prefix + " sh -c '" + increment +
                             "' sh '" + (folder / "counter").string() + "' || exit 1; done";
    std::vector<std::unique_ptr<Process>> loops;
    for (int i = 0; i < processes; ++i) {
      loops.push_back(std::make_unique<Process>(std::vector<std::string>{"sh", "-c", loop}, with_store()));
    }
    for (const auto& each : loops) {
      const Finished finished = each->finish(std::chrono::seconds(60));
      EXPECT_EQ(finished.code, 0) << finished.errors;
    }
    return std::stoi(content("counter"));
  }
};

TEST_F(Counter, UnderRunMissesNoIncrement) {
  EXPECT_EQ(count("'" + tool({}).front() + "' run counter --"), processes * rounds);
}

TEST_F(Counter, ControlWithoutALockMissesSome) { EXPECT_LT(count(""), processes * rounds); }

}  // namespace
}  // namespace holdfast::test
