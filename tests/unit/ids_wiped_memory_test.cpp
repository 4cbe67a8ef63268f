#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "ids/wiped_memory.hpp"
#include "support/forked_child.hpp"

namespace holdfast::ids {
namespace {

using test::ChildReport;
using test::succeeds_in_forked_child;
using WipedBy = WipedMemory::WipedBy;
using Word = std::atomic<std::uint64_t>;

class WipedMemoryBy : public testing::TestWithParam<WipedBy> {};
INSTANTIATE_TEST_SUITE_P(Way, WipedMemoryBy, testing::Values(WipedBy::kernel, WipedBy::atfork_handler),
                         [](const auto& it) { return it.param == WipedBy::kernel ? "kernel" : "handler"; });

TEST_P(WipedMemoryBy, IsZeroInAForkedChildAndStaysInTheParent) {
  WipedMemory memory(GetParam());
  std::vector<Word*> words;
  for (std::uint64_t i = 1; i <= 2000; ++i) words.push_back(&memory.make<Word>(i));  // several pages
  EXPECT_TRUE(succeeds_in_forked_child([&](ChildReport& report) {
    report.expect(!memory.belongs_to_this_process(), "the child knows that it is one");
    for (const Word* const word : words) report.expect(*word == 0, "a word is zero");
  }));
  EXPECT_TRUE(memory.belongs_to_this_process());
  for (std::uint64_t i = 1; i <= 2000; ++i) EXPECT_EQ(*words[i - 1], i);
}

TEST_P(WipedMemoryBy, IsUsedAgainAfterItWasGivenBack) {
  for (int round = 0; round < 3; ++round) {
    WipedMemory memory(GetParam());
    const Word& word = memory.make<Word>(7U);
    EXPECT_TRUE(succeeds_in_forked_child([&](ChildReport& report) { report.expect(word == 0, "zero"); }));
    EXPECT_EQ(word, 7U);
  }
  EXPECT_TRUE(succeeds_in_forked_child([](ChildReport&) {})) << "nothing is wiped that is not there";
}

struct alignas(64) Line {
  std::uint64_t value = 1;
};

TEST_P(WipedMemoryBy, AlignsWhatItMakes) {
  WipedMemory memory(GetParam());
  for (int i = 0; i < 200; ++i) {
    memory.make<char>('x');
    const Line& line = memory.make<Line>();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&line) % alignof(Line), 0U);
    EXPECT_EQ(line.value, 1U);
  }
}

}  // namespace
}  // namespace holdfast::ids
