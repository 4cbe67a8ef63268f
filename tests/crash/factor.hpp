#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace holdfast::crash {

/// HOLDFAST_CRASH_FACTOR: how many times as much as usual is to be tried.
inline std::uint32_t factor() {
  const char* text = std::getenv("HOLDFAST_CRASH_FACTOR");
  return text != nullptr ? static_cast<std::uint32_t>(std::stoul(text)) : 1;
}

}  // namespace holdfast::crash
