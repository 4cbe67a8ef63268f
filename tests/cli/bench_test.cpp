#include <gmock/gmock.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "cli/bench/figures.hpp"
#include "cli/bench/latency_histogram.hpp"
#include "cli/world.hpp"
#include "holdfast/client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using cli::LatencyHistogram;
using Json = nlohmann::json;
using testing::HasSubstr;
using testing::MatchesRegex;

TEST(LatencyHistogram, FindsPercentilesExactlyWhereNumbersAreSmall) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.percentile(50), 0ns);
  for (int i = 100; i >= 1; --i) histogram.add(std::chrono::nanoseconds(i));
  EXPECT_EQ(histogram.count(), 100U);
  EXPECT_EQ(histogram.percentile(1), 1ns);
  EXPECT_EQ(histogram.percentile(50), 50ns);
  EXPECT_EQ(histogram.percentile(99), 99ns);
  EXPECT_EQ(histogram.percentile(99.1), 100ns);
  EXPECT_EQ(histogram.percentile(100), 100ns);
  EXPECT_EQ(histogram.percentile(0.1), 1ns);
}

TEST(LatencyHistogram, IsRightToOnePercentEverywhere) {
  for (std::int64_t number = 1; number < (std::int64_t{1} << 61); number += number / 16 + 1) {
    LatencyHistogram histogram;
    histogram.add(std::chrono::nanoseconds(number));
    const auto found = static_cast<double>(histogram.percentile(50).count());
    ASSERT_NEAR(found / static_cast<double>(number), 1.0, 0.01) << number;
  }
  LatencyHistogram largest;
  largest.add(std::chrono::nanoseconds::max());
  EXPECT_GT(largest.percentile(50), std::chrono::nanoseconds::max() / 100 * 99);
}

TEST(LatencyHistogram, IsPutTogetherFromSeveral) {
  LatencyHistogram all;
  LatencyHistogram slow;
  for (int i = 0; i < 90; ++i) all.add(10ns);
  for (int i = 0; i < 10; ++i) slow.add(100ns);
  all.add(slow);
  EXPECT_EQ(all.count(), 100U);
  EXPECT_EQ(all.percentile(90), 10ns);
  EXPECT_EQ(all.percentile(91), 100ns);
}

TEST(BenchFigures, AreWrittenAsPeopleReadThem) {
  EXPECT_EQ(cli::short_time(0ns), "0ns");
  EXPECT_EQ(cli::short_time(850ns), "850ns");
  EXPECT_EQ(cli::short_time(999ns), "999ns");
  EXPECT_EQ(cli::short_time(1000ns), "1.00us");
  EXPECT_EQ(cli::short_time(7849ns), "7.85us");
  EXPECT_EQ(cli::short_time(9996ns), "10.0us");
  EXPECT_EQ(cli::short_time(12'345us), "12.3ms");
  EXPECT_EQ(cli::short_time(123'456us), "123ms");
  EXPECT_EQ(cli::short_time(999'900us), "1.00s");
  EXPECT_EQ(cli::short_time(2000s), "2000s");
  EXPECT_EQ(cli::grouped(0), "0");
  EXPECT_EQ(cli::grouped(999), "999");
  EXPECT_EQ(cli::grouped(1000), "1,000");
  EXPECT_EQ(cli::grouped(1'234'567), "1,234,567");
}

TEST(BenchFigures, AreATable) {
  EXPECT_EQ(cli::table_of({{.id = "a", .title = "one", .count = 5, .per_second = 1234.4, .p50 = 5us, .p99 = 2ms},
                           {.id = "b", .title = "none at all"}}),
            "WHAT         PER SECOND  HALF TAKE UP TO  99% TAKE UP TO\n"
            "one          1,234       5.00us           2.00ms\n"
            "none at all  0           -                -\n");
}

class Bench : public World {
 protected:
  /// How many locks of the benchmark somebody holds or wants.
  std::size_t locks() const { return Client(url).list("holdfast-bench-").size(); }
};

TEST_F(Bench, MeasuresAndLeavesNothingBehind) {
  const Finished finished = run(tool({"bench", "--seconds", "2", "--json"}), with_store());
  ASSERT_EQ(finished.code, 0) << finished.errors;
  EXPECT_THAT(finished.errors, HasSubstr("load"));
  const Json json = Json::parse(finished.output);
  EXPECT_EQ(json["store"], "sqlite");
  for (const char* id : {"pair", "pairs_8_threads", "hand_off", "refused_try"}) {
    EXPECT_GT(json[id]["count"], 0) << id;
    EXPECT_GT(json[id]["per_second"], 0) << id;
    EXPECT_GT(json[id]["p50_ns"], 0) << id;
    EXPECT_GE(json[id]["p99_ns"], json[id]["p50_ns"]) << id;
  }
  EXPECT_EQ(locks(), 0U);
}

TEST_F(Bench, PrintsATable) {
  const Finished finished = run(tool({"bench", "--seconds", "1", "-u", "memory:"}));
  EXPECT_EQ(finished.code, 0) << finished.errors;
  EXPECT_THAT(finished.output, MatchesRegex("WHAT .*\nacquire and release, one thread .*\n.*\nhand-off .*\ntry .*\n"));
}

TEST_F(Bench, GivesEverythingBackWhenItIsInterrupted) {
  Process bench(tool({"bench", "--seconds", "60"}), with_store());
  ASSERT_TRUE(eventually([&] { return locks() > 0; }));
  bench.signal(SIGINT);
  const Finished finished = bench.finish();
  EXPECT_EQ(finished.code, 130) << finished.errors;
  EXPECT_EQ(finished.output, "");
  EXPECT_EQ(locks(), 0U);
}

TEST_F(Bench, SaysWhatIsWrong) {
  EXPECT_EQ(run(tool({"bench", "--seconds", "0"}), with_store()).code, 64);
  EXPECT_EQ(run(tool({"bench", "-u", "nosuchstore:"})).code, 78);
}

}  // namespace
}  // namespace holdfast::test
