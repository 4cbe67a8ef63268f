#include "base/deadline_heap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

#include "spi/loop.hpp"

namespace holdfast::base {
namespace {

struct Node {
  explicit Node(int milliseconds = 0) : deadline(std::chrono::milliseconds(milliseconds)) {}
  Instant due() const { return deadline; }
  Instant deadline;
  std::size_t queue_index = DeadlineHeap<Node>::not_queued;
};

static_assert(HasDeadline<spi::Timer>);
static_assert(DeadlineHeap<spi::Timer>::not_queued == spi::Timer::not_queued);

TEST(DeadlineHeap, IsEmptyAtFirst) {
  const DeadlineHeap<Node> heap;
  EXPECT_TRUE(heap.empty());
  EXPECT_EQ(heap.next(), Instant::max());
}

TEST(DeadlineHeap, GivesTheEarliestFirst) {
  std::deque<Node> nodes;
  DeadlineHeap<Node> heap;
  for (const int due : {5, 1, 4, 2, 3, 9, 8, 7, 6, 0}) heap.push(nodes.emplace_back(due));
  for (int due = 0; due < 10; ++due) {
    EXPECT_EQ(heap.next(), Node(due).due());
    Node& top = heap.top();
    heap.erase(top);
    EXPECT_EQ(top.queue_index, DeadlineHeap<Node>::not_queued);
  }
  EXPECT_TRUE(heap.empty());
}

TEST(DeadlineHeap, ErasesTheLastAndTheOnlyNode) {
  Node first(1);
  Node last(2);
  DeadlineHeap<Node> heap;
  heap.push(first);
  heap.push(last);
  heap.erase(last);
  EXPECT_EQ(&heap.top(), &first);
  heap.erase(first);
  EXPECT_TRUE(heap.empty());
}

TEST(DeadlineHeap, ForgetsAllNodes) {
  Node first(1);
  Node second(2);
  DeadlineHeap<Node> heap;
  heap.push(first);
  heap.push(second);
  heap.clear();
  EXPECT_TRUE(heap.empty());
  heap.push(second);
  EXPECT_EQ(&heap.top(), &second);
}

TEST(DeadlineHeap, AgreesWithSortingWhateverIsDoneToIt) {
  std::mt19937 random(7);
  const auto any = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  std::deque<Node> nodes(200);
  DeadlineHeap<Node> heap;
  std::size_t queued = 0;
  for (int step = 0; step < 20000; ++step) {
    Node& node = nodes[static_cast<std::size_t>(any(200))];
    const bool inside = node.queue_index != DeadlineHeap<Node>::not_queued;
    if (inside && any(3) == 0) {
      heap.erase(node);
      --queued;
    } else {
      node.deadline = Node(any(1000)).deadline;
      if (inside) {
        heap.update(node);
      } else {
        heap.push(node);
        ++queued;
      }
    }
    ASSERT_EQ(heap.size(), queued);
    Instant earliest = Instant::max();
    for (const Node& each : nodes) {
      if (each.queue_index != DeadlineHeap<Node>::not_queued) earliest = std::min(earliest, each.due());
    }
    ASSERT_EQ(heap.next(), earliest);
  }
}

}  // namespace
}  // namespace holdfast::base
