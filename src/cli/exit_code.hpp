#pragma once

#include <stdexcept>

#include "holdfast/error.hpp"

namespace holdfast::cli {

/// What scripts may rely on. `run` otherwise ends with its command's own code, or with 128 + the signal that ended it.
namespace exit_code {
inline constexpr int ok = 0;
inline constexpr int usage = 64;          ///< the command line is wrong
inline constexpr int unavailable = 69;    ///< the store cannot be reached, or cannot serve
inline constexpr int internal = 70;       ///< a mistake in the tool, or the machine gave out
inline constexpr int busy = 75;           ///< the store answered: not now
inline constexpr int refused = 77;        ///< the store, or its file, refused access
inline constexpr int configuration = 78;  ///< the URL or the configuration is wrong
inline constexpr int lost = 79;           ///< the lock was lost while the command ran
inline constexpr int cannot_execute = 126;
inline constexpr int not_found = 127;
inline constexpr int signal_base = 128;
}  // namespace exit_code

/// The command line is wrong; `what()` says how, and what to write instead.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The exit code that stands for an error of the library.
int exit_code_of(Errc code);

}  // namespace holdfast::cli
