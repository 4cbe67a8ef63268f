#pragma once

#include <string>

#include "holdfast/error.hpp"
#include "holdfast/options.hpp"
#include "spi/callback.hpp"

namespace holdfast::core {

/// Where the user's code runs: outside the monitor, on threads that may block.
class UserSide {
 public:
  virtual ~UserSide() = default;
  virtual void run(spi::Task task) = 0;
  virtual void log(LogLevel level, std::string text) = 0;
  virtual void report(Errc code, std::string what_happened) = 0;
};

}  // namespace holdfast::core
