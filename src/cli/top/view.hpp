#pragma once

#include <chrono>
#include <string>

#include "cli/top/frame.hpp"
#include "cli/top/state.hpp"

namespace holdfast::cli {

/// What `top` tells about the store itself.
struct StoreNews {
  std::string name = {};                            ///< printable, without a password
  std::string failure = {};                         ///< why it did not answer the last time; else empty. Printable
  std::chrono::system_clock::time_point seen = {};  ///< when it answered last
};

/// How many lines of a page are its own: locks of the list, details, help.
std::size_t rows_of_page(ScreenSize size);

/// The whole screen, at most as large as `size`: made for 80 x 24, of use from 40 x 6, never wrong.
Frame view_of(const TopState& state, const StoreNews& store, std::chrono::system_clock::time_point now,
              ScreenSize size);

}  // namespace holdfast::cli
