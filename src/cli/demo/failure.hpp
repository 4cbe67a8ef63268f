#pragma once

#include <stdexcept>
#include <string>

#include "cli/exit_code.hpp"

namespace holdfast::cli::demo {

/// The demonstration cannot go on; `code` is for the tool to exit with.
struct Failure : std::runtime_error {
  explicit Failure(const std::string& what, int its_code = exit_code::internal)
      : std::runtime_error(what), code(its_code) {}
  int code;
};

/// Somebody pressed Ctrl-C, or sent another signal that ends the tool.
struct Interrupted {
  int signal = 0;
};

}  // namespace holdfast::cli::demo
