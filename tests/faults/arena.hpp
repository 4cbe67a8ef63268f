#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "faults/log.hpp"
#include "faults/mapping.hpp"
#include "faults/resources.hpp"

namespace holdfast::faults {

/// Mistakes for the negative controls.
struct Mistakes {
  bool goes_on_after_loss = false;  ///< workers believe in a hold for ever, without asking
  bool no_fence = false;            ///< the fenced resource turns nobody away
};

/// What the test tells its workers, and what they contend for. In memory that all of them share.
struct Arena {
  static constexpr std::size_t most_processes = 64;
  static constexpr std::size_t most_names = 4;

  // Set before the first worker starts.
  std::array<char, 512> url;  ///< not in the arguments: others can read those
  std::uint64_t seed;
  std::int64_t ttl_ms;
  std::uint32_t threads;
  std::uint8_t names;
  Mistakes mistakes;

  std::atomic<bool> finish;                                       ///< each thread takes a last turn, and ends
  std::array<std::atomic<bool>, most_processes> stop_in_section;  ///< between the look at the hold and the write

  std::atomic<std::uint64_t> harmful_writes;  ///< late ones, to the resources without a fence

  std::array<FencedResource, most_names> fenced;
  std::array<UnfencedResource, most_names> unfenced;

  /// What the locks are called.
  static std::string name_text(std::uint8_t name) { return {static_cast<char>('a' + name)}; }
  std::string_view url_text() const { return url.data(); }
  milliseconds ttl() const { return milliseconds(ttl_ms); }
};

}  // namespace holdfast::faults
