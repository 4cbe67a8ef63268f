#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <vector>

#include "base/instant.hpp"

namespace holdfast::base {

/// Something with a deadline that carries its own place in the queue: a Timer, a claim in a store.
template <class Node>
concept HasDeadline = requires(Node& node, const Node& constant) {
  { constant.due() } -> std::same_as<Instant>;
  { node.queue_index } -> std::same_as<std::size_t&>;
};

/// A priority queue of nodes that others own, the earliest deadline first (equal ones in no particular order).
///
/// Nodes carry their index, so that erasing from the middle is O(log n), and the only memory is one vector of pointers.
/// A node's deadline may change only outside of the queue, or right before update(). Not thread-safe.
template <class Node>
class DeadlineHeap {
 public:
  /// The index of a node that is in no queue.
  static constexpr std::size_t not_queued = static_cast<std::size_t>(-1);

  bool empty() const { return nodes_.empty(); }
  std::size_t size() const { return nodes_.size(); }

  /// REQUIRES: !empty().
  Node& top() const { return *nodes_.front(); }
  /// When the first node is due; the end of time if there is none.
  Instant next() const { return empty() ? Instant::max() : nodes_.front()->due(); }

  /// REQUIRES: the node is in no queue, and stays where it is in memory while it is in this one.
  void push(Node& node)
    requires HasDeadline<Node>  // here, so that the class can be named before Node is complete
  {
    assert(node.queue_index == not_queued);
    nodes_.push_back(&node);
    node.queue_index = nodes_.size() - 1;
    rise(node.queue_index);
  }

  /// REQUIRES: the node is in this queue.
  void erase(Node& node) {
    const std::size_t index = node.queue_index;
    assert(index < nodes_.size() && nodes_[index] == &node);
    Node* const last = nodes_.back();
    nodes_.pop_back();
    node.queue_index = not_queued;
    if (last == &node) return;
    place(last, index);
    update(*last);
  }

  /// Moves a node whose deadline has changed to where it belongs. REQUIRES: the node is in this queue.
  void update(Node& node) {
    rise(node.queue_index);
    sink(node.queue_index);
  }

  /// Forgets all nodes.
  void clear() {
    for (Node* node : nodes_) node->queue_index = not_queued;
    nodes_.clear();
  }

 private:
  // Four children halve the depth against two, and their pointers lie side by side.
  static constexpr std::size_t children = 4;

  void place(Node* node, std::size_t index) {
    nodes_[index] = node;
    node->queue_index = index;
  }

  void rise(std::size_t index) {
    Node* const node = nodes_[index];
    while (index > 0) {
      const std::size_t parent = (index - 1) / children;
      if (nodes_[parent]->due() <= node->due()) break;
      place(nodes_[parent], index);
      index = parent;
    }
    place(node, index);
  }

  void sink(std::size_t index) {
    Node* const node = nodes_[index];
    for (;;) {
      const std::size_t first = index * children + 1;
      if (first >= nodes_.size()) break;
      std::size_t earliest = first;
      for (std::size_t i = first + 1; i < first + children && i < nodes_.size(); ++i) {
        if (nodes_[i]->due() < nodes_[earliest]->due()) earliest = i;
      }
      if (node->due() <= nodes_[earliest]->due()) break;
      place(nodes_[earliest], index);
      index = earliest;
    }
    place(node, index);
  }

  std::vector<Node*> nodes_;
};

}  // namespace holdfast::base
