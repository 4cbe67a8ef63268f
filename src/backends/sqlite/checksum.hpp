#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace holdfast::sqlite {

/// What a row must add up to. SQLite notices only damage that breaks its own structures; a flipped bit in a lease or in
/// the size of a pool would become a wrong grant. Against damage, not against malice.
class Checksum {
 public:
  Checksum& add(std::int64_t value) {
    // Both steps can be undone, so different values stay different.
    sum_ = (sum_ ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15U;
    sum_ ^= sum_ >> 32U;
    return *this;
  }
  Checksum& add(std::string_view bytes) {
    add(static_cast<std::int64_t>(bytes.size()));
    while (!bytes.empty()) {
      std::int64_t word = 0;
      const std::size_t size = bytes.size() < sizeof(word) ? bytes.size() : sizeof(word);
      std::memcpy(&word, bytes.data(), size);
      bytes.remove_prefix(size);
      add(word);
    }
    return *this;
  }

  std::int64_t value() const { return static_cast<std::int64_t>(sum_); }

 private:
  std::uint64_t sum_ = 0x486f6c6466617374U;  // so that zeros are no row
};

}  // namespace holdfast::sqlite
