#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/instant.hpp"
#include "holdfast/error.hpp"
#include "holdfast/ids/snowflake_layout.hpp"
#include "holdfast/move_only_function.hpp"
#include "holdfast/register.hpp"
#include "ids/clock_check.hpp"
#include "ids/worker_record.hpp"

namespace holdfast::ids {

/// What a lease of a worker number depends on.
struct LeaseRules {
  SnowflakeLayout layout = {};
  std::uint32_t workers = 0;  ///< of the pool
  std::chrono::milliseconds window = std::chrono::seconds(10);
  base::Duration max_ahead = std::chrono::seconds(2);
  /// Start only where no write that the store may have lost can have started, and take clocks to differ by less than
  /// `guard`.
  bool survive_loss = false;
  std::chrono::milliseconds guard = std::chrono::seconds(2);
  bool store_has_clock = true;
  std::string pool = {};    ///< its name, for people
  std::string holder = {};  ///< of this process, for people
};

/// What a decision depends on.
struct Moment {
  WallTime wall = {};
  base::Instant boot = {};
  /// The first tick in which this process has not issued anything yet; ids that keep the order start there at the
  /// earliest.
  std::int64_t reached = 0;
};

/// What the store answered, or why it did not.
template <class T>
struct Reply {
  T value = {};
  Errc code = {};  ///< 0 if there was an answer
  std::string detail = {};
  bool ok() const { return code == Errc{}; }
};

/// The part of a worker number's life in which this process may issue ids of it: ticks from `start` to before `limit`.
/// The limit rises with each extension.
struct Tenure {
  std::uint64_t serial = 0;  ///< another one for each tenure
  std::uint32_t worker = 0;
  std::int64_t start = 0;
  std::int64_t limit = 0;
};

/// Why there are no ids.
struct Trouble {
  Errc code = {};
  std::string what = {};
  bool final = false;  ///< it will not pass
};

/// Decides how a worker number is taken, extended and given back. It does nothing itself: step() says what to do next,
/// and whoever does that tells the outcome. So the same decisions run beside a real store and in the simulation.
///
/// The window is the lease: a record says up to which tick (hwm) ids may have been issued, it is written before they
/// are, and a successor starts there. A number is free when its hwm has passed; nobody takes one whose hwm has not.
///
/// | phase     | what happens                                             | left to                                    |
/// |-----------|----------------------------------------------------------|--------------------------------------------|
/// | acquiring | looks at 16 numbers at a time, in random order, and      | holding; settling, if losses are survived  |
/// |           | takes the first free one by compare-and-set              |                                            |
/// | settling  | waits for as long as a window that was lost may last,    | holding; acquiring, if somebody has        |
/// |           | then confirms by compare-and-set                         | written meanwhile                          |
/// | holding   | extends when half of the window is left, idle or not     | acquiring, when a write is refused         |
/// | over      | given back, or there is a trouble that will not pass     |                                            |
///
/// A write whose outcome is in doubt is looked for: it was executed if the record has its nonce; it was not, so far, if
/// the version is still the old one; otherwise the number is lost. The old limit stays in force meanwhile. A write that
/// was refused is lost in any case, whatever the record says: "it names me" is also what a clone of this machine reads.
class WorkerLease {
 public:
  using RandomSource = MoveOnlyFunction<std::uint64_t()>;

  /// `random` is asked for nonces and for the order of numbers. REQUIRES: two clones of a machine get different numbers
  /// from it.
  WorkerLease(LeaseRules rules, RandomSource random);

  // What to do next.

  /// Read all of these at once.
  struct Look {
    bool pool = false;
    bool clock = false;
    std::vector<std::uint32_t> numbers = {};
  };
  /// Write this if the register's version is still `expected`.
  struct Write {
    std::optional<std::uint32_t> number = {};  ///< none: the pool's own register
    std::uint64_t expected = 0;
    std::string value = {};
  };
  /// Nothing, until then or until something changes.
  struct Rest {
    base::Instant until = {};
  };
  struct Over {};
  using Step = std::variant<Look, Write, Rest, Over>;

  /// REQUIRES: the Look or Write that it said before was answered.
  Step step(const Moment& moment);

