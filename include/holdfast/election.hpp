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

/// The current leader: the value that it published, and its term. A later leader has a larger term.
struct Leader {
  std::string value = {};
  Token term = {};
  friend bool operator==(const Leader&, const Leader&) = default;
};

/// A subscription made by Election::observe(): the observer is called for as long as this object exists. The destructor
/// waits for a call that is in progress, unless it runs inside that very call.
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

/// Leader election: one of many candidates leads, and when it resigns or dies the next in line does.
///
///     holdfast::Election election(client, "scheduler");
///     election.campaign("host-7:8080");
///     while (election.leads()) schedule(election.hold()->token());
///
/// Leading means to hold a lock that carries a value for others to read. The term is the token of that lock, so a
/// resource that checks terms refuses an old leader that has not yet noticed that it was replaced. An election and a
/// lock of the same name are independent of each other.
///
/// An Election object leads at most once at a time. Thread-safe. Errors and stop_tokens work as described for Mutex.
class HOLDFAST_EXPORT Election {
 public:
  /// Does not contact the store. Throws Errc::invalid_argument if the name or the options are invalid.
  Election(Client& client, const LockName& name, LockOptions options = {});
  /// Resigns without waiting for the store's answer. If an asynchronous campaign is still pending, it ends with
  /// Errc::cancelled when it is won.
  ~Election();
  Election(const Election&) = delete;
  Election& operator=(const Election&) = delete;

  /// Waits until this object leads and everybody can read `value`, and returns the term. If this object leads already,
  /// the call only publishes `value`, as proclaim() does. Throws Errc::invalid_argument if another campaign through
  /// this object is in progress.
  Token campaign(std::string value, std::stop_token stop = {});
  /// The same with a time limit. Returns empty if somebody else led all the time. A duration of zero tries once; a
  /// negative one throws Errc::invalid_argument.
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

  /// Publishes another value. Throws Errc::not_held if this object does not lead, and Errc::lost if it no longer leads:
  /// an old leader never overwrites what a newer one has published.
  void proclaim(std::string value);
  /// Ends this leadership, so that the next candidate can lead, and waits for the store's answer. Another campaign
  /// begins a new term.
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
  /// The leadership as a hold: its token is the term, and it tells when the leadership is lost. After a loss this is
  /// the hold that was lost. Throws Errc::not_held if this object neither leads nor has lost a leadership since it last
  /// resigned. The pointer is shared because the leadership may end in another thread.
  std::shared_ptr<const Hold> hold() const;

  /// Campaigns, calls `work` with the leadership, and resigns however `work` ends; its exceptions pass through. `work`
  /// should return when `hold.stop_token()` is triggered.
  void lead(std::string value, MoveOnlyFunction<void(const Hold& hold)> work, std::stop_token stop = {});

  /// Asks the store who leads now. Empty if nobody does.
  std::optional<Leader> leader();
  void async_leader(AsyncCallback<std::optional<Leader>> callback);
  template <detail::CompletionToken<std::optional<Leader>> CompletionToken>
  auto async_leader(CompletionToken&& token) {
    return detail::AsioFor<CompletionToken, std::optional<Leader>>::initiate(
        std::forward<CompletionToken>(token), [this](AsyncCallback<std::optional<Leader>> callback,
                                                     const std::stop_token&) { async_leader(std::move(callback)); });
  }

  /// Calls `observer` with the current leader, if there is one, and then with each new leader and each new value, in
  /// order. It never reports a leader that did not exist, nor the same value of the same term twice. If more than 16
  /// changes happen between two looks at the store, the oldest of them may be missed. The observation survives outages
  /// of the store.
  ///
  /// The calls are made one at a time on one of the client's own threads. The observer may block and may call Holdfast,
  /// but must not throw. It is not told when there is no leader any more: ask leader().
  Observation observe(MoveOnlyFunction<void(const Leader&)> observer);

  const LockName& name() const noexcept;

 private:
  std::optional<Token> try_campaign_within(std::string value, std::chrono::nanoseconds wait, std::stop_token stop);

  std::shared_ptr<core::ElectionState> state_;
};

}  // namespace holdfast
