#include "holdfast/fence_gate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/background.hpp"
#include "support/gate.hpp"

namespace holdfast::fencing {
namespace {

TEST(FenceGate, RemembersTheLargestToken) {
  FenceGate gate;
  EXPECT_EQ(gate.largest(), Token());
  EXPECT_TRUE(gate.admit(Token(5)));
  EXPECT_FALSE(gate.admit(Token(4)));
  EXPECT_EQ(gate.largest(), Token(5));
  EXPECT_TRUE(gate.admit(Token(5)));
  EXPECT_TRUE(gate.write(Token(6), [] {}));
  EXPECT_EQ(gate.largest(), Token(6));
}

TEST(FenceGate, GoesOnWhereAnotherWas) {
  FenceGate gate(Token(7));
  EXPECT_FALSE(gate.admit(Token(6)));
  EXPECT_TRUE(gate.admit(Token(7)));
}

TEST(FenceGate, DoesNotRunARefusedWrite) {
  FenceGate gate(Token(7));
  bool ran = false;
  EXPECT_FALSE(gate.write(Token(6), [&] { ran = true; }));
  EXPECT_FALSE(ran);
}

TEST(FenceGate, LetsAnExceptionThroughAndKeepsTheToken) {
  FenceGate gate;
  EXPECT_THROW(static_cast<void>(gate.write(Token(3), [] { throw std::runtime_error("no"); })), std::runtime_error);
  EXPECT_EQ(gate.largest(), Token(3));
  EXPECT_TRUE(gate.write(Token(3), [] {}));
}

TEST(FenceGate, AdmitsTheSameAsALineOfTokensWould) {
  // Each thread offers all tokens in its own order; the largest must be admitted, and whatever a thread is admitted
  // with was not smaller than what it had seen admitted before.
  FenceGate gate;
  std::vector<int> backward_steps(4);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < backward_steps.size(); ++i) {
      threads.emplace_back([&, i] {
        for (std::uint64_t step = 1; step <= 50'000; ++step) {
          const Token seen = gate.largest();
          const Token offered(step ^ i);
          if (gate.admit(offered) && offered < seen) ++backward_steps[i];
          if (gate.largest() < std::max(seen, Token())) ++backward_steps[i];
        }
      });
    }
  }
  EXPECT_EQ(backward_steps, std::vector<int>(4));
  EXPECT_EQ(gate.largest(), Token(50'000 | 3));
}

/// Runs a write that waits in the middle, and meanwhile one with a larger token. The value in the end.
template <class Write>
int value_after_a_paused_write(Write write) {
  FenceGate gate;
  test::Gate begun;
  test::Gate go_on;
  int value = 0;
  test::Background first([&](const std::stop_token&) {
    write(gate, Token(1), [&] {
      begun.open();
      static_cast<void>(go_on.wait());
      value = 1;
    });
  });
  if (!begun.wait()) return -1;
  test::Background second([&](const std::stop_token&) { write(gate, Token(2), [&] { value = 2; }); });
  static_cast<void>(second.finishes(std::chrono::milliseconds(50)));  // in two steps: at once. In one: it waits
  go_on.open();
  return first.finishes() && second.finishes() ? value : -1;
}

TEST(FenceGate, LetsALargerTokenWaitForAWriteThatHasBegun) {
  EXPECT_EQ(value_after_a_paused_write(
                [](FenceGate& gate, Token token, const auto& write) { static_cast<void>(gate.write(token, write)); }),
            2);
}

TEST(FenceGate, CannotHelpIfTheWriteIsAStepOfItsOwn) {
  EXPECT_EQ(value_after_a_paused_write([](FenceGate& gate, Token token, const auto& write) {
              if (gate.admit(token)) write();
            }),
            1);
}

}  // namespace
}  // namespace holdfast::fencing
