#include <algorithm>
#include <utility>

#include "core/api/multi_hold_state.hpp"
#include "holdfast/error.hpp"
#include "holdfast/multi_lock.hpp"

namespace holdfast {

using std::chrono::nanoseconds;

namespace {

core::MultiHoldState& checked(const std::shared_ptr<core::MultiHoldState>& state) {
  if (!state) throw Error(Errc::not_held, "this MultiHold is empty: it never held locks, or was moved from");
  return *state;
}

}  // namespace

MultiHold::MultiHold() noexcept = default;
MultiHold::MultiHold(std::shared_ptr<core::MultiHoldState> state) noexcept : state_(std::move(state)) {}
MultiHold::MultiHold(MultiHold&&) noexcept = default;
MultiHold& MultiHold::operator=(MultiHold&&) noexcept = default;
MultiHold::~MultiHold() = default;

std::vector<Token> MultiHold::tokens() const {
  std::vector<Token> tokens;
  for (const Hold& hold : checked(state_).holds) tokens.push_back(hold.token());
  return tokens;
}

HoldState MultiHold::state() const { return checked(state_).state(); }

bool MultiHold::valid() const noexcept {
  if (!state_ || state_->lost.stop_requested()) return false;
  return std::ranges::all_of(state_->holds, [](const Hold& hold) { return hold.valid(); });
}

nanoseconds MultiHold::remaining() const {
  if (!checked(state_).lost.stop_requested()) {
    nanoseconds shortest = nanoseconds::max();
    for (const Hold& hold : state_->holds) shortest = std::min(shortest, hold.remaining());
    return shortest;
  }
  return nanoseconds::zero();
}

std::stop_token MultiHold::stop_token() const { return checked(state_).lost.get_token(); }

std::vector<Released> MultiHold::release() { return checked(state_).release(); }

}  // namespace holdfast
