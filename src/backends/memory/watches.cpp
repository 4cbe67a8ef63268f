#include "backends/memory/watches.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::memory {

Watches::Watches(spi::Loop& loop, OnLastGone on_last_gone)
    : loop_(loop), on_last_gone_(std::move(on_last_gone)), timer_(loop, [this] { give_up(); }) {}

void Watches::add(const LockName& name, spi::Done<> done) {
  watches_.push_back({name, spi::saturating_add(loop_.now(), patience), std::move(done)});
  timer_.set(watches_.front().until);
}

void Watches::changed(const LockName& name) {
  std::erase_if(watches_, [&](Watch& watch) {
    if (watch.name != name) return false;
    answer(watch, spi::Nothing{});
    return true;
  });
  timer_.set(watches_.empty() ? spi::Instant::max() : watches_.front().until);
}

void Watches::close(const spi::Failure& failure) {
  timer_.cancel();
  for (Watch& watch : std::exchange(watches_, {})) answer(watch, failure);
}

void Watches::give_up() {
  const spi::Instant now = loop_.now();
  while (!watches_.empty() && watches_.front().until <= now) {
    Watch watch = std::move(watches_.front());
    watches_.pop_front();
    const auto same = [&](const Watch& other) { return other.name == watch.name; };
    if (std::none_of(watches_.begin(), watches_.end(), same)) on_last_gone_(watch.name);
    answer(watch, spi::Nothing{});
  }
  timer_.set(watches_.empty() ? spi::Instant::max() : watches_.front().until);
}

void Watches::answer(Watch& watch, spi::Result<> result) {
  loop_.defer([done = std::move(watch.done), result = std::move(result)]() mutable { done(std::move(result)); });
}

}  // namespace holdfast::memory
