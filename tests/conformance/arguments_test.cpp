// What is refused, as what, and with which words. Names have their own file.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "conformance/fixture.hpp"

namespace holdfast::conformance {
namespace {

using test::errc_of;
using test::error_of;

void expect_mistake(const std::function<void()>& call, const std::string& mentioned) {
  const auto error = error_of(call);
  ASSERT_TRUE(error) << "accepted";
  EXPECT_EQ(error->errc(), Errc::invalid_argument) << error->what();
  EXPECT_EQ(error->code(), Condition::fix_call);
  EXPECT_NE(std::string(error->what()).find(mentioned), std::string::npos) << error->what();
}

TEST_P(MutexConformance, ALeaseThatCannotBeIsRefused) {
  Client client = open();
  for (const milliseconds ttl : {milliseconds::min(), milliseconds(-1), milliseconds(0), milliseconds(1),
                                 LockOptions::min_ttl - 1ms, LockOptions::max_ttl + 1ms, milliseconds::max()}) {
    SCOPED_TRACE(ttl.count());
    expect_mistake([&] { Mutex(client, "mine", {.ttl = ttl}); }, "ttl");
    expect_mistake([&] { RecursiveMutex(client, "mine", {.ttl = ttl}); }, "ttl");
  }
  EXPECT_EQ(client.health().contact, Health::Contact::never);
}

TEST_P(MutexConformance, ANegativeLongestTimeIsRefused) {
  Client client = open();
  expect_mistake([&] { Mutex(client, "mine", {.max_hold = -1ms}); }, "max_hold");
  expect_mistake([&] { Mutex(client, "mine", {.max_hold = milliseconds::min()}); }, "max_hold");
}

TEST_P(MutexConformance, ALongestTimeWithoutEndIsAccepted) {
  Client client = open();
  EXPECT_TRUE(Mutex(client, "mine", {.max_hold = milliseconds::max()}).acquire().valid());
}

TEST_P(MutexConformance, AReasonHasALimit) {
  Client client = open();
  EXPECT_TRUE(Mutex(client, "mine", {.reason = std::string(1024, 'x')}).acquire());
  expect_mistake([&] { Mutex(client, "mine", {.reason = std::string(1025, 'x')}); }, "reason");
}

TEST_P(HoldConformance, AnExtensionThatCannotBeIsRefused) {
  Client client = open();
  Hold hold = Mutex(client, "mine").acquire();
  expect_mistake([&] { hold.extend(0s); }, "the extension of a lease");
  expect_mistake([&] { hold.extend(-1ns); }, "the extension of a lease");
  expect_mistake([&] { hold.extend(LockOptions::max_ttl + 1ms); }, "the extension of a lease");
  expect_mistake([&] { hold.extend(std::chrono::hours::max()); }, "the extension of a lease");
  EXPECT_TRUE(hold.valid());
  EXPECT_LE(hold.remaining(), 10s);
  EXPECT_EQ(hold.release(), Released::released);
}

TEST_P(ClientConformance, ABadUrlSaysWhatToChange) {
  for (const char* url : {"", " ", ":", "://", "//localhost", "no-such-scheme:", "no-such-scheme://localhost:1/0",
                          "localhost", "localhost:6379/0", "mem ory:", "\xff\xfe:", "MEMORY", "memory"}) {
    SCOPED_TRACE(url);
    const auto error = error_of([&] { Client client(url); });
    ASSERT_TRUE(error) << "accepted";
    EXPECT_EQ(error->errc(), Errc::bad_url) << error->what();
    EXPECT_EQ(error->code(), Condition::fix_configuration);
    EXPECT_GT(std::string(error->what()).size(), 25u) << error->what();
  }
}

TEST_P(ClientConformance, AnUnknownSchemeIsNamedBesideTheKnownOnes) {
  const auto error = error_of([&] { Client client("no-such-scheme://localhost"); });
  ASSERT_TRUE(error);
  const std::string text = error->what();
  EXPECT_NE(text.find("no-such-scheme"), std::string::npos) << text;
  EXPECT_NE(text.find(url().substr(0, url().find(':'))), std::string::npos) << text;
}

// The rest of a URL may hold a password, so no message repeats it.
TEST_P(ClientConformance, NoMessageRepeatsTheUrl) {
  const std::string option = url().find('?') == std::string::npos ? "?" : "&";
  const std::string urls[] = {
      "hunter2",
      "no-such-scheme://user:hunter2@localhost/0",
      "no-such-scheme:hunter2",
      "//user:hunter2@localhost",
      "user:hunter2@localhost",  // looks like a scheme
      "not a scheme://user:hunter2@localhost",
      url() + option + "password=hunter2",
      url() + option + "hunter2",
      url() + option + "a=hunter2&a=hunter2",
      url() + option + "a=hunter2%zz",
      url() + option + "a=hunter2%",
  };
  for (const std::string& bad : urls) {
    SCOPED_TRACE(bad);
    const auto error = error_of([&] { Client client(bad); });
    ASSERT_TRUE(error) << "accepted";
    EXPECT_EQ(error->errc(), Errc::bad_url) << error->what();
    EXPECT_EQ(std::string(error->what()).find("hunter2"), std::string::npos) << error->what();
  }
}

TEST_P(ClientConformance, AnUnknownOptionOfAUrlIsRefused) {
  const std::string option = url().find('?') == std::string::npos ? "?" : "&";
  const auto error = error_of([&] { Client client(url() + option + "no_such_option=1"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->errc(), Errc::bad_url);
  EXPECT_NE(std::string(error->what()).find("option"), std::string::npos) << error->what();
}

TEST_P(ClientConformance, ANegativeTimeoutIsRefused) {
  expect_mistake([&] { open({.connect_timeout = -1ms}); }, "connect_timeout");
  expect_mistake([&] { open({.close_timeout = -1ms}); }, "close_timeout");
}

TEST_P(ClientConformance, ATimeoutWithoutEndIsAccepted) {
  Client client = open({.connect_timeout = milliseconds::max(), .close_timeout = milliseconds::max()});
  const Hold hold = Mutex(client, "mine").acquire();
  EXPECT_TRUE(hold.valid());
  client.close();
  EXPECT_FALSE(hold.valid());
}

// An error's text says what was tried and on which store.
TEST_P(ClientConformance, AClosedClientsErrorIsReadable) {
  Client client = open();
  Mutex mutex(client, "nightly-report");
  client.close();
  const auto error = error_of([&] { mutex.lock(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->errc(), Errc::closed);
  EXPECT_GT(std::string(error->what()).size(), 10u) << error->what();
}

}  // namespace
}  // namespace holdfast::conformance
