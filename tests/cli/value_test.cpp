#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "cli/world.hpp"
#include "holdfast/register.hpp"

namespace holdfast::test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

class Value : public World {
 protected:
  Finished value(std::vector<std::string> arguments, const std::string& input = {}) {
    arguments.insert(arguments.begin(), "value");
    Start start = with_store();
    start.input = input;
    return run(tool(std::move(arguments)), start);
  }
  /// Runs it, which must succeed, and returns what it printed.
  std::string answer(std::vector<std::string> arguments, const std::string& input = {}) {
    const Finished finished = value(std::move(arguments), input);
    EXPECT_EQ(finished.code, 0) << finished.errors;
    EXPECT_EQ(finished.errors, "");
    return finished.output;
  }
  /// Runs it, which must fail and print nothing but a message with this text.
  void refuse(std::vector<std::string> arguments, int code, const std::string& text) {
    const Finished finished = value(std::move(arguments));
    EXPECT_EQ(finished.code, code) << finished.errors;
    EXPECT_THAT(finished.errors, HasSubstr(text));
    EXPECT_EQ(finished.output, "");
  }

  Client client{url};
  Register x{client, "x"};
};

TEST_F(Value, IsWrittenAndReadWithItsVersion) {
  EXPECT_EQ(answer({"get", "x"}), "value:      \nversion:    0\n");
  EXPECT_EQ(answer({"set", "x", "one"}), "value:      one\nversion:    1\n");
  EXPECT_EQ(answer({"set", "x", "[two,three]"}), "value:      [two,three]\nversion:    2\n");
  EXPECT_EQ(answer({"get", "x"}), "value:      [two,three]\nversion:    2\n");
  EXPECT_EQ(x.get().value, "[two,three]");
  EXPECT_EQ(answer({"set", "x", ""}), "value:      \nversion:    3\n");
}

TEST_F(Value, IsWrittenOnlyIfTheVersionIsTheExpectedOne) {
  refuse({"cas", "x", "1", "too early"}, 75, "the version of 'x' is 0, not 1");
  EXPECT_EQ(answer({"cas", "x", "0", "first"}), "value:      first\nversion:    1\n");
  refuse({"cas", "x", "0", "again"}, 75, "the version of 'x' is 1, not 0");
  EXPECT_EQ(x.get().value, "first");
  EXPECT_EQ(answer({"cas", "x", "1", "second"}), "value:      second\nversion:    2\n");
  refuse({"cas", "x", "-1", "v"}, 64, "'-1' is not a version");
  refuse({"cas", "x", "two", "v"}, 64, "'two' is not a version");
}

TEST_F(Value, CanBeAddedTo) {
  EXPECT_EQ(answer({"add", "x", "7"}), "value:      7\nversion:    1\n");
  EXPECT_EQ(answer({"add", "x", "-9"}), "value:      -2\nversion:    2\n");
  EXPECT_EQ(answer({"add", "--", "x", "-9"}), "value:      -11\nversion:    3\n");
  refuse({"add", "x", "1.5"}, 64, "'1.5' is not a whole number");
  refuse({"add", "x", "-"}, 64, "'-' is not a whole number");
  refuse({"add", "x", "9223372036854775808"}, 64, "64 bits");
}

TEST_F(Value, IsLeftAloneIfItCannotBeAddedTo) {
  x.set("many\n");
  refuse({"add", "x", "1"}, 64, "'many\\n', is not a whole number");
  x.set("");
  refuse({"add", "x", "1"}, 64, "'', is not a whole number");
  x.set(std::to_string(std::numeric_limits<std::int64_t>::max()));
  refuse({"add", "x", "1"}, 64, "does not fit");
  EXPECT_EQ(x.get().version, 3U);
  EXPECT_EQ(answer({"add", "x", "-1", "--raw"}), "9223372036854775806");
}

TEST_F(Value, IsAddedToByManyAtOnceAndNothingIsMissed) {
  std::vector<std::unique_ptr<Process>> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(std::make_unique<Process>(
        std::vector<std::string>{"sh", "-c", "for i in 1 2 3 4 5; do \"$0\" value add x 3 || exit; done",
                                 tool({}).front()},
        with_store()));
  }
  for (const auto& process : all) EXPECT_EQ(process->finish().code, 0);
  EXPECT_EQ(x.get().value, "60");
  EXPECT_EQ(x.get().version, 20U);
}

