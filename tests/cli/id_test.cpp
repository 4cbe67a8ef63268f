#include <gmock/gmock.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/world.hpp"
#include "holdfast/ids/segment.hpp"

namespace holdfast::test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

class Id : public World {
 protected:
  Finished id(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "id");
    return run(tool(std::move(arguments)), with_store());
  }
  /// Runs it, which must succeed, and returns what it printed.
  std::string answer(std::vector<std::string> arguments) {
    const Finished finished = id(std::move(arguments));
    EXPECT_EQ(finished.code, 0) << finished.errors;
    EXPECT_EQ(finished.errors, "");
    return finished.output;
  }
  std::vector<std::string> lines(std::vector<std::string> arguments) {
    std::istringstream in(answer(std::move(arguments)));
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
  /// Runs it, which must fail and print nothing but a message with this text.
  void refuse(std::vector<std::string> arguments, int code, const std::string& text) {
    const Finished finished = id(std::move(arguments));
    EXPECT_EQ(finished.code, code) << finished.errors;
    EXPECT_THAT(finished.errors, HasSubstr(text));
    EXPECT_EQ(finished.output, "");
  }
};

TEST_F(Id, CountsByOne) {
  EXPECT_EQ(answer({"auto", "invoice"}), "1\n");
  EXPECT_EQ(answer({"auto", "invoice", "-n", "3"}), "2\n3\n4\n");
  EXPECT_EQ(answer({"segment", "invoice", "--count", "2"}), "5\n6\n") << "the same counter, and none is left out";
  EXPECT_EQ(answer({"auto", "other"}), "1\n");
  EXPECT_EQ(answer({"auto", "invoice", "--form", "base62"}), "00000000007\n");
  EXPECT_EQ(answer({"auto", "invoice", "--form", "hex"}), "0000000000000008\n");
}

TEST_F(Id, SharesItsCounterWithPrograms) {
  EXPECT_EQ(answer({"auto", "invoice"}), "1\n");
  Client client(url);
  ids::Segment segment(client, "invoice", {.min_step = 10, .max_step = 10});
  EXPECT_EQ(segment.next(), 2u);
  EXPECT_GT(std::stoull(answer({"auto", "invoice"})), 11u);
}

