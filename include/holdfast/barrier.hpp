#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "holdfast/async.hpp"
#include "holdfast/client.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/export.hpp"
#include "holdfast/name.hpp"
#include "holdfast/options.hpp"

namespace holdfast {

namespace core {
class ClientCore;
}

/// `std::barrier` across processes: nobody proceeds until all parties have arrived. The barrier then starts over with
/// the next phase.
///
///     holdfast::Barrier barrier(client, "map-reduce/step", 4);
///     map();
///     barrier.arrive_and_wait();  // in each of four processes
///     reduce();
///
/// To arrive is to hold a permit while waiting. A party that gives up, or whose process ends, therefore no longer
/// counts as arrived, and is not counted twice when it comes back. All parties must pass the same number of parties; a
/// party that disagrees while others are waiting is refused with Errc::invalid_argument. More clients than that may use
/// the barrier: the surplus counts towards the next phase.
///
/// Thread-safe. Errors and stop_tokens work as described for Mutex.
class HOLDFAST_EXPORT Barrier {
 public:
  static constexpr std::uint32_t max_parties = 1'000;

  /// Does not contact the store. Throws Errc::invalid_argument if the name or the options are invalid, or if the number
  /// of parties is not between 1 and max_parties.
  Barrier(Client& client, const LockName& name, std::uint32_t parties, LockOptions options = {});
  ~Barrier();
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;

  /// Waits until all parties have arrived, and returns the number of the phase that this completed, counting from 1.
  /// The wait survives outages of the store.
  std::uint64_t arrive_and_wait(std::stop_token stop = {});
  /// The same with a time limit. Returns empty if not all parties arrived in time; this party has then left the barrier
  /// again.
  template <class Rep, class Period>
  std::optional<std::uint64_t> arrive_and_wait_for(const std::chrono::duration<Rep, Period>& duration,
                                                   std::stop_token stop = {}) {
    return arrive_and_wait_within(detail::saturated(duration), std::move(stop));
  }
  void async_arrive_and_wait(AsyncCallback<std::uint64_t> callback, std::stop_token stop = {});
  template <detail::CompletionToken<std::uint64_t> Token>
  auto async_arrive_and_wait(Token&& token) {
    return detail::AsioFor<Token, std::uint64_t>::initiate(
        std::forward<Token>(token), [this](AsyncCallback<std::uint64_t> callback, std::stop_token stop) {
          async_arrive_and_wait(std::move(callback), std::move(stop));
        });
  }

  const LockName& name() const noexcept { return name_; }

 private:
  std::optional<std::uint64_t> arrive_and_wait_within(std::chrono::nanoseconds wait, std::stop_token stop);

  std::shared_ptr<core::ClientCore> core_;
  LockName name_;
  std::uint32_t parties_;
  LockOptions options_;
};

}  // namespace holdfast
