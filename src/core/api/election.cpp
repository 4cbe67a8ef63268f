#include "holdfast/election.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "core/api/client_lock.hpp"
#include "core/operations/election_steps.hpp"
#include "core/runtime/perform.hpp"

namespace holdfast {

using base::Duration;
using core::Caller;

namespace core {

/// An Election object's memory: whether it leads.
class ElectionState : public std::enable_shared_from_this<ElectionState> {
 public:
  ElectionState(const Client& its_client, LockName its_name, LockOptions its_options)
      : core(ClientCore::of(its_client)), name(std::move(its_name)), options(std::move(its_options)) {}

  /// The current leadership, or null if this object does not lead.
  std::shared_ptr<Hold> leadership() const {
    const std::scoped_lock lock(mutex_);
    return leadership_ && leadership_->valid() ? leadership_ : nullptr;
  }
  /// The current leadership, or the last one.
  std::shared_ptr<Hold> last_leadership() const {
    const std::scoped_lock lock(mutex_);
    return leadership_;
  }
  std::shared_ptr<Hold> take_leadership() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(leadership_, nullptr);
  }
  /// The Election object is gone, so nobody can lead any more.
  void abandon() {
    const std::scoped_lock lock(mutex_);
    abandoned_ = true;
    leadership_ = nullptr;
  }

  /// Throws Errc::invalid_argument if a campaign is in progress, and Errc::closed or Errc::forked if none can begin.
  void begin_campaign() {
    core->check_open();
    const std::scoped_lock lock(mutex_);
    if (std::exchange(campaigning_, true)) {
      throw Error(Errc::invalid_argument,
                  "election '" + name.text() +
                      "': another campaign through this object is in progress; use an Election object for each");
    }
  }
  spi::Result<Token> end_campaign(spi::Result<std::shared_ptr<HoldRecord>> result) {
    const std::scoped_lock lock(mutex_);
    campaigning_ = false;
    if (!result.ok()) return std::move(result.failure());
    auto elected = std::make_shared<Hold>(core->hold_of(std::move(result.value())));
    if (abandoned_) return spi::Failure{Errc::cancelled, "the Election object was destroyed in the meantime"};
    leadership_ = std::move(elected);
    return leadership_->token();
  }

  const std::shared_ptr<ClientCore> core;
  const LockName name;
  const LockOptions options;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<Hold> leadership_;
  bool campaigning_ = false;
  bool abandoned_ = false;
};

/// Delivers news to an observer: one call at a time, in order.
class ObservationState : public std::enable_shared_from_this<ObservationState> {
 public:
  ObservationState(std::shared_ptr<ElectionState> election, MoveOnlyFunction<void(const Leader&)> observer)
      : election_(std::move(election)), observer_(std::move(observer)) {}

  void begin() {
    ClientCore& core = *election_->core;
    core.async_perform<spi::Nothing>(
        stop_.get_token(),
        [&](Caller& caller) {
          return core::observe(caller, election_->name,
                               [this, self = shared_from_this()](Leader leader) { heard(std::move(leader)); });
        },
        [self = shared_from_this()](const spi::Result<>& ended) {
          const Errc code = ended.ok() ? Errc::closed : ended.failure().code;
          if (code == Errc::cancelled || code == Errc::closed) return;
          self->election_->core->report(code, "the observation of election '" + self->election_->name.text() +
                                                  "' has ended: " + ended.failure().detail);
        });
  }

  void end() {
    if (election_->core->forked()) return;
    {
      std::unique_lock lock(mutex_);
      ended_ = true;
      news_.clear();
      idle_.wait(lock, [&] { return !telling_ || teller_ == std::this_thread::get_id(); });
    }
    stop_.request_stop();
  }

 private:
  /// Under the client's monitor.
  void heard(Leader leader) {
    const std::scoped_lock lock(mutex_);
    if (ended_) return;
    news_.push_back(std::move(leader));
    if (std::exchange(telling_, true)) return;
    election_->core->run([self = shared_from_this()] { self->tell(); });
  }

  void tell() {
    std::unique_lock lock(mutex_);
    teller_ = std::this_thread::get_id();
    while (!news_.empty()) {
      const Leader leader = std::move(news_.front());
      news_.pop_front();
      lock.unlock();
      observer_(leader);
      lock.lock();
    }
    telling_ = false;
    teller_ = {};
    idle_.notify_all();
  }

  const std::shared_ptr<ElectionState> election_;
  MoveOnlyFunction<void(const Leader&)> observer_;  ///< used only by the thread that is in tell()
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable idle_;
  std::deque<Leader> news_;
  bool telling_ = false;
  bool ended_ = false;
  std::thread::id teller_;
};

}  // namespace core

// --- observing ------------------------------------------------------------------------------------------------------

Observation::Observation() noexcept = default;
Observation::Observation(std::shared_ptr<core::ObservationState> state) noexcept : state_(std::move(state)) {}
Observation::Observation(Observation&&) noexcept = default;

Observation& Observation::operator=(Observation&& other) noexcept {
  if (this == &other) return *this;
  const Observation previous(std::move(*this));
  state_ = std::move(other.state_);
  return *this;
}

