// Any text is a name, and no name is another.

#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <locale>
#include <string>
#include <vector>

#include "conformance/fixture.hpp"

namespace holdfast::conformance {
namespace {

using namespace std::string_literals;

std::string repeated(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

/// Names that some store, sooner or later, has taken for something else.
const std::vector<std::string>& odd_names() {
  static const std::vector<std::string> names = {
      // prefixes of each other
      "a", "a/", "a//", "a/b", "a0", "ab", "a ", " a", "a.", "a%",
      // letter case and what locales make of it
      "A", "AB", "i", "I", "\u0130", "\u0131", "\u00df", "ss", "SS",
      // composed, decomposed
      "\u00e9", "e\u0301",
      // paths
      "/", "//", ".", "..", "../a", "zookeeper", "lock",
      // hash tags and patterns
      "{", "}", "{}", "{a}", "{a}b", "a{b}c", "}{", "*", "?", "[a]", "[", "\\", "a*", "a?",
      // quoting
      "' ; -- \" \\ %_ $1", "\\'", "'", "\"", "`", "a'); DROP TABLE locks; --", "${HOME}", "$(id)",
      // protocols
      "\r\n", "\r\n$5\r\nhello", "\n", "\t", "*1\r\n$8\r\nFLUSHALL\r\n", " ",
      // encodings of encodings
      "%", "%%", "%2F", "%2f", "%2E", "%00", "&amp;", "<b>", "&lt;b&gt;", "a:b", "a::b",
      // control and special characters
      "\x01", "\x1f", "\x7f", "\u0080", "\u009f", "\u202e", "\ufeff", "\ufffe", "\uffff", "\ufff0", "\ue000",
      "\U0001f512", "\U0010ffff", "\x1b[31mred",
      // as long as can be
      repeated("x", 512), repeated("x", 511) + "y", repeated("\U0001f512", 128), repeated("/", 512), repeated("%", 512),
      repeated("'", 512)};
  return names;
}

// M50, M51: each of them is a lock of its own, found under its own name.
TEST_P(MutexConformance, EveryNameIsALockOfItsOwn) {
  Client client = open();
  Client other = open();
  std::vector<Hold> holds;
  for (const std::string& name : odd_names()) {
    auto hold = Mutex(client, name).try_acquire();
    ASSERT_TRUE(hold) << testing::PrintToString(name);
    EXPECT_EQ(hold->name().text(), name);
    holds.push_back(std::move(*hold));
  }
  for (const std::string& name : odd_names()) {
    EXPECT_FALSE(Mutex(other, name).try_acquire()) << testing::PrintToString(name);
    const auto status = other.show(name);
    ASSERT_TRUE(status) << testing::PrintToString(name);
    EXPECT_EQ(status->name, name);
    EXPECT_EQ(status->holders.size(), 1u);
  }

  for (Hold& hold : holds) EXPECT_EQ(hold.release(), Released::released);
  for (const std::string& name : odd_names()) EXPECT_FALSE(other.show(name)) << testing::PrintToString(name);
}

// M50
TEST_P(ListingConformance, EveryNameIsListedOnce) {
  Client client = open();
  std::vector<Hold> holds;
  for (const std::string& name : odd_names()) holds.push_back(Mutex(client, name).acquire());
  std::vector<std::string> listed;
  for (const LockStatus& status : client.list()) listed.push_back(status.name);
  std::vector<std::string> expected = odd_names();
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(listed, expected);
  for (Hold& hold : holds) EXPECT_EQ(hold.release(), Released::released);
  EXPECT_TRUE(client.list().empty());
}

// M50: an odd prefix is text too, no pattern.
TEST_P(ListingConformance, EveryPrefixListsWhatBeginsWithIt) {
  Client client = open();
  std::vector<Hold> holds;
  for (const std::string& name : odd_names()) holds.push_back(Mutex(client, name).acquire());
  for (const std::string& prefix : odd_names()) {
    std::vector<std::string> listed;
    for (const LockStatus& status : client.list(prefix)) listed.push_back(status.name);
    std::vector<std::string> expected;
    for (const std::string& name : odd_names()) {
      if (name.starts_with(prefix)) expected.push_back(name);
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(listed, expected) << testing::PrintToString(prefix);
  }
}

// M50: waiting and being told works for them as well.
TEST_P(MutexConformance, OddNamesCanBeWaitedForAndBroken) {
  Client client = open();
  Client other = open();
  for (const std::string& name : {"\r\n$5\r\nhello"s, "{a}b"s, "a'); DROP TABLE locks; --"s, repeated("%", 512)}) {
    SCOPED_TRACE(testing::PrintToString(name));
    const Hold hold = Mutex(client, name).acquire();
    test::Background waiter([&](std::stop_token stop) { return Mutex(other, name).acquire(stop); });
    ASSERT_TRUE(line_becomes(client, name, 1));
    EXPECT_TRUE(client.evict(name));
    EXPECT_TRUE(waiter.take().valid());
  }
}

// M49
TEST_P(MutexConformance, NamesThatDifferInCaseAreDifferent) {
  Client client = open();
  const Hold hold = Mutex(client, "Report").acquire();
  EXPECT_TRUE(Mutex(client, "report").try_acquire());
  EXPECT_TRUE(Mutex(client, "REPORT").try_acquire());
  EXPECT_FALSE(Mutex(client, "Report").try_acquire());
}

// M50
TEST_P(MutexConformance, ABadNameIsRefusedBeforeAnythingHappens) {
  const std::pair<const char*, std::string> bad[] = {
      {"empty", ""},
      {"513 bytes", repeated("x", 513)},
      {"64 KiB", repeated("x", 65536)},
      {"513 bytes of longer characters", "x" + repeated("\U0001f512", 128)},
      {"NUL", "a\0b"s},
      {"only NUL", "\0"s},
      {"continuation byte", "\x80"},
      {"impossible byte", "a\xff"},
      {"overlong slash", "\xc0\xaf"},
      {"overlong NUL", "\xc0\x80"},
      {"overlong in three", "\xe0\x80\xaf"},
      {"overlong in four", "\xf0\x80\x80\xaf"},
      {"surrogate", "\xed\xa0\x80"},
      {"pair of surrogates", "\xed\xa0\xbd\xed\xb4\x92"},
      {"beyond Unicode", "\xf4\x90\x80\x80"},
      {"truncated in two", "a\xc3"},
      {"truncated in four", "a\xf0\x9f\x94"},
      {"truncated in the middle", "\xe2\x82z"},
      {"Latin-1", "caf\xe9"},
  };
  Client client = open();
  for (const auto& [what, text] : bad) {
    SCOPED_TRACE(what);
    const auto error = test::error_of([&] { Mutex(client, text); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->errc(), Errc::invalid_argument);
    EXPECT_EQ(error->code(), Condition::fix_call);
    EXPECT_NE(std::string(error->what()).find("name"), std::string::npos) << error->what();
    EXPECT_EQ(test::errc_of([&] { RecursiveMutex(client, text); }), Errc::invalid_argument);
    EXPECT_EQ(test::errc_of([&] { static_cast<void>(client.show(text)); }), Errc::invalid_argument);
    EXPECT_EQ(test::errc_of([&] { client.evict(text); }), Errc::invalid_argument);
  }
  EXPECT_EQ(client.health().contact, Health::Contact::never);
}

/// Numbers with separators between all digits: what a careless stream would write into a store.
class SeparatingPunctuation : public std::numpunct<char> {
  char do_thousands_sep() const override { return '.'; }
  char do_decimal_point() const override { return ','; }
  std::string do_grouping() const override { return "\1"; }
};

// M59
TEST_P(MutexConformance, TheLocaleMakesNoDifference) {
  const std::string c_locale = std::setlocale(LC_ALL, nullptr);
  if (std::setlocale(LC_ALL, "tr_TR.UTF-8") == nullptr) std::setlocale(LC_ALL, "C.UTF-8");
  const std::locale previous = std::locale::global(std::locale(std::locale::classic(), new SeparatingPunctuation));
  {
    Client client = open({.label = "I\u0131\u0130i"});
    Client other = open();
    for (const char* name : {"I", "i", "\u0131", "\u0130"}) {
      Hold hold = Mutex(client, name, {.ttl = 123456ms}).acquire();
      EXPECT_FALSE(Mutex(other, name).try_acquire());
      EXPECT_TRUE(other.show(name));
      EXPECT_GT(hold.remaining(), 100s);
      EXPECT_EQ(other.show(name).value().holders.at(0).client.label, "I\u0131\u0130i");
      const Token token = hold.token();
      ASSERT_EQ(hold.release(), Released::released);
      EXPECT_GT(Mutex(other, name).acquire().token(), token);
    }
  }
  std::locale::global(previous);
  std::setlocale(LC_ALL, c_locale.c_str());
}

}  // namespace
}  // namespace holdfast::conformance