TEST_F(Value, IsShownSafelyOrByteByByte) {
  const std::string bytes("a\0b\x1b[31m\xff\n", 10);
  EXPECT_EQ(answer({"set", "x", "-"}, bytes), "value:      a\\x00b\\x1b[31m\\xff\\n\nversion:    1\n");
  EXPECT_EQ(x.get().value, bytes);
  EXPECT_EQ(answer({"get", "x", "--raw"}), bytes);
  const Json json = Json::parse(answer({"get", "x", "--json"}));
  EXPECT_EQ(json, (Json{{"name", "x"}, {"value", std::string("a\0b\x1b[31m\xef\xbf\xbd\n", 12)}, {"version", 1}}));
}

TEST_F(Value, IsReadFromStandardInputToItsEnd) {
  const std::string large(300'000, 'v');
  EXPECT_EQ(answer({"cas", "x", "0", "-", "--raw"}, large), large);
  EXPECT_EQ(answer({"set", "x", "-", "--json"}), "{\n  \"name\": \"x\",\n  \"value\": \"\",\n  \"version\": 2\n}\n");
}

TEST_F(Value, ThatIsTooLargeIsRefused) {
  const std::size_t most = client.traits().max_value_bytes;
  const Finished finished = value({"set", "x", "-"}, std::string(most + 2, 'v'));
  EXPECT_EQ(finished.code, 64);
  EXPECT_THAT(finished.errors, HasSubstr(std::to_string(most)));
  EXPECT_EQ(x.get().version, 0U);
  EXPECT_EQ(value({"set", "x", "-", "--json"}, std::string(most, 'v')).code, 0);
}

TEST_F(Value, IsAwaited) {
  x.set("one");
  Process waiter(tool({"value", "get", "x", "--after", "1", "--raw"}), with_store());
  EXPECT_EQ(answer({"get", "x", "--raw"}), "one");
  EXPECT_TRUE(waiter.running());
  x.set("two");
  EXPECT_EQ(waiter.finish().output, "two");
  EXPECT_EQ(answer({"get", "x", "--after", "1", "--wait", "1h", "--raw"}), "two") << "at once if it is there already";
}

TEST_F(Value, IsAwaitedUntilItsVersionIsLarger) {
  x.set("one");
  Process waiter(tool({"value", "get", "x", "--after", "4", "--wait", "1h", "--raw"}), with_store());
  for (const char* text : {"two", "three", "four", "five"}) x.set(text);
  EXPECT_EQ(waiter.finish().output, "five");
}

TEST_F(Value, IsNotAwaitedForEver) {
  x.set("one");
  refuse({"get", "x", "--after", "1", "--wait", "50ms"}, 75, "the version of 'x' is still 1 after 50ms");
  refuse({"get", "x", "--after", "7", "--wait", "0s"}, 75, "still 1");
}

TEST_F(Value, IsToBeReadWhenAWriteIsInDoubt) {
  x.set("one");
  std::vector<std::string> words = {
      "strace", "-f", "-o", "/dev/null", "-e", "trace=fdatasync", "-e", "inject=fdatasync:delay_enter=3000000:when=1"};
  for (const std::string& word : tool({"value", "set", "x", "two"})) words.push_back(word);
  Start start = with_store();
  start.environment.emplace_back("ASAN_OPTIONS=detect_leaks=0");  // which cannot be done to a traced process
  const Finished finished = run(words, start);
  EXPECT_EQ(finished.code, 69) << finished.errors;
  EXPECT_THAT(finished.errors, HasSubstr("'holdfast value get x'"));
  EXPECT_EQ(finished.output, "");
}

TEST_F(Value, HasFormsThatAreChecked) {
  refuse({}, 64, "ACTION");
  refuse({"put", "x"}, 64, "get, set, cas, add");
  refuse({"get"}, 64, "NAME");
  refuse({"get", "x", "y"}, 64, "'holdfast value get NAME'");
  refuse({"set", "x"}, 64, "'holdfast value set NAME VALUE'");
  refuse({"set", "x", "y", "z"}, 64, "'holdfast value set NAME VALUE'");
  refuse({"cas", "x", "1"}, 64, "'holdfast value cas NAME VERSION VALUE'");
  refuse({"add", "x"}, 64, "'holdfast value add NAME AMOUNT'");
  refuse({"add", "x", "1", "2"}, 64, "'holdfast value add NAME AMOUNT'");
  refuse({"set", "x", "y", "--after", "1"}, 64, "--after");
  refuse({"get", "x", "--wait", "1s"}, 64, "--after");
  refuse({"get", "x", "--after", "one"}, 64, "'one' is not a version");
  refuse({"get", "x", "--after", ""}, 64, "'' is not a version");
  refuse({"get", "x", "--json", "--raw"}, 64, "--json");
  EXPECT_EQ(x.get().version, 0U);
}

}  // namespace
}  // namespace holdfast::test
