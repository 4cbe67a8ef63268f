#pragma once

#include <string>

#include "base/callback.hpp"
#include "holdfast/error.hpp"
#include "holdfast/options.hpp"

namespace holdfast::core {

/// Where the user's code runs: outside the monitor, on threads that may block.
class UserSide {
 public:
  virtual ~UserSide() = default;
  virtual void run(base::Task task) = 0;
  virtual void log(LogLevel level, std::string text) = 0;
  virtual void report(Errc code, std::string what_happened) = 0;
};

}  // namespace holdfast::core
