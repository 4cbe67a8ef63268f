// The same cases for every guard there is: the library's, and those that docs/fencing.md shows.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>

#include "fencing/documented_guards.hpp"
#include "fencing/library_guards.hpp"

namespace holdfast::fencing {
namespace {

struct Candidate {
  std::string name;
  std::function<std::unique_ptr<Guarded>()> make;
  int race_length = 0;  // writes of each thread
};

void PrintTo(const Candidate& candidate, std::ostream* out) { *out << candidate.name; }

template <class Guard, class... Arguments>
Candidate candidate(const std::string& name, int race_length, Arguments... arguments) {
  return {.name = name, .make = [=] { return std::make_unique<Guard>(arguments...); }, .race_length = race_length};
}

/// A guard that runs what the page says under this name.
template <class Guard>
Candidate shown(const std::string& name, int race_length, const std::string& block) {
  return {.name = name, .make = [=] { return std::make_unique<Guard>(documented(block)); }, .race_length = race_length};
}

class EveryGuard : public testing::TestWithParam<Candidate> {};

TEST_P(EveryGuard, AdmitsLargerAndEqualTokensAndRefusesSmallerOnes) {
  const std::unique_ptr<Guarded> guarded = GetParam().make();
  EXPECT_EQ(complaints_about_order(*guarded), Complaints());
}

TEST_P(EveryGuard, ChecksAndWritesInOneStep) {
  const std::unique_ptr<Guarded> guarded = GetParam().make();
  EXPECT_EQ(complaints_about_races(*guarded, GetParam().race_length), Complaints());
}

INSTANTIATE_TEST_SUITE_P(
    Of, EveryGuard,
    testing::Values(candidate<BehindAGate>("FenceGate", 20'000), candidate<BehindAFileFence>("FileFence", 200),
                    candidate<InAFencedRegister>("FencedRegisterInMemory", 500, "memory:"),
                    candidate<InAFencedRegister>("FencedRegisterInSqlite", 50, "sqlite:"),
                    shown<InASqlRow>("SqlUpdate", 100, "sql-update"), shown<InASqlRow>("SqlUpsert", 100, "sql-upsert"),
                    shown<InRedis>("Redis", 25, "redis-script"), shown<InEtcd>("Etcdctl", 15, "etcd-shell"),
                    shown<InEtcd>("EtcdJson", 15, "etcd-json")),
    [](const auto& guard) { return guard.param.name; });

TEST(RedisGuard, RefusesATokenWithoutItsZeros) {
  InRedis redis;
  const std::string command = with(documented("redis-shell"), "%020u", "%u");
  EXPECT_NE(redis.answer(command, Token(256), "late").find("must have 20 digits"), std::string::npos);
  EXPECT_EQ(redis.value(), "");
}

}  // namespace
}  // namespace holdfast::fencing
