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

/// `std::barrier` across processes: nobody goes on before all parties have arrived. Then it starts anew, for the next
/// phase.
///
///     holdfast::Barrier barrier(client, "map-reduce/step", 4);
///     map();
///     barrier.arrive_and_wait();  // in each of four processes
///     reduce();
///
/// Arriving is a permit that is held while waiting: a party that gives up, or whose process ends, has not arrived any
/// more, and when it comes back it is not counted twice. All parties must give the same number, or are refused with
/// Errc::invalid_argument while others wait. More than that number may use it: they are counted for the next phase.
/// Thread-safe; errors and stop_tokens as with Mutex.
class HOLDFAST_EXPORT Barrier {
 public:
  static constexpr std::uint32_t max_parties = 1'000;

  /// Contacts nobody. Throws Errc::invalid_argument for a bad name, bad options, or a number of parties that is not 1
  /// to max_parties.
  Barrier(Client& client, const LockName& name, std::uint32_t parties, LockOptions options = {});
  ~Barrier();
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;

  /// Returns the phase that is complete now, counting from 1. Survives outages of the store.
  std::uint64_t arrive_and_wait(std::stop_token stop = {});
  /// Empty if not all have arrived in time: this party has then left again.
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
