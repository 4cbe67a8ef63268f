#pragma once

#include <cassert>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace holdfast::ids {

/// Several ids of one generator, in ascending order: what `reserve(n)` returns. It is a view of nothing but numbers, so
/// it occupies no memory of its own and is copied freely.
///
///     for (const std::uint64_t id : generator.reserve(500)) insert(id);
///
/// The ids are computed when they are asked for: the numbers `first`, `first + step`, ... in which some bits may have
/// been inserted (a snowflake's worker number stands between its time and its sequence number).
class IdRange {
 public:
  /// How the ids follow from the numbers. This is an aggregate: name the members that you change.
  struct Shape {
    std::uint64_t step = 1;
    /// `inserted` is put above the `low_bits` lowest bits, and occupies `inserted_bits`. REQUIRES: both are below 64.
    unsigned low_bits = 0;
    unsigned inserted_bits = 0;
    std::uint64_t inserted = 0;

    friend constexpr bool operator==(const Shape&, const Shape&) = default;
  };

  class Iterator;

  constexpr IdRange() noexcept = default;
  /// REQUIRES: no id is beyond 64 bits.
  constexpr IdRange(std::uint64_t first, std::size_t size) noexcept : IdRange(first, size, Shape{}) {}
  constexpr IdRange(std::uint64_t first, std::size_t size, const Shape& shape) noexcept
      : first_(first), size_(size), shape_(shape) {}

  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  /// REQUIRES: `index` < size().
  constexpr std::uint64_t operator[](std::size_t index) const noexcept {
    assert(index < size_);
    return id(index);
  }
  /// REQUIRES: not empty.
  constexpr std::uint64_t front() const noexcept { return (*this)[0]; }
  constexpr std::uint64_t back() const noexcept { return (*this)[size_ - 1]; }
  constexpr Iterator begin() const noexcept;
  constexpr Iterator end() const noexcept;

  /// Whether the ranges were made from the same numbers.
  friend constexpr bool operator==(const IdRange&, const IdRange&) = default;

 private:
  constexpr std::uint64_t id(std::size_t index) const noexcept {
    const std::uint64_t number = first_ + index * shape_.step;
    const std::uint64_t low = (std::uint64_t{1} << shape_.low_bits) - 1;
    return (number & ~low) << shape_.inserted_bits | shape_.inserted << shape_.low_bits | (number & low);
  }

  std::uint64_t first_ = 0;
  std::size_t size_ = 0;
  Shape shape_ = {};
};

/// A random-access iterator of C++20. It has a copy of the range, so it may outlive it.
class IdRange::Iterator {
 public:
  using iterator_concept = std::random_access_iterator_tag;  // NOLINT(readability-identifier-naming)
  using iterator_category = std::input_iterator_tag;         // NOLINT(readability-identifier-naming): * is no reference
  using value_type = std::uint64_t;
  using difference_type = std::ptrdiff_t;  // NOLINT(readability-identifier-naming)
  using pointer = void;                    // NOLINT(readability-identifier-naming)
  using reference = std::uint64_t;         // NOLINT(readability-identifier-naming)

  constexpr Iterator() noexcept = default;

  constexpr std::uint64_t operator*() const noexcept { return range_.id(index_); }
  constexpr std::uint64_t operator[](difference_type by) const noexcept { return *(*this + by); }
  constexpr Iterator& operator++() noexcept { return *this += 1; }
  constexpr Iterator& operator--() noexcept { return *this -= 1; }
  constexpr Iterator operator++(int) noexcept {
    const Iterator before = *this;
    ++*this;
    return before;
  }
  constexpr Iterator operator--(int) noexcept {
    const Iterator before = *this;
    --*this;
    return before;
  }
  constexpr Iterator& operator+=(difference_type by) noexcept {
    index_ += static_cast<std::size_t>(by);
    return *this;
  }
  constexpr Iterator& operator-=(difference_type by) noexcept {
    index_ -= static_cast<std::size_t>(by);
    return *this;
  }
  friend constexpr Iterator operator+(Iterator iterator, difference_type by) noexcept { return iterator += by; }
  friend constexpr Iterator operator+(difference_type by, Iterator iterator) noexcept { return iterator += by; }
  friend constexpr Iterator operator-(Iterator iterator, difference_type by) noexcept { return iterator -= by; }
  friend constexpr difference_type operator-(const Iterator& left, const Iterator& right) noexcept {
    return static_cast<difference_type>(left.index_ - right.index_);
  }
  /// REQUIRES, as for the difference: both belong to the same range.
  friend constexpr bool operator==(const Iterator& left, const Iterator& right) noexcept {
    return left.index_ == right.index_;
  }
  friend constexpr std::strong_ordering operator<=>(const Iterator& left, const Iterator& right) noexcept {
    return left.index_ <=> right.index_;
  }

 private:
  friend class IdRange;
  constexpr Iterator(const IdRange& range, std::size_t index) noexcept : range_(range), index_(index) {}

  IdRange range_ = {};
  std::size_t index_ = 0;
};

constexpr IdRange::Iterator IdRange::begin() const noexcept { return {*this, 0}; }
constexpr IdRange::Iterator IdRange::end() const noexcept { return {*this, size_}; }

}  // namespace holdfast::ids
