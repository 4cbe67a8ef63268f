#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <set>
#include <vector>

#include "ids/grant.hpp"
#include "ids/thread_stock.hpp"
#include "ids/wiped_memory.hpp"
#include "support/forked_child.hpp"

namespace holdfast::ids {
namespace {

using test::ChildReport;
using test::succeeds_in_forked_child;

/// Issues what is left of the calling thread's stock of generator 0, if that is `checked` to be of the grant, or in any
/// case.
std::vector<std::uint64_t> issue_stock(const Grant& grant, bool checked) {
  ThreadStock& stock = ThreadStock::of(0);
  std::vector<std::uint64_t> issued;
  if (checked && stock.serial != grant.serial()) return issued;
  while (stock.next < stock.end) issued.push_back(stock.next++);
  return issued;
}

/// How many positions parent and child both issue from a stock that the parent has taken before it forks.
std::size_t repeated_after_fork(bool checked) {
  WipedMemory memory;
  const Grant& grant = memory.make<Grant>(7U, 0U, 1000U, 100'000U);
  ThreadStock::of(0) = {.serial = grant.serial(), .next = 1000, .end = 1064};
  std::array<int, 2> pipe_ends{};
  EXPECT_EQ(pipe(pipe_ends.data()), 0);
  EXPECT_TRUE(succeeds_in_forked_child([&](ChildReport& report) {
    const std::vector<std::uint64_t> issued = issue_stock(grant, checked);
    const auto bytes = static_cast<ssize_t>(issued.size() * sizeof(std::uint64_t));
    report.expect(write(pipe_ends[1], issued.data(), static_cast<std::size_t>(bytes)) == bytes, "telling the parent");
  }));
  close(pipe_ends[1]);
  const std::vector<std::uint64_t> parents = issue_stock(grant, checked);
  EXPECT_EQ(parents.size(), 64U);
  const std::set<std::uint64_t> issued(parents.begin(), parents.end());
  std::size_t repeated = 0;
  for (std::uint64_t position = 0; read(pipe_ends[0], &position, sizeof(position)) > 0;) {
    repeated += issued.count(position);
  }
  close(pipe_ends[0]);
  return repeated;
}

TEST(ThreadStock, IsNotIssuedAgainInAForkedChild) { EXPECT_EQ(repeated_after_fork(true), 0U); }

TEST(ThreadStockControl, FindsThatAStockIsNotComparedWithItsGrant) { EXPECT_EQ(repeated_after_fork(false), 64U); }

TEST(ThreadStock, IsNotIssuedWhenItsGrantIsClosed) {
  WipedMemory memory;
  Grant& grant = memory.make<Grant>(8U, 0U, 1000U, 100'000U);
  ThreadStock::of(0) = {.serial = grant.serial(), .next = 1000, .end = 1064};
  grant.close();
  EXPECT_TRUE(issue_stock(grant, true).empty());
}

}  // namespace
}  // namespace holdfast::ids
