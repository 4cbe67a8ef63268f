#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "backends/zookeeper/session.hpp"
#include "backends/zookeeper/sessions.hpp"
#include "support/manual_loop.hpp"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

/// Sessions without servers: nothing is ever connected.
class ZookeeperSession : public testing::Test, public Session::Owner {
 public:
  void node_changed(Session& /*session*/, const std::string& /*path*/) override {}
  void session_resumed(Session& /*session*/) override {}
  void session_ended(Session& /*session*/) override { ++ended_; }

 protected:
  ZookeeperSession() {
    calls_.ask_why([] { return spi::Failure{Errc::unreachable, "not connected"}; });
  }

  /// Waits until the session is up; what becomes of that.
  void wait_until_up() {
    calls_.start<spi::Nothing>(
        1s, [this](spi::Result<spi::Nothing> result) { waited_.emplace(std::move(result)); },
        [&](CallPtr call) { return until_up(session_, std::move(call)); });
  }

  test::ManualLoop loop_;
  Calls calls_{loop_, "zookeeper at a:1"};
  const Address address_ = {.hosts = {{"a", "1"}}};
  const std::shared_ptr<Session> session_ = std::make_shared<Session>(loop_, address_, 10s, *this);
  std::optional<spi::Result<spi::Nothing>> waited_;
  int ended_ = 0;
};

TEST_F(ZookeeperSession, SendsNothingBeforeItIsUp) {
  const base::Future<Reply> asked = session_->get("/a");
  ASSERT_TRUE(asked.is_answered());
  EXPECT_EQ(asked.await_resume().outcome, Outcome::not_sent);
  const base::Future<Reply> written = session_->create("/a", "data", Session::Lasting::ephemeral);
  ASSERT_TRUE(written.is_answered());
  EXPECT_EQ(written.await_resume().outcome, Outcome::not_sent);
}

TEST_F(ZookeeperSession, SaysSoOnceWhenItIsClosed) {
  session_->close();
  session_->close();
  EXPECT_TRUE(session_->has_ended());
  EXPECT_EQ(ended_, 1);
  EXPECT_EQ(session_->why_not_up().code, Errc::closed);
  EXPECT_EQ(session_->get("/a").await_resume().outcome, Outcome::not_sent);
}

TEST_F(ZookeeperSession, LetsThoseGoOnWhoWaitForItWhenItIsClosed) {
  wait_until_up();
  loop_.run();
  EXPECT_FALSE(waited_);
  session_->close();
  loop_.run();
  ASSERT_TRUE(waited_);
  EXPECT_EQ(waited_->failure().code, Errc::closed);
}

TEST_F(ZookeeperSession, IsNotWaitedForLongerThanTheCallIsPatient) {
  wait_until_up();
  loop_.advance(1s);
  ASSERT_TRUE(waited_);
  EXPECT_EQ(waited_->failure().detail, "not connected");
  session_->close();
  loop_.run();
}

}  // namespace
}  // namespace holdfast::zookeeper
