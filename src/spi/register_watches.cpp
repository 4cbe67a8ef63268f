#include "spi/register_watches.hpp"

#include <algorithm>
#include <utility>

#include "spi/answer_soon.hpp"

namespace holdfast::spi {

RegisterWatches::RegisterWatches(Loop& loop, OnLastGone on_last_gone)
    : loop_(loop), on_last_gone_(std::move(on_last_gone)), timer_(loop, [this] { give_up(); }) {}

void RegisterWatches::add(const LockName& name, Done<> done) {
  watches_.push_back({name, saturating_add(loop_.now(), patience), std::move(done)});
  timer_.set(watches_.front().until);
}

void RegisterWatches::changed(const LockName& name) {
  std::erase_if(watches_, [&](Watch& watch) {
    if (watch.name != name) return false;
    answer(watch, Nothing{});
    return true;
  });
  timer_.set(watches_.empty() ? Instant::max() : watches_.front().until);
}

void RegisterWatches::close(const Failure& failure) {
  timer_.cancel();
  for (Watch& watch : std::exchange(watches_, {})) answer(watch, failure);
}

void RegisterWatches::give_up() {
  const Instant now = loop_.now();
  while (!watches_.empty() && watches_.front().until <= now) {
    Watch watch = std::move(watches_.front());
    watches_.pop_front();
    const auto same = [&](const Watch& other) { return other.name == watch.name; };
    if (std::none_of(watches_.begin(), watches_.end(), same)) on_last_gone_(watch.name);
    answer(watch, Nothing{});
  }
  timer_.set(watches_.empty() ? Instant::max() : watches_.front().until);
}

void RegisterWatches::answer(Watch& watch, Result<> result) {
  answer_soon(loop_, std::move(watch.done), std::move(result));
}

}  // namespace holdfast::spi
