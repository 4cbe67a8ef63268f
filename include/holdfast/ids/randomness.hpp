#pragma once

namespace holdfast::ids {

/// Where the random bits of UUIDs come from. Each thread has a source of either kind of its own, which the kernel's
/// random numbers begin anew in every thread and in every forked child.
///
/// A virtual machine that is cloned, or restored from a snapshot twice, while a program runs in it is something that no
/// program can see: until it next asks the kernel, each copy of a thread makes the same numbers.
enum class Randomness {
  /// AES-128 in counter mode where the processor has instructions for it, otherwise ChaCha12. Every few kilobytes the
  /// key is replaced, and the kernel is asked again after 888 UUIDs of version 4 at the latest. Whoever has seen ids
  /// cannot compute others.
  secure,
  /// xoshiro256**: as unlikely to repeat, and faster where the processor has no instructions for AES, but whoever has
  /// seen some ids can compute all others of the thread. It never asks the kernel again.
  fast,
};

}  // namespace holdfast::ids
