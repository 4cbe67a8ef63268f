#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "holdfast/async.hpp"
#include "holdfast/client.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/export.hpp"
#include "holdfast/hold.hpp"
#include "holdfast/move_only_function.hpp"
#include "holdfast/name.hpp"
#include "holdfast/options.hpp"

namespace holdfast {

namespace core {
class ElectionState;
class ObservationState;
}  // namespace core

/// Who leads: what the leader published, and its term. Later leaders have larger terms.
struct Leader {
  std::string value = {};
  Token term = {};
  friend bool operator==(const Leader&, const Leader&) = default;
};

/// Keeps an observer called while it exists. Its destructor waits for a call that is under way, unless it is destroyed
/// by that call itself.
class [[nodiscard]] HOLDFAST_EXPORT Observation {
 public:
  Observation() noexcept;
  Observation(Observation&&) noexcept;
  Observation& operator=(Observation&&) noexcept;
  ~Observation();

 private:
  friend class Election;
  explicit Observation(std::shared_ptr<core::ObservationState> state) noexcept;

  std::shared_ptr<core::ObservationState> state_;
};

/// One of many leads; when it resigns or dies, the next in line does.
///
///     holdfast::Election election(client, "scheduler");
///     election.campaign("host-7:8080");
///     while (election.leads()) schedule(election.hold()->token());
///
/// Leading is a lock with a value that others can read. The term is its token: a resource that checks terms refuses an
/// old leader that has not noticed yet. An election is another thing than a lock of the same name.
///
/// An Election object leads at most once at a time. Thread-safe; errors and stop_tokens as with Mutex.
class HOLDFAST_EXPORT Election {
 public:
  /// Contacts nobody. Throws Errc::invalid_argument for a bad name or bad options.
  Election(Client& client, const LockName& name, LockOptions options = {});
  /// Resigns, without waiting for the store's answer. An asynchronous campaign that is under way ends with
  /// Errc::cancelled when it is won.
  ~Election();
  Election(const Election&) = delete;
  Election& operator=(const Election&) = delete;

  /// Waits until this object leads and everybody can read `value`; returns the term. If it leads already, proclaims
  /// `value`. One campaign at a time: a second one through the same object throws Errc::invalid_argument.
  Token campaign(std::string value, std::stop_token stop = {});
  /// Empty if somebody else leads for all that time. Zero tries once; a negative one throws Errc::invalid_argument.
  template <class Rep, class Period>
  std::optional<Token> try_campaign_for(std::string value, const std::chrono::duration<Rep, Period>& duration,
                                        std::stop_token stop = {}) {
    return try_campaign_within(std::move(value), detail::saturated(duration), std::move(stop));
  }
  void async_campaign(std::string value, AsyncCallback<Token> callback, std::stop_token stop = {});
  template <detail::CompletionToken<Token> CompletionToken>
  auto async_campaign(std::string value, CompletionToken&& token) {
    return detail::AsioFor<CompletionToken, Token>::initiate(
        std::forward<CompletionToken>(token),
        [this, value = std::move(value)](AsyncCallback<Token> callback, std::stop_token stop) mutable {
          async_campaign(std::move(value), std::move(callback), std::move(stop));
        });
  }

  /// Publishes another value. Throws Errc::not_held if it does not lead, Errc::lost if it does no longer: an old leader
  /// never overwrites what a newer one has published.
  void proclaim(std::string value);
  /// Lets the next one lead, and waits for the store's answer. Campaigning again begins a new term.
  Released resign();

  void async_proclaim(std::string value, AsyncCallback<> callback);
  template <detail::CompletionToken<> CompletionToken>
  auto async_proclaim(std::string value, CompletionToken&& token) {
    return detail::AsioFor<CompletionToken>::initiate(
        std::forward<CompletionToken>(token),
        [this, value = std::move(value)](AsyncCallback<> callback, const std::stop_token&) mutable {
          async_proclaim(std::move(value), std::move(callback));
        });
  }
  void async_resign(AsyncCallback<Released> callback);
  template <detail::CompletionToken<Released> CompletionToken>
  auto async_resign(CompletionToken&& token) {
    return detail::AsioFor<CompletionToken, Released>::initiate(
        std::forward<CompletionToken>(token),
        [this](AsyncCallback<Released> callback, const std::stop_token&) { async_resign(std::move(callback)); });
  }

  bool leads() const noexcept;
  /// The leadership as a hold: its token is the term; it tells when leadership is lost. Throws Errc::not_held if this
  /// object does not lead and was not leading when it lost. Shared, because it may end in another thread.
  std::shared_ptr<const Hold> hold() const;

  /// Campaigns, calls `work` with the leadership, and resigns however `work` ends; its exceptions pass through.
  /// `work` should end when `hold.stop_token()` is triggered.
  void lead(std::string value, MoveOnlyFunction<void(const Hold& hold)> work, std::stop_token stop = {});

  /// Who leads now; empty if nobody does. Asks the store.
  std::optional<Leader> leader();
  void async_leader(AsyncCallback<std::optional<Leader>> callback);
  template <detail::CompletionToken<std::optional<Leader>> CompletionToken>
  auto async_leader(CompletionToken&& token) {
    return detail::AsioFor<CompletionToken, std::optional<Leader>>::initiate(
        std::forward<CompletionToken>(token), [this](AsyncCallback<std::optional<Leader>> callback,
                                                     const std::stop_token&) { async_leader(std::move(callback)); });
  }

  /// Calls `observer` with who leads now, if anybody does, and then with each new leader and each new value, in order,
  /// none invented and no term twice with the same value. Of more than 16 changes between two looks at the store the
  /// oldest may be missed. Survives outages. One call at a time, on a thread of the client's own; may block and may
  /// call Holdfast, must not throw. That nobody leads any more is not told: ask leader().
  Observation observe(MoveOnlyFunction<void(const Leader&)> observer);

  const LockName& name() const noexcept;

 private:
  std::optional<Token> try_campaign_within(std::string value, std::chrono::nanoseconds wait, std::stop_token stop);

  std::shared_ptr<core::ElectionState> state_;
};

}  // namespace holdfast
