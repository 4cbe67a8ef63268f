// Guards that are wrong on purpose: the cases of guards_test.cpp must find each of them out.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "fencing/documented_guards.hpp"
#include "fencing/library_guards.hpp"

namespace holdfast::fencing {
namespace {

class WithoutAnyCheck : public Guarded {
 public:
  bool write(Token, const std::string& value) override {
    text_.set(value);
    return true;
  }
  std::string value() override { return text_.get(); }

 private:
  SharedText text_;
};

TEST(Control, AGateThatSkipsTheCheckIsFound) {
  WithoutAnyCheck guarded;
  EXPECT_NE(complaints_about_order(guarded), Complaints());
}

/// Right for one writer after the other.
class CheckedBeforeTheWrite : public Guarded {
 public:
  bool write(Token token, const std::string& value) override {
    if (!gate_.admit(token)) return false;
    if (token.value() % 4 == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    text_.set(value);
    return true;
  }
  std::string value() override { return text_.get(); }

 private:
  FenceGate gate_;
  SharedText text_;
};

TEST(Control, ACheckInAStepOfItsOwnIsFound) {
  CheckedBeforeTheWrite one;
  EXPECT_EQ(complaints_about_order(one), Complaints());
  CheckedBeforeTheWrite other;
  EXPECT_NE(complaints_about_races(other, 100), Complaints());
}

/// A gate that admits only what is larger.
class WithoutEqualTokens : public Guarded {
 public:
  bool write(Token token, const std::string& value) override {
    if (token <= gate_.largest()) return false;
    return gate_.write(token, [&] { text_.set(value); });
  }
  std::string value() override { return text_.get(); }

 private:
  FenceGate gate_;
  SharedText text_;
};

TEST(Control, AGateThatRefusesEqualTokensIsFound) {
  WithoutEqualTokens guarded;
  EXPECT_NE(complaints_about_order(guarded), Complaints());
}

TEST(Control, AnUpdateWithoutAConditionIsFound) {
  InASqlRow guarded(with(documented("sql-update"), " AND fence <= :token", ""));
  EXPECT_NE(complaints_about_order(guarded), Complaints());
}

TEST(Control, AnUpsertWithoutAConditionIsFound) {
  InASqlRow guarded(with(documented("sql-upsert"), "WHERE report.fence <= excluded.fence", ""));
  EXPECT_NE(complaints_about_order(guarded), Complaints());
}

TEST(Control, ARedisScriptThatComparesDoublesIsFound) {
  InRedis guarded(with(documented("redis-script"), "ARGV[1] < largest", "tonumber(ARGV[1]) < tonumber(largest)"));
  EXPECT_NE(complaints_about_order(guarded), Complaints());
}

TEST(Control, AnEtcdTransactionWithoutZerosIsFound) {
  InEtcd guarded(with(documented("etcd-shell"), "%020u", "%u"));
  EXPECT_NE(complaints_about_order(guarded), Complaints());
}

TEST(Control, AServerThatIsNotInstalledIsAnError) {
  const std::string path = getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  EXPECT_THROW(test::RedisServer(), std::runtime_error);
  EXPECT_THROW(test::EtcdServer(), std::runtime_error);
  setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace holdfast::fencing
