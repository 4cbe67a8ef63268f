#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/exit_code.hpp"
#include "cli/look/json.hpp"
#include "cli/look/lock_row.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/text/answer_json.hpp"
#include "cli/text/output.hpp"
#include "cli/text/table.hpp"
#include "cli/text/time_text.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

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
  EXPECT_EQ(printable("\u009b31m"), "\\u009b31m");  // CSI as one character
}

/// `exe.txt` that looks like `txt.exe`, a name in two lines, two names that look the same.
TEST(Output, ShowsWhatMisleadsReadersAsEscapes) {
  EXPECT_EQ(printable("a\u202etxt.exe"), "a\\u202etxt.exe");
  for (const char* text : {"\u061c", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c", "\u202d", "\u2066", "\u2067",
                           "\u2068", "\u2069", "\u2028", "\u2029", "\u200b", "\ufeff", "\U000e0041"}) {
    EXPECT_EQ(printable(text).front(), '\\') << text;
  }
  EXPECT_EQ(printable("\U000e0041"), "\\U000e0041");
  EXPECT_EQ(printable("שלום مرحبا नमस्ते e\u0301 👩\u200d💻"), "שלום مرحبا नमस्ते e\u0301 👩\u200d💻")
      << "honest writing is left alone";
}

TEST(Output, ShowsWhatIsNotUtf8AsEscapes) {
  EXPECT_EQ(printable("broken \xff\xe2\x98"), "broken \\xff\\xe2\\x98");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf") << "overlong";
  EXPECT_EQ(printable("\xf0\x82\x82\xac"), "\\xf0\\x82\\x82\\xac") << "overlong";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
  EXPECT_EQ(printable("\xed\x9f\xbf\xf4\x8f\xbf\xbd"), "\xed\x9f\xbf\xf4\x8f\xbf\xbd");
}

TEST(Output, CountsTheColumnsThatATerminalGives) {
  EXPECT_EQ(width(""), 0U);
  EXPECT_EQ(width("abc"), 3U);
  EXPECT_EQ(width("ümläut ☃"), 8U);
  EXPECT_EQ(width("日本語"), 6U);
  EXPECT_EQ(width("한국"), 4U);
  EXPECT_EQ(width("🚀"), 2U);
  EXPECT_EQ(width("e\u0301"), 1U) << "a mark that combines";
  EXPECT_EQ(width("नमस्ते"), 4U);
  EXPECT_EQ(width("ＡＢ"), 4U) << "full width";
}

TEST(Table, AlignsWhatIsNotAscii) {
  Table table({"NAME", "N"});
  table.add({"☃☃", "1"});
  table.add({"longer", "22"});
  EXPECT_EQ(table.text(), "NAME    N\n☃☃      1\nlonger  22\n");
}

TEST(Table, AlignsWideCharactersAndEmoji) {
  Table table({"NAME", "N"});
  table.add({"日本語", "1"});
  table.add({"🚀", "2"});
  table.add({"longer", "3"});
  EXPECT_EQ(table.text(), "NAME    N\n日本語  1\n🚀      2\nlonger  3\n");
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

/// Valid JSON all the same, and what a program reads from it is what was written.
TEST(Json, EscapesWhatHarmsTerminalsAndMisleadsReaders) {
  const std::string name = "a\u202etxt\u009b31m\u007f\u2028\ufeff\U000e0041 \u05e9 é";
  const std::string escaped = R"(a\u202etxt\u009b31m\u007f\u2028\ufeff\udb40\udc41 )"
                              "\u05e9 é";
  LockStatus lock{.name = name, .holders = {{.client = {.id = "c1", .label = "\u2066"}}}};
  EXPECT_THAT(to_json(lock), HasSubstr("\"name\": \"" + escaped + "\",\n"));
  EXPECT_THAT(to_json(lock), HasSubstr(R"("label": "\u2066")"));
  EXPECT_EQ(nlohmann::json::parse(to_json(lock))["name"], name);
  EXPECT_THAT(to_json({lock}), HasSubstr(escaped));
  EXPECT_THAT(to_json({.name = name}, std::chrono::system_clock::time_point()), HasSubstr(escaped));
  EXPECT_THAT(to_json(LockName("x"), Versioned{.value = name, .version = 1}), HasSubstr(escaped));
  EXPECT_THAT(to_json(LockName("x"), Leader{.value = name}), HasSubstr(escaped));
}

/// As of those who took the lock by another library.
TEST(LockRow, SaysNothingOfSinceWhenAnUnknownHolderHoldsIt) {
  const LockRow row = row_of({.name = "x", .holders = {{.lease_left = 8s}}}, std::chrono::system_clock::now());
  EXPECT_EQ(row.holder, "(unknown)");
  EXPECT_EQ(row.age, "-");
  EXPECT_EQ(row.since(), "-");
  EXPECT_EQ(row.ttl, "8s");
}

TEST(LockRow, SaysHowLongTheFirstHolderHasHeldIt) {
  const auto now = std::chrono::system_clock::now();
  const LockRow row = row_of({.name = "x", .holders = {{.client = {.id = "c1"}, .since = now - 130s}}}, now);
  EXPECT_EQ(row.age, "2m 10s");
  EXPECT_EQ(row.since(), "2m 10s ago");
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
