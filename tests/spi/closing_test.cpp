// The end of a client: everything is answered, and nothing is called afterwards.

#include <gtest/gtest.h>

#include <vector>

#include "spi/stores.hpp"
#include "support/errors.hpp"

namespace holdfast::spi_suite {
namespace {

TEST_P(Closing, AnswersWatches) {
  BackendUnderTest client(url());
  client.read("r");
  const auto watch = client.start_watch("r", 0);
  client.read("r");
  const auto close = client.start_close();
  EXPECT_TRUE(close->result().ok());
  EXPECT_TRUE(watch->answered()) << "before the close itself";
  EXPECT_EQ(errc_of(watch->result()), Errc::closed);
}

TEST_P(Closing, AnswersWhateverIsUnderWay) {
  for (const bool opened : {false, true}) {
    BackendUnderTest client(url());
    if (opened) client.acquire(100, {.name = "other"});
    const auto acquire = client.start_acquire(1);
    const auto release = client.start_release({.claim = 2});
    const auto renew = client.start_renew({{.claim = 3}});
    const auto downgrade = client.start_downgrade({.claim = 4});
    const auto list = client.start_list("");
    const auto evict = client.start_evict("nobody's");
    const auto ask = client.start_ask_to_release("nobody's", {});
    const auto read = client.start_read("r");
    const auto write = client.start_write_if("r", 7, "x");
    const auto add = client.start_add("n", 1);
    const auto watch = client.start_watch("r", 0);
    const auto now = client.start_now();
    EXPECT_TRUE(client.start_close()->result().ok());
    const auto is_fair = [](const auto& pending) {
      if (!pending->answered()) return false;  // all of them before the close itself
      const auto code = errc_of(pending->result());
      return !code || code == Errc::closed;
    };
    EXPECT_TRUE(is_fair(acquire) && is_fair(release) && is_fair(renew) && is_fair(downgrade));
    EXPECT_TRUE(is_fair(list) && is_fair(evict) && is_fair(ask));
    EXPECT_TRUE(is_fair(now) || errc_of(now->result()) == Errc::unsupported) << "some have no clock";
    EXPECT_TRUE(is_fair(read) && is_fair(write) && is_fair(add) && is_fair(watch));
  }
}

TEST_P(Closing, RefusesWhatComesLater) {
  BackendUnderTest client(url());
  client.acquire(1);
  client.close();
  client.close();
  EXPECT_EQ(errc_of(client.try_acquire(2)), Errc::closed);
  EXPECT_EQ(errc_of(client.start_release({.claim = 1})->result()), Errc::closed);
  EXPECT_EQ(errc_of(client.start_renew({{.claim = 1}})->result()), Errc::closed);
  EXPECT_EQ(errc_of(client.try_downgrade({.claim = 1})), Errc::closed);
  EXPECT_EQ(errc_of(client.start_show("name")->result()), Errc::closed);
  EXPECT_EQ(errc_of(client.start_list("")->result()), Errc::closed);
  EXPECT_EQ(errc_of(client.start_evict("name")->result()), Errc::closed);
  EXPECT_EQ(errc_of(client.start_ask_to_release("name", {})->result()), Errc::closed);
  EXPECT_EQ(errc_of(client.start_resize("name", 1)->result()), Errc::closed);
  EXPECT_EQ(errc_of(client.start_read("r")->result()), Errc::closed);
  EXPECT_EQ(errc_of(client.try_write_if("r", 0, "x")), Errc::closed);
  EXPECT_EQ(errc_of(client.try_add("r", 1)), Errc::closed);
  EXPECT_EQ(errc_of(client.start_watch("r", 0)->result()), Errc::closed);
}

TEST_P(Closing, BeforeTheFirstRequestIsAllRight) {
  BackendUnderTest client(url());
  client.close();
}

TEST_P(Closing, ToldNothingMore) {
  BackendUnderTest holder(url());
  BackendUnderTest client(url());
  for (int i = 0; i < 20; ++i) {
    BackendUnderTest leaving(url());
    holder.acquire(1);
    leaving.acquire(2);
    const auto released = holder.start_release({.claim = 1});  // the grant is on its way
    leaving.close();                                           // from here on it would complain
    EXPECT_TRUE(released->result().ok());
    holder.evict();
  }
}

TEST_P(Closing, LeavesTheOthersAlone) {
  BackendUnderTest staying(url());
  BackendUnderTest leaving(url());
  staying.acquire(1);
  staying.acquire(2, {.mode = permits(1, 2)});
  leaving.acquire(3);
  leaving.release(3);
  leaving.close();
  EXPECT_EQ(staying.look(1).standing, granted);
  EXPECT_EQ(staying.look(2).standing, granted);
  EXPECT_EQ(staying.list().size(), 2U);
}

}  // namespace
}  // namespace holdfast::spi_suite
