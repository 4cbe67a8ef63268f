#include "ids/snowflake_keeper.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/random.hpp"
#include "base/signals_blocked.hpp"

namespace holdfast::ids {

using base::BootClock;
using base::Duration;
using base::Instant;
using std::chrono::milliseconds;

namespace {

constexpr Duration closing_takes = std::chrono::seconds(2);  // at most

SnowflakeOptions checked(SnowflakeOptions options, const StoreTraits& store) {
  const auto require = [](bool condition, const char* what) {
    if (!condition) throw Error(Errc::invalid_argument, what);
  };
  if (options.workers == 0) options.workers = options.layout.workers();
  require(options.workers <= options.layout.workers(), "a layout's worker bits have no room for so many workers");
  require(options.order == Order::process || options.order == Order::thread,
          "a snowflake's ids are ordered by process or by thread");
  require(options.window >= std::chrono::seconds(1) && options.window <= std::chrono::hours(1),
          "a snowflake's window must be between 1 s and 1 h");
  require(options.window >= 4 * options.layout.tick(),
          "a snowflake's window must be at least four ticks of its layout");
  require(options.max_ahead >= milliseconds::zero() && options.max_ahead <= options.window / 2,
          "max_ahead must not be negative, nor longer than half of the window");
  require(options.guard >= milliseconds::zero() && options.guard <= std::chrono::hours(1),
          "guard must be between 0 and 1 h");
  if (!store.registers) {
    throw Error(Errc::unsupported, store.store + " does not support registers, which snowflake ids need");
  }
  if (options.require_durable && !store.failover_may_lose.empty()) {
    throw Error(Errc::unsupported, store.store + " may forget what it has acknowledged, which require_durable refuses");
  }
  return options;
}

LeaseRules rules_from(const SnowflakeOptions& options, const Client& client, const LockName& pool) {
  const ClientIdentity& me = client.identity();
  return {.layout = options.layout,
          .workers = options.workers,
          .window = options.window,
          .max_ahead = options.max_ahead,
          .survive_loss = options.survive_loss,
          .guard = options.guard,
          .store_has_clock = client.traits().has_clock,
          .pool = pool.text(),
          .holder = me.host + ':' + std::to_string(me.pid) + (me.label.empty() ? "" : ' ' + me.label)};
}

/// From the kernel each time: a clone of this machine has the state of every generator of random numbers.
std::uint64_t fresh_random() { return base::Random::fresh_seed()[0]; }

}  // namespace

SnowflakeKeeper::SnowflakeKeeper(Client& client, const LockName& pool, SnowflakeOptions options)
    : options_(checked(std::move(options), client.traits())),
      pool_(pool.text()),
      clock_(options_.layout),
      store_may_forget_(!client.traits().failover_may_lose.empty()),
      registers_(client, pool),
      issuer_(rules_from(options_, client, pool), options_.when_set_back, [] { return fresh_random(); }),
      later_([this](const std::stop_token& stop) {
        const auto taken = take(1, Instant::max(), Patience::while_all_is_well, stop);
        return id_of(taken->position, taken->worker);
      }) {
  const base::SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
}

SnowflakeKeeper::~SnowflakeKeeper() { close(); }

// --- the thread -----------------------------------------------------------------------------------------------------

void SnowflakeKeeper::run() {
  if (store_may_forget_ && !options_.survive_loss) {
    log(LogLevel::info,
        "ids of pool '" + pool_ +
            "' are unique as long as the store keeps what it has acknowledged, which it may not do in a "
            "failover; SnowflakeOptions::survive_loss makes them independent of that");
  }
  Lock lock(mutex_);
  for (bool is_over = false; !is_over;) {
    try {
      const WorkerLease::Step step = issuer_.step(wall_now(), BootClock::now());
      publish();
      is_over = !perform(lock, step);
      notice_losses(lock);
    } catch (const std::exception&) {
      // There is no memory, say. What was under way is decided again.
      if (!lock.owns_lock()) lock.lock();
      is_over = !perform(lock, WorkerLease::Rest{Instant::max()});
    }
  }
}

bool SnowflakeKeeper::perform(Lock& lock, const WorkerLease::Step& step) {
  if (const auto* look = std::get_if<WorkerLease::Look>(&step)) {
    auto looked = reply_to<WorkerLease::Looked>(lock, [&](auto done) { registers_.look(*look, std::move(done)); });
    if (!looked) return false;
    issuer_.looked(*std::move(looked), wall_now(), BootClock::now());
    publish();
    return true;
  }
  if (const auto* write = std::get_if<WorkerLease::Write>(&step)) {
    auto reply = reply_to<Reply<Written>>(lock, [&](auto done) { registers_.write(*write, std::move(done)); });
    if (!reply) return false;
    issuer_.wrote(*std::move(reply), wall_now(), BootClock::now());
    publish();
    return true;
  }
  if (const auto* rest = std::get_if<WorkerLease::Rest>(&step)) {
    const Instant now = BootClock::now();
    const Instant until = std::min({rest->until, base::saturating_add(now, longest_rest), abandon_at_});
    needed_.wait_until(lock, until, [this, was_closing = closing_] { return poked_ || closing_ != was_closing; });
    poked_ = false;
    return BootClock::now() < abandon_at_;
  }
  // Over: given back, or for good. Calls throw the reason.
  return false;
}

template <class T, class Begin>
std::optional<T> SnowflakeKeeper::reply_to(Lock& lock, Begin begin) {
  // It may come after it was given up, and even after this object has gone.
  struct Coming {
    std::mutex mutex;
    std::condition_variable_any came;
    std::optional<T> reply;
    bool is_closing = false;
  };
  const auto coming = std::make_shared<Coming>();
  interrupt_wait_ = [coming] {
    const std::scoped_lock waiting(coming->mutex);
    coming->is_closing = true;
    coming->came.notify_all();
  };
  if (closing_) coming->is_closing = true;
  Instant until = abandon_at_;
  lock.unlock();
  begin([coming](T reply) {
    const std::scoped_lock waiting(coming->mutex);
    coming->reply.emplace(std::move(reply));
    coming->came.notify_all();
  });
  std::optional<T> reply;
  {
    Lock waiting(coming->mutex);
    coming->came.wait(waiting, [&] { return coming->reply || coming->is_closing; });
    if (!coming->reply) {
      if (until == Instant::max()) until = base::saturating_add(BootClock::now(), closing_takes);
      coming->came.wait_until(waiting, until, [&] { return coming->reply.has_value(); });
    }
    reply = std::move(coming->reply);
  }
  lock.lock();
  interrupt_wait_ = nullptr;
  return reply;
}

void SnowflakeKeeper::publish() {
  time_error_ = std::max(time_error_, ahead());
  Published now = {.grant = issuer_.grant(), .closing = closing_};
  if (now.grant != nullptr) {
    now.limit = now.grant->limit();
    now.most_ahead = now.grant->most_ahead();
  }
  if (issuer_.trouble()) now.trouble = issuer_.trouble()->code;
  if (now == published_) return;
  published_ = now;
  ++changes_;
  changed_.notify_all();
}

void SnowflakeKeeper::notice_losses(Lock& lock) {
  const std::uint64_t losses = issuer_.counters().lost;
  if (std::exchange(losses_, losses) == losses) return;
  lock.unlock();
  log(LogLevel::warning, "a worker number of pool '" + pool_ +
                             "' was lost, because its window had come to an end or the store has forgotten it; another "
                             "one is taken");
  lock.lock();
}

void SnowflakeKeeper::log(LogLevel level, const std::string& text) const {
  if (options_.log) options_.log(level, text);
}

void SnowflakeKeeper::close() noexcept {
  if (!belongs_to_this_process()) return;
  std::call_once(closed_, [this] {
    {
      const Lock lock(mutex_);
      closing_ = true;
      abandon_at_ = base::saturating_add(BootClock::now(), closing_takes);
      issuer_.leave_for_good();
      if (interrupt_wait_) interrupt_wait_();
      publish();
      needed_.notify_all();
    }
    later_.close();
    thread_.join();
  });
}

}  // namespace holdfast::ids