TEST_F(Id, WritesDates) {
  const auto ids = lines({"date", "order", "--prefix", "ORD-", "--digits", "6", "-n", "2500"});
  ASSERT_EQ(ids.size(), 2'500u);
  EXPECT_THAT(ids.front(), MatchesRegex("ORD-20[0-9][0-9][01][0-9][0-3][0-9]000001"));
  EXPECT_TRUE(std::ranges::is_sorted(ids));
  refuse({"date", "order"}, 69, "number of digits");
}

TEST_F(Id, WritesUuids) {
  EXPECT_THAT(answer({"uuid4"}), MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\n"));
  const auto rising = lines({"uuid7", "-n", "10000"});
  EXPECT_EQ(rising.size(), 10'000u);
  EXPECT_TRUE(std::ranges::is_sorted(rising));
  const Finished finished = run(tool({"id", "uuid7"}), {.environment = {"HOLDFAST_URL=nosuchstore:"}});
  EXPECT_EQ(finished.code, 0) << "it opens no store";
}

TEST_F(Id, WritesSnowflakesAndReadsThem) {
  const auto ids = lines({"snowflake", "orders", "-n", "5000"});
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 5'000u);
  const std::string parts = answer({"decode", ids.front()});
  EXPECT_THAT(parts, HasSubstr("kind:       snowflake\n"));
  EXPECT_THAT(parts, HasSubstr("time:       20"));
  const Json json = Json::parse(answer({"decode", ids.front(), "--json"}));
  EXPECT_EQ(json["id"], ids.front());
  EXPECT_LT(json["worker"].get<int>(), 1'024);
  const std::string text = lines({"snowflake", "orders", "--form", "crockford"}).front();
  EXPECT_EQ(Json::parse(answer({"decode", text, "--form", "crockford", "--json"}))["kind"], "snowflake");
  EXPECT_LT(std::stoull(answer({"snowflake", "small", "--layout", "js"})), std::uint64_t{1} << 53U);
  refuse({"snowflake", "orders", "--layout", "js"}, 64, "layout");
}

TEST_F(Id, ShowsWhoHasWhichWorkerNumber) {
  refuse({"workers", "orders"}, 75, "no snowflake has used the pool 'orders'");
  answer({"snowflake", "orders"});
  const std::string workers = answer({"workers", "orders"});
  EXPECT_THAT(workers, StartsWith("NUMBER  STATE"));
  EXPECT_THAT(workers, HasSubstr("given back"));
  EXPECT_THAT(workers, HasSubstr("0 of 1024 numbers are held"));
  const Json json = Json::parse(answer({"workers", "orders", "--json"}));
  EXPECT_EQ(json["pool"], "orders");
  EXPECT_EQ(json["workers"], 1'024);
  EXPECT_EQ(json["used"].size(), 1u);
  EXPECT_EQ(json["used"][0]["state"], "given back");
}

TEST_F(Id, ReadsUuids) {
  EXPECT_EQ(answer({"decode", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F"}),
            "kind:       uuid\nid:         017f22e2-79b0-7cc3-98c4-dc0c0c07398f\nversion:    7\n"
            "time:       2022-02-22T19:22:22.000Z\n");
  const Json json = Json::parse(answer({"decode", "919108f7-52d1-4320-9bac-f847db4148a8", "--json"}));
  EXPECT_EQ(json["version"], 4);
  EXPECT_FALSE(json.contains("time"));
}

TEST_F(Id, TakesNumbersFromSeveralStores) {
  const std::string stores = "sqlite:" + (folder / "a.db").string() + " sqlite:" + (folder / "b.db").string();
  refuse({"stepped", "ticket", "--stores", stores}, 69, "set_up");
  const auto first = lines({"stepped", "ticket", "--stores", stores, "--set-up", "-n", "3"});
  const auto second = lines({"stepped", "ticket", "--stores", stores, "-n", "3"});
  std::set<std::string> all(first.begin(), first.end());
  all.insert(second.begin(), second.end());
  EXPECT_EQ(all.size(), 6u);
  EXPECT_EQ(std::stoull(first[1]) - std::stoull(first[0]), 2u);
  refuse({"stepped", "ticket"}, 64, "--stores");
}

TEST_F(Id, IsJsonWithIdsAsTexts) {
  const Json json = Json::parse(answer({"auto", "invoice", "-n", "2", "--json"}));
  EXPECT_EQ(json["kind"], "auto");
  EXPECT_EQ(json["ids"], (std::vector<std::string>{"1", "2"}));
}

TEST_F(Id, PrintsAMillionInASecond) {
  const auto began = std::chrono::steady_clock::now();
  const Finished finished = id({"uuid7", "-n", "1000000"});
  const auto taken = std::chrono::steady_clock::now() - began;
  EXPECT_EQ(finished.output.size(), 37'000'000u);
  EXPECT_LT(taken, patience) << "the figure is in docs/tool.md; a sanitizer and a busy machine take longer";
}

TEST_F(Id, RefusesWhatMakesNoSense) {
  refuse({}, 64, "KIND");
  refuse({"auto"}, 64, "'holdfast id auto NAME'");
  refuse({"decode"}, 64, "'holdfast id decode ID'");
  refuse({"decode", "seven"}, 64, "'seven' is neither a UUID nor a number");
  refuse({"decode", "18446744073709551615"}, 64, "63 bits");
  refuse({"uuid4", "name"}, 64, "takes no name");
  refuse({"auto", "x", "--digits", "6"}, 64, "--digits is not for 'holdfast id auto'");
  refuse({"uuid4", "--form", "hex"}, 64, "--form");
  refuse({"plan", "-n", "5"}, 64, "--count");
  refuse({"auto", "x", "-n", "0"}, 64, "whole number");
  refuse({"snowflake", "x", "--layout", "64/0/0"}, 64, "layout");
  refuse({"auto", "x", "-u", "memory:"}, 78, "memory:");
}

TEST_F(Id, MeasuresItself) {
  const Finished finished = id({"bench", "--json"});
  EXPECT_EQ(finished.code, 0) << finished.errors;
  const Json json = Json::parse(finished.output);
  EXPECT_EQ(json["store"], "sqlite");
  for (const char* kind : {"uuid4", "uuid7", "segment_local", "segment", "snowflake", "auto", "date"}) {
    EXPECT_GT(json[kind]["per_second"].get<double>(), 0) << kind;
  }
}

}  // namespace
}  // namespace holdfast::test
