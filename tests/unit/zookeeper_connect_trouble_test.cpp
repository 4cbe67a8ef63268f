#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "backends/zookeeper/connect_trouble.hpp"

namespace holdfast::zookeeper {
namespace {

constexpr int end_of_connection = EHOSTDOWN;

class ZookeeperConnectTrouble : public testing::Test {
 protected:
  /// What a call would fail with, while nobody has accepted the connection that is tried now.
  std::string said(bool accepted = false) const {
    const spi::Failure failure = trouble_.failure(accepted);
    EXPECT_EQ(failure.code, Errc::unreachable);
    EXPECT_NE(failure.detail.find("zookeeper at a:1"), std::string::npos) << failure.detail;
    return failure.detail;
  }
  static bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  ConnectTrouble trouble_{"zookeeper at a:1"};
};

TEST_F(ZookeeperConnectTrouble, SaysHowFarTheFirstAttemptHasCome) {
  EXPECT_TRUE(contains(said(false), "accepted no connection"));
  EXPECT_TRUE(contains(said(true), "does not answer"));
}

TEST_F(ZookeeperConnectTrouble, SaysWhatTheSystemSays) {
  trouble_.attempt_failed(false, ECONNREFUSED);
  EXPECT_TRUE(contains(said(), "Connection refused"));
  trouble_.attempt_failed(false, EINPROGRESS);
  trouble_.attempt_failed(false, 0);
  EXPECT_TRUE(contains(said(), "Connection refused")) << "what says nothing does not replace it";
}

TEST_F(ZookeeperConnectTrouble, TellsAServerThatHangsUpFromOneThatRefuses) {
  trouble_.attempt_failed(false, end_of_connection);
  EXPECT_TRUE(contains(said(), "accepts connections and closes them"));
  trouble_.attempt_failed(false, ECONNREFUSED);
  EXPECT_TRUE(contains(said(), "Connection refused"));
  trouble_.attempt_failed(true, 0);
  EXPECT_TRUE(contains(said(), "accepts connections and closes them"));
}

TEST_F(ZookeeperConnectTrouble, SaysWhoWasSilent) {
  trouble_.attempt_took_too_long(false);
  EXPECT_TRUE(contains(said(), "accepted no connection"));
  trouble_.attempt_took_too_long(true);
  EXPECT_TRUE(contains(said(), "does not answer"));
}

TEST_F(ZookeeperConnectTrouble, IsOverOnceAServerHasAcceptedTheSession) {
  trouble_.attempt_failed(false, ECONNREFUSED);
  trouble_.connected();
  EXPECT_TRUE(contains(said(), "was lost"));
}

}  // namespace
}  // namespace holdfast::zookeeper