  struct Looked {
    Reply<Versioned> pool = {};
    Reply<std::optional<StoreTime>> clock = {};
    std::vector<Reply<Versioned>> numbers = {};
  };
  void looked(Looked looked, const Moment& moment);
  void wrote(const Reply<Written>& reply, const Moment& moment);

  // What is to be done with the outcome.

  /// None while there is no number to issue from. Whoever issues stops as soon as this says so.
  std::optional<Tenure> tenure() const { return leave_at_ ? std::nullopt : held_; }
  const std::optional<Trouble>& trouble() const { return trouble_; }

  /// Gives the number back, and takes another one. REQUIRES: nothing is issued from the tenure any more, and nothing was
  /// issued at or after tick `end`.
  void leave(std::int64_t end);
  /// The same, and takes no other. step() is Over when that is done.
  void leave_for_good(std::int64_t end);

  struct Counters {
    std::uint64_t tenures = 0;
    std::uint64_t extensions = 0;
    std::uint64_t lost = 0;      ///< numbers whose extension was refused, or that were confirmed too late
    std::uint64_t doubts = 0;    ///< writes that were not answered
    std::uint64_t poisoned = 0;  ///< numbers of the last round that a wrong clock has reserved for a long time
  };
  const Counters& counters() const { return counters_; }

 private:
  enum class Phase : std::uint8_t { acquiring, settling, holding, over };
  enum class Purpose : std::uint8_t { open_pool, take, confirm, extend, leave };
  enum class Asked : std::uint8_t { numbers, clock, witness, doubt };

  /// A number, and what its record says.
  struct Candidate {
    std::uint32_t number = 0;
    std::uint64_t version = 0;
    std::int64_t hwm = 0;
  };
  /// A write that is under way, over what was there before.
  struct Pending {
    Purpose purpose = {};
    Candidate at = {};
    WorkerRecord record = {};
    bool in_doubt = false;
  };

  Step acquire(const Moment& moment);
  Step settle(const Moment& moment);
  Step hold(const Moment& moment);
  /// What to do first if the clock is not believed.
  std::optional<Step> check_clock(const Moment& moment);
  Step look(Asked asked, Look what);
  Step look_at_more_numbers();
  Step begin(Purpose purpose, const Candidate& at, std::int64_t hwm);
  Step write_pending() const;

  void join(const Versioned& pool);
  void sort_numbers(const std::vector<Reply<Versioned>>& numbers, const Moment& moment);
  void judge(ClockCheck::Verdict verdict, const Moment& moment);
  void end_round(const Moment& moment);
  void begin_round();

  void resolve_doubt(const Versioned& now, const Moment& moment);
  void executed(std::uint64_t version, const Moment& moment);
  void refused(const Versioned& now);
  void acquire_anew();
  void failed(Errc code, const std::string& detail, const Moment& moment);
  void fail_for_good(Errc code, std::string what);

  std::int64_t tick_of(const Moment& moment) const { return rules_.layout.tick_of(moment.wall); }
  std::int64_t ticks_in(base::Duration duration) const;
  PoolRecord pool_record() const;
  std::string named() const { return "the pool of worker numbers '" + rules_.pool + "'"; }

  const LeaseRules rules_;
  RandomSource random_;
  ClockCheck check_;
  Counters counters_;

  Phase phase_ = Phase::acquiring;
  Asked asked_ = Asked::numbers;
  std::optional<Pending> pending_;
  std::optional<Trouble> trouble_;
  base::Instant retry_at_ = base::Instant::min();
  base::Duration pause_ = {};

  // acquiring
  bool joined_ = false;
  std::vector<std::uint32_t> order_ = {};      ///< the numbers that were not looked at in this round
  std::vector<std::uint32_t> looked_at_ = {};  ///< those that are being looked at
  std::vector<Candidate> candidates_ = {};
  std::optional<std::int64_t> first_free_at_ = {};  ///< the smallest hwm of those that are taken

  // settling and holding
  Candidate mine_ = {};
  std::int64_t since_ = 0;
  std::optional<Tenure> held_ = {};
  base::Instant settled_at_ = {};
  std::int64_t settled_tick_ = 0;
  std::optional<std::int64_t> leave_at_ = {};  ///< the hwm to give the number back with
  bool for_good_ = false;
};

}  // namespace holdfast::ids
