#pragma once

#include <cassert>
#include <cstddef>

namespace holdfast::base {

/// A node of an IntrusiveList; on at most one list at a time.
template <class T>
class ListNode {
 public:
  ListNode() = default;
  ListNode(const ListNode&) = delete;
  ListNode& operator=(const ListNode&) = delete;
  bool listed() const { return listed_; }

 private:
  template <class>
  friend class IntrusiveList;
  T* next_ = nullptr;
  T* previous_ = nullptr;
  bool listed_ = false;
};

/// A list of objects that live elsewhere and carry their own links: nothing is allocated, removal is O(1).
/// T derives from ListNode<T>.
template <class T>
class IntrusiveList {
 public:
  bool empty() const { return first_ == nullptr; }
  std::size_t size() const { return size_; }
  T& front() const { return *first_; }  // NOLINT(clang-analyzer-cplusplus.NewDelete): it loses track of removals
  /// Null if it is empty.
  T* first() const { return first_; }
  T* next(const T& item) const { return node(item).next_; }

  void push_back(T& item) {
    assert(!item.listed());
    node(item).previous_ = last_;
    node(item).next_ = nullptr;
    node(item).listed_ = true;
    (last_ != nullptr ? node(*last_).next_ : first_) = &item;
    last_ = &item;
    ++size_;
  }

  void remove(T& item) {
    assert(item.listed());
    ListNode<T>& links = node(item);
    (links.previous_ != nullptr ? node(*links.previous_).next_ : first_) = links.next_;
    (links.next_ != nullptr ? node(*links.next_).previous_ : last_) = links.previous_;
    links.listed_ = false;
    --size_;
  }

 private:
  static ListNode<T>& node(T& item) { return item; }
  static const ListNode<T>& node(const T& item) { return item; }

  T* first_ = nullptr;
  T* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace holdfast::base
