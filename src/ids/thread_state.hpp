#pragma once

#include <cstdint>

#include "ids/random_source.hpp"

namespace holdfast::ids {

/// What each thread that makes UUIDs has for itself. It lives in memory that is all zeros in a forked child, so zeros
/// are how it begins.
struct ThreadState {
  std::uint64_t last_place = 0;         ///< of the last thread-ordered UUID of version 7; see uuid7_place.hpp
  std::uint32_t ids_until_reading = 0;  ///< how many of them are made before the clock is read again
  FastSource fast;
  SecureSource secure;
};

/// The state of this thread, or null before it was needed for the first time. Initial-exec: an access is one load, also
/// in a shared library.
extern thread_local constinit ThreadState* current_thread_state [[gnu::tls_model("initial-exec")]];

/// Throws Errc::exhausted if there is no memory.
ThreadState& make_thread_state();

inline ThreadState& thread_state() {
  ThreadState* const state = current_thread_state;
  return state != nullptr ? *state : make_thread_state();
}

}  // namespace holdfast::ids
