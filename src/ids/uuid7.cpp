#include "holdfast/ids/uuid7.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>

#include "holdfast/error.hpp"
#include "ids/thread_state.hpp"
#include "ids/uuid7_place.hpp"
#include "ids/wiped_memory.hpp"

namespace holdfast::ids {
namespace {

/// Milliseconds since 1970; 0 before. The coarse clock takes a fifth of the time of the exact one.
std::uint64_t system_time() noexcept {
  timespec time = {};  // cannot fail: Linux has had this clock since 2.6.32
  clock_gettime(CLOCK_REALTIME_COARSE, &time);
  if (time.tv_sec < 0) return 0;
  return static_cast<std::uint64_t>(time.tv_sec) * 1000 + static_cast<std::uint64_t>(time.tv_nsec) / 1'000'000;
}

Uuid7Options checked(const Uuid7Options& options) {
  if (options.order != Order::process && options.order != Order::thread) {
    throw Error(Errc::invalid_argument,
                "the order of a Uuid7 must be process or thread, got " + std::string(to_string(options.order)));
  }
  const int most = static_cast<int>(uuid7_place::most_at_once);
  if (options.ids_per_reading < 1 || options.ids_per_reading > most) {
    throw Error(Errc::invalid_argument, "ids_per_reading must be between 1 and " + std::to_string(most) + ", got " +
                                            std::to_string(options.ids_per_reading));
  }
  if (options.ids_per_reading > 1 && options.order != Order::thread) {
    throw Error(Errc::invalid_argument, "only a thread-ordered Uuid7 can have more than 1 ids_per_reading");
  }
  return options;
}

[[noreturn]] void throw_end_of_life() {
  throw Error(Errc::end_of_life,
              "a UUID of version 7 was asked for after the last millisecond that it can have here, "
              "in the year 2527; look at the system's clock");
}

}  // namespace

/// One algorithm for both orders: a place above the last one, and random bits beside it. Only where the last place is
/// kept differs: in the thread's state, or in one word for all threads.
class Uuid7::Maker {
 public:
  explicit Maker(const Uuid7Options& options) : options_(checked(options)) {
    if (options_.order == Order::process) last_of_all_ = &shared_.emplace().make<std::atomic<std::uint64_t>>();
  }

  const Uuid7Options& options() const noexcept { return options_; }

  Uuid next() {
    ThreadState& thread = thread_state();
    return options_.randomness == Randomness::secure ? next(thread, thread.secure) : next(thread, thread.fast);
  }

  void fill(std::span<Uuid> ids) {
    ThreadState& thread = thread_state();
    while (!ids.empty()) {
      const std::span<Uuid> some = ids.first(std::min<std::size_t>(ids.size(), uuid7_place::most_at_once));
      if (options_.randomness == Randomness::secure) {
        fill(thread, thread.secure, some);
      } else {
        fill(thread, thread.fast, some);
      }
      ids = ids.subspan(some.size());
    }
  }

 private:
  template <class Source>
  Uuid next(ThreadState& thread, Source& source) {
    if (last_of_all_ != nullptr) return uuid7_place::uuid(take_of_all(now(), 1, source), source.next());
    std::uint64_t time = 0;  // which never is later than that of the last id
    if (options_.ids_per_reading == 1) {
      time = now();
    } else if (thread.ids_until_reading-- == 0) {
      time = now();
      thread.ids_until_reading = static_cast<std::uint32_t>(options_.ids_per_reading) - 1;
    }
    return uuid7_place::uuid(take_of_thread(thread, time, 1, source), source.next());
  }

  template <class Source>
  void fill(ThreadState& thread, Source& source, std::span<Uuid> ids) {
    const std::uint64_t time = now();
    std::uint64_t place = last_of_all_ != nullptr ? take_of_all(time, ids.size(), source)
                                                  : take_of_thread(thread, time, ids.size(), source);
    Uuid* to = ids.data();
    source.template supply<1>(
        ids.size(), [&](const std::array<std::uint64_t, 1>& random) { *to++ = uuid7_place::uuid(place++, random[0]); });
  }

  template <class Source>
  static std::uint64_t take_of_thread(ThreadState& thread, std::uint64_t time, std::uint64_t count, Source& source) {
    const std::uint64_t first = first_after(thread.last_place, time, count, source);
    thread.last_place = first + count - 1;
    return first;
  }

  /// Relaxed: the word alone is in order, and that is all that is needed.
  template <class Source>
  std::uint64_t take_of_all(std::uint64_t time, std::uint64_t count, Source& source) {
    std::uint64_t last = last_of_all_->load(std::memory_order_relaxed);
    std::uint64_t first = 0;
    do {
      first = first_after(last, time, count, source);
    } while (!last_of_all_->compare_exchange_weak(last, first + count - 1, std::memory_order_relaxed));
    return first;
  }

  template <class Source>
  static std::uint64_t first_after(std::uint64_t last, std::uint64_t time, std::uint64_t count, Source& source) {
    const std::uint64_t first = uuid7_place::after(last, time, count, [&] { return source.next(); });
    if (first == 0) throw_end_of_life();
    return first;
  }

  std::uint64_t now() const noexcept {
    if (options_.now == nullptr) return system_time();
    return static_cast<std::uint64_t>(std::max<std::int64_t>(options_.now().time_since_epoch().count(), 0));
  }

  const Uuid7Options options_;
  std::optional<WipedMemory> shared_;  ///< none if each thread has its own
  std::atomic<std::uint64_t>* last_of_all_ = nullptr;
};

Uuid7::Uuid7(const Uuid7Options& options) : maker_(std::make_unique<Maker>(options)) {}
Uuid7::~Uuid7() = default;

Uuid Uuid7::next() { return maker_->next(); }
void Uuid7::fill(std::span<Uuid> ids) { maker_->fill(ids); }

Traits Uuid7::traits() const noexcept {
  using std::chrono::milliseconds;
  return {.kind = "uuid7",
          .unique_by = "a counter and 54 random bits in its millisecond",
          .order = maker_->options().order,
          .carries_time = true,
          .in_an_outage = "it goes on: it needs no store",
          .ends = std::chrono::floor<std::chrono::seconds>(
              std::chrono::sys_time<milliseconds>(milliseconds(uuid7_place::end_milliseconds)))};
}

}  // namespace holdfast::ids
