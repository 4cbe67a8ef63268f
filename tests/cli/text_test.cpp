#include <gtest/gtest.h>

#include "cli/exit_code.hpp"
#include "cli/look/json.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/text/output.hpp"
#include "cli/text/table.hpp"
#include "cli/text/time_text.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

TEST(TimeText, SaysDurationsAsPeopleDo) {
  EXPECT_EQ(human(-5s), "0s");
  EXPECT_EQ(human(0s), "0s");
  EXPECT_EQ(human(350ms), "350ms");
  EXPECT_EQ(human(1s), "1s");
  EXPECT_EQ(human(8234ms), "8.2s");
  EXPECT_EQ(human(59'999ms), "59s");
  EXPECT_EQ(human(60s), "1m");
  EXPECT_EQ(human(130s), "2m 10s");
  EXPECT_EQ(human(3h + 5min + 59s), "3h 5m");
  EXPECT_EQ(human(98h), "4d 2h");
}

TEST(TimeText, WritesTimesAsRfc3339Says) {
  EXPECT_EQ(rfc3339(std::chrono::system_clock::time_point(1'709'208'000'007ms)), "2024-02-29T12:00:00.007Z");
  EXPECT_EQ(rfc3339(std::chrono::system_clock::time_point(-1ms)), "1969-12-31T23:59:59.999Z");
}

TEST(Output, ShowsControlCharactersAsEscapes) {
  EXPECT_EQ(printable("plain/name 1"), "plain/name 1");
  EXPECT_EQ(printable("ümläut ☃"), "ümläut ☃");
  EXPECT_EQ(printable("a\nb\tc\x1b[31m\x7f"), "a\\nb\\tc\\x1b[31m\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");  // CSI as one character
  EXPECT_EQ(printable("broken \xff\xe2\x98"), "broken \\xff\\xe2\\x98");
}

TEST(Table, AlignsWhatIsNotAscii) {
  Table table({"NAME", "N"});
  table.add({"☃☃", "1"});
  table.add({"longer", "22"});
  EXPECT_EQ(table.text(), "NAME    N\n☃☃      1\nlonger  22\n");
}

TEST(LockText, MakesTheTokenFromTheStoresNumber) {
  EXPECT_EQ(to_string(token_of({.name = "x", .number = 3})), "768");
  EXPECT_EQ(mode_of({.name = "x"}), "free");
  EXPECT_EQ(mode_of({.name = "x", .holders = {{.mode = ClaimMode::shared}}}), "shared");
  EXPECT_EQ(mode_of({.name = "x", .waiters = {{.mode = ClaimMode::exclusive}}}), "exclusive");
}

TEST(Json, HoldsEveryField) {
  const LockStatus lock = {
      .name = "a\"b",
      .number = 1,
      .holders = {{.client = {.id = "c1", .host = "h", .pid = 7, .command = "cmd", .label = "l\xff"},
                   .reason = "why",
                   .since = std::chrono::system_clock::time_point(0s),
                   .lease_left = 1500ms}}};
  EXPECT_EQ(to_json(lock), R"({
  "name": "a\"b",
  "mode": "exclusive",
  "token": "256",
  "holders": [
    {
      "client": "c1",
      "host": "h",
      "pid": 7,
      "command": "cmd",
      "label": "l�",
      "reason": "why",
      "since": "1970-01-01T00:00:00.000Z",
      "ttl_ms": 1500
    }
  ],
  "waiters": []
}
)");
}

TEST(ExitCode, StandsForEachError) {
  EXPECT_EQ(exit_code_of(Errc::invalid_argument), 64);
  EXPECT_EQ(exit_code_of(Errc::unreachable), 69);
  EXPECT_EQ(exit_code_of(Errc::in_doubt), 69);
  EXPECT_EQ(exit_code_of(Errc::exhausted), 69);
  EXPECT_EQ(exit_code_of(Errc::store_failed), 69);
  EXPECT_EQ(exit_code_of(Errc::forked), 70);
  EXPECT_EQ(exit_code_of(Errc::busy), 75);
  EXPECT_EQ(exit_code_of(Errc::timed_out), 75);
  EXPECT_EQ(exit_code_of(Errc::access_denied), 77);
  EXPECT_EQ(exit_code_of(Errc::bad_url), 78);
  EXPECT_EQ(exit_code_of(Errc::unsupported), 78);
  EXPECT_EQ(exit_code_of(Errc::lost), 79);
}

}  // namespace
}  // namespace holdfast::cli