Observation::~Observation() {
  if (state_) state_->end();
}

Observation Election::observe(MoveOnlyFunction<void(const Leader&)> observer) {
  auto state = std::make_shared<core::ObservationState>(state_, std::move(observer));
  state->begin();
  return Observation(std::move(state));
}

// --- leading --------------------------------------------------------------------------------------------------------

Election::Election(Client& client, const LockName& name, LockOptions options) {
  core::check(options);
  state_ = std::make_shared<core::ElectionState>(client, name, std::move(options));
}

Election::~Election() { state_->abandon(); }

Token Election::campaign(std::string value, std::stop_token stop) {
  return *try_campaign_within(std::move(value), Duration::max(), std::move(stop));
}

std::optional<Token> Election::try_campaign_within(std::string value, std::chrono::nanoseconds wait,
                                                   std::stop_token stop) {
  core::check_wait(name(), wait);
  if (const auto leadership = state_->leadership()) {
    proclaim(std::move(value));
    return leadership->token();
  }
  state_->begin_campaign();
  const auto [when_busy, limit] = core::patience_for(wait);
  auto elected = state_->core->perform<std::shared_ptr<core::HoldRecord>>(limit, stop, [&](Caller& caller) {
    return core::campaign(caller, name(), std::move(value), state_->options, when_busy);
  });
  return core::value_or_empty(state_->end_campaign(std::move(elected)), "campaigning in '" + name().text() + "'");
}

void Election::async_campaign(std::string value, AsyncCallback<Token> callback, std::stop_token stop) {
  core::ClientCore& core = *state_->core;
  if (const auto leadership = state_->leadership()) {
    core.async_perform<spi::Nothing>(
        std::move(stop),
        [&](Caller& caller) {
          return core::publish(caller, name(), core::ClientCore::record_of(*leadership), std::move(value));
        },
        [leadership, callback = std::move(callback)](const spi::Result<>& published) mutable {
          if (published.ok()) return callback({}, leadership->token());
          callback(published.failure().code, Token());
        });
    return;
  }
  state_->begin_campaign();
  core.async_perform<std::shared_ptr<core::HoldRecord>>(
      std::move(stop),
      [&](Caller& caller) {
        return core::campaign(caller, name(), std::move(value), state_->options, spi::WhenBusy::wait);
      },
      [state = state_, heard = core::heard_by(std::move(callback))](auto elected) mutable {
        heard(state->end_campaign(std::move(elected)));
      });
}

void Election::proclaim(std::string value) {
  const auto leadership = state_->last_leadership();
  if (!leadership) throw Error(Errc::not_held, "election '" + name().text() + "': this object does not lead");
  auto published = state_->core->perform<spi::Nothing>(Duration::max(), {}, [&](Caller& caller) {
    return core::publish(caller, name(), core::ClientCore::record_of(*leadership), std::move(value));
  });
  core::value_or_throw(std::move(published), "proclaiming in election '" + name().text() + "'");
}

Released Election::resign() {
  const auto leadership = state_->take_leadership();
  return leadership ? leadership->release() : Released::not_held;
}

void Election::async_proclaim(std::string value, AsyncCallback<> callback) {
  const auto leadership = state_->last_leadership();
  if (!leadership) throw Error(Errc::not_held, "election '" + name().text() + "': this object does not lead");
  state_->core->async_perform<spi::Nothing>(
      {},
      [&](Caller& caller) {
        return core::publish(caller, name(), core::ClientCore::record_of(*leadership), std::move(value));
      },
      core::heard_by(std::move(callback)));
}

void Election::async_resign(AsyncCallback<Released> callback) {
  state_->core->check_open();  // a closed client calls nobody back
  const auto leadership = state_->take_leadership();
  if (leadership) return leadership->async_release(std::move(callback));
  state_->core->run([callback = std::move(callback)]() mutable { callback({}, Released::not_held); });
}

bool Election::leads() const noexcept { return state_->leadership() != nullptr; }

std::shared_ptr<const Hold> Election::hold() const {
  auto leadership = state_->last_leadership();
  if (!leadership) throw Error(Errc::not_held, "election '" + name().text() + "': this object does not lead");
  return leadership;
}

void Election::lead(std::string value, MoveOnlyFunction<void(const Hold& hold)> work, std::stop_token stop) {
  campaign(std::move(value), std::move(stop));
  struct Resigning {
    Election& election;
    ~Resigning() { election.state_->take_leadership(); }
  } const resigning{*this};
  work(*hold());
}

std::optional<Leader> Election::leader() {
  auto leader = state_->core->perform<std::optional<Leader>>(
      Duration::max(), {}, [&](Caller& caller) { return core::current_leader(caller, name()); });
  return core::value_or_throw(std::move(leader), "asking who leads in '" + name().text() + "'");
}

void Election::async_leader(AsyncCallback<std::optional<Leader>> callback) {
  state_->core->async_perform<std::optional<Leader>>(
      {}, [&](Caller& caller) { return core::current_leader(caller, name()); }, core::heard_by(std::move(callback)));
}

const LockName& Election::name() const noexcept { return state_->name; }

}  // namespace holdfast
