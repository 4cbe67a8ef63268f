#include "kit/register_watches.hpp"

#include <algorithm>
#include <utility>

#include "kit/answer_soon.hpp"

namespace holdfast::kit {

RegisterWatches::RegisterWatches(spi::Loop& loop, OnLastGone on_last_gone)
    : loop_(loop), on_last_gone_(std::move(on_last_gone)), timer_(loop, [this] { give_up(); }) {}

void RegisterWatches::add(const LockName& name, spi::Done<> done) {
  watches_.push_back({name, base::saturating_add(loop_.now(), patience), std::move(done)});
  timer_.set(watches_.front().until);
}

void RegisterWatches::changed(const LockName& name) {
  std::erase_if(watches_, [&](Watch& watch) {
    if (watch.name != name) return false;
    answer(watch, spi::Nothing{});
    return true;
  });
  timer_.set(watches_.empty() ? base::Instant::max() : watches_.front().until);
}

void RegisterWatches::close(const spi::Failure& failure) {
  timer_.cancel();
  for (Watch& watch : std::exchange(watches_, {})) answer(watch, failure);
}

void RegisterWatches::give_up() {
  const base::Instant now = loop_.now();
  while (!watches_.empty() && watches_.front().until <= now) {
    Watch watch = std::move(watches_.front());
    watches_.pop_front();
    const auto same = [&](const Watch& other) { return other.name == watch.name; };
    if (std::none_of(watches_.begin(), watches_.end(), same)) on_last_gone_(watch.name);
    answer(watch, spi::Nothing{});
  }
  timer_.set(watches_.empty() ? base::Instant::max() : watches_.front().until);
}

void RegisterWatches::answer(Watch& watch, spi::Result<> result) {
  answer_soon(loop_, std::move(watch.done), std::move(result));
}

}  // namespace holdfast::kit
