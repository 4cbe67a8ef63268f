#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "faults/clock.hpp"

namespace holdfast::faults {

/// What a worker process notes. The comment says what the members of Note mean, beside `turn` and `name`.
enum class Noted : std::uint8_t {
  nothing,
  asks,      ///< at: before the call; until: its deadline or never; detail: 1 if it refuses to wait
  answered,  ///< anything but granted; at: after the call; detail: Errc
  granted,   ///< at: after the call; value: token; detail: 1 if it listens
  looked,    ///< at: before valid() and remaining(), after: after; detail: what valid() said; until: at + remaining()
  told,      ///< the hold's own message that it is lost; at: when it came
  reads,     ///< shows its token to the fenced resource; detail: 1 if that let it in; at: after
  writes,    ///< at: before; after that the process may be killed without any further note
  wrote,     ///< detail: 1 if the fenced resource accepted it; at: after
  unfenced,  ///< detail: 1 if it did harm: the resource had heard a larger token; at: after
  stops,     ///< stops itself, in the worst moment; at: before
  releases,  ///< at: before the call; detail: 1 if it waits for the answer
  released,  ///< at: after the call; detail: Released
  closes,    ///< the process ends in good order; at: before it closes its client
};

struct Note {
  Moment at = {};
  Moment after = {};
  Moment until = {};
  std::uint64_t value = 0;
  std::uint32_t turn = 0;
  Noted what = Noted::nothing;
  std::uint8_t name = 0;
  std::uint8_t detail = 0;
};

/// What one process notes: in shared memory, so that it is there whenever the process is killed. Thread-safe.
/// A note is there as a whole or not at all.
class Log {
 public:
  void add(const Note& note) {
    const std::uint32_t at = used_.fetch_add(1);
    if (at >= capacity) std::abort();  // the test sees that the process died
    slots_[at].note = note;
    slots_[at].complete.store(1, std::memory_order_release);
  }

  std::vector<Note> read() const {
    std::vector<Note> notes;
    const std::uint32_t used = std::min(used_.load(), capacity);
    for (std::uint32_t at = 0; at < used; ++at) {
      if (slots_[at].complete.load(std::memory_order_acquire) == 1) notes.push_back(slots_[at].note);
    }
    return notes;
  }

 private:
  static constexpr std::uint32_t capacity = 1U << 20U;

  struct Slot {
    Note note;
    std::atomic<std::uint32_t> complete;
  };

  std::atomic<std::uint32_t> used_;
  std::array<Slot, capacity> slots_;
};

}  // namespace holdfast::faults
