// One of many processes that contend for a few locks, on the public interface alone.
//
// Each thread takes turns: it asks for a random lock in a random way; when it is granted, it looks at the hold, shows
// its token to the fenced resource, works, looks again, and writes to the resource with and to the one without a
// fence; then it lets go. Everything is noted in the process's Log as it happens. When the arena asks for it, the
// process stops itself between a look and the write that follows from it: no caution of a user can prevent that.

#include "faults/contender.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "faults/arena.hpp"
#include "holdfast/holdfast.hpp"
#include "support/eventually.hpp"

namespace holdfast::faults {

namespace {

using std::chrono::microseconds;

/// One process's view of the world.
struct Process {
  Mapping<Arena> arena{arena_fd};
  Mapping<Log> log{log_fd};
  std::size_t slot = 0;
  Client client{arena->url_text(), {.label = "contender"}};
  std::atomic<std::uint32_t> turns = 0;
};

class Thread {
 public:
  Thread(Process& process, std::uint64_t seed) : process_(process), random_(seed) {}

  void run() {
    while (!process_.arena->finish) {
      turn(static_cast<Way>(below(5)));
      std::this_thread::sleep_for(microseconds(below(20'000)));
    }
    while (!turn(Way::acquire)) {  // nobody leaves before it was served once more
    }
  }

 private:
  enum class Way : std::uint8_t { lock, try_lock, try_lock_for, acquire, async_acquire };

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  Arena& arena() { return *process_.arena; }

  void note(Note note) {
    note.turn = turn_;
    note.name = name_;
    process_.log->add(note);
  }

  /// False if it was not granted.
  bool turn(Way way) {
    turn_ = process_.turns++;
    name_ = static_cast<std::uint8_t>(below(arena().names));
    Mutex mutex(process_.client, Arena::name_text(name_), {.ttl = arena().ttl()});
    try {
      switch (way) {
        case Way::lock: return locked(mutex, never, [&] { return mutex.lock(), true; });
        case Way::try_lock: return locked(mutex, {}, [&] { return mutex.try_lock(); });
        case Way::try_lock_for: {
          const milliseconds wait(1 + below(2000));
          return locked(mutex, now() + wait, [&] { return mutex.try_lock_for(wait); });
        }
        case Way::acquire: asks(never); return held(mutex.acquire());
        case Way::async_acquire: asks(never); return held(acquire_asynchronously(mutex));
      }
    } catch (const Error& error) {
      if (error.errc() != Errc::unreachable && error.errc() != Errc::in_doubt) std::cerr << error.what() << '\n';
      note({.at = now(), .what = Noted::answered, .detail = static_cast<std::uint8_t>(error.errc())});
    }
    return false;
  }

  void asks(Moment until) {
    note({.at = now(), .until = until == Moment() ? never : until, .what = Noted::asks, .detail = until == Moment()});
  }

  static Hold acquire_asynchronously(Mutex& mutex) {
    // Shared: if this process were too slow, the callback may come after the mutex is gone.
    const auto answer = std::make_shared<std::promise<Hold>>();
    mutex.async_acquire([answer](std::error_code error, Hold hold) {
      if (error) {
        answer->set_exception(std::make_exception_ptr(Error(static_cast<Errc>(error.value()), "async_acquire")));
      } else {
        answer->set_value(std::move(hold));
      }
    });
    return answer->get_future().get();
  }

  template <class Call>
  bool locked(Mutex& mutex, Moment until, Call call) {
    asks(until);
    if (!call()) {
      const Errc code = until == Moment() ? Errc::busy : Errc::timed_out;
      note({.at = now(), .what = Noted::answered, .detail = static_cast<std::uint8_t>(code)});
      return false;
    }
    granted(mutex.hold());
    section(mutex.hold());
    note({.at = now(), .what = Noted::releases});
    listener_.reset();
    mutex.unlock();
    return true;
  }

  bool held(Hold hold) {
    granted(hold);
    section(hold);
    const bool waits = below(4) != 0;
    note({.at = now(), .what = Noted::releases, .detail = waits});
    if (waits) {
      const Released outcome = hold.release();
      note({.at = now(), .what = Noted::released, .detail = static_cast<std::uint8_t>(outcome)});
    }
    listener_.reset();
    return true;
  }

  void granted(const Hold& hold) {
    note({.at = now(), .value = hold.token().value(), .what = Noted::granted, .detail = 1});
    is_told_ = false;
    listener_.emplace(hold.stop_token(), [this, turn = turn_, name = name_] {
      process_.log->add({.at = now(), .turn = turn, .what = Noted::told, .name = name});
      is_told_ = true;
    });
  }

  void section(const Hold& hold) {
    if (!look(hold)) return hear_of_loss();
    const std::uint64_t token = hold.token().value();
    const bool fence = !arena().mistakes.no_fence;
    const bool let_in = arena().fenced[name_].read(token, fence);
    note({.at = now(), .value = token, .what = Noted::reads, .detail = let_in});
    const std::uint64_t value = arena().unfenced[name_].read();
    work();
    if (!look(hold)) return hear_of_loss();
    if (arena().stop_in_section[process_.slot].exchange(false)) {
      note({.at = now(), .what = Noted::stops});
      raise(SIGSTOP);  // to this thread: with kill() it might run on for a while
    }
    note({.at = now(), .value = token, .what = Noted::writes});
    const bool accepted = arena().fenced[name_].write(token, fence);
    note({.at = now(), .value = token, .what = Noted::wrote, .detail = accepted});
    const bool harm = arena().unfenced[name_].write(token, value + 1);
    arena().harmful_writes += harm ? 1 : 0;
    note({.at = now(), .value = token, .what = Noted::unfenced, .detail = harm});
    if (!look(hold)) hear_of_loss();
  }

  /// Mostly short; sometimes longer than the lease, so that it must be renewed.
  void work() {
    const auto dice = below(200);
    if (dice == 0) return std::this_thread::sleep_for(arena().ttl() * 5 / 4);
    std::this_thread::sleep_for(microseconds(below(dice < 10 ? 50'000 : 2'000)));
  }

  bool look(const Hold& hold) {
    const Moment before = now();
    bool valid = hold.valid();
    Duration remaining = hold.remaining();
    if (arena().mistakes.goes_on_after_loss) {
      valid = true;
      remaining = arena().ttl();
    }
    note({.at = before, .after = now(), .until = before + remaining, .what = Noted::looked, .detail = valid});
    return valid;
  }

  /// Waits, in bounded time, until the hold has told of its loss by itself.
  void hear_of_loss() {
    test::eventually([&] { return is_told_.load(); });
  }

  Process& process_;
  std::mt19937_64 random_;
  std::optional<std::stop_callback<std::function<void()>>> listener_;
  std::atomic<bool> is_told_ = false;
  std::uint32_t turn_ = 0;
  std::uint8_t name_ = 0;
};

}  // namespace

bool is_contender(int argc, char** argv) { return argc == 4 && argv[1] == contender_argument; }

void run_contender(char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  {
    Process process;
    process.slot = std::stoul(argv[2]);
    const std::uint64_t seed = process.arena->seed + (std::stoull(argv[3]) << 8U);
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < process.arena->threads; ++i) {
      threads.emplace_back([&process, seed, i] { Thread(process, seed + i).run(); });
    }
    threads.clear();
    process.log->add({.at = now(), .what = Noted::closes});
  }
  std::exit(0);
}

}  // namespace holdfast::faults
