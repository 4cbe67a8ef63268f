#include "core/engine/leftovers.hpp"

#include <algorithm>
#include <utility>

#include "core/engine/engine.hpp"
#include "spi/part_name.hpp"

namespace holdfast::core {

using base::Duration;
using base::Instant;
using spi::ClaimId;

namespace {

void tell(Leftovers::Told& told, Released outcome) {
  if (told) std::exchange(told, {})(outcome);
}

}  // namespace

Leftovers::Leftovers(Engine& engine, const LockName& name, OnIdle on_idle)
    : engine_(engine), name_(name), on_idle_(std::move(on_idle)), timer_(engine.loop(), [this] { timer_due(); }) {}

void Leftovers::release(Leftover leftover, When when) {
  const bool is_kept = when == When::soon && asked_at_once_ && !leftover.told && !engine_.closing();
  released_at_ = engine_.loop().now();
  entries_.push_back({std::move(leftover)});
  if (!is_kept) return send(entries_.back());
  entries_.back().covered = true;
  entries_.back().again_at = released_at_ + engine_.backend().release_may_wait();
  set_timer();
}

void Leftovers::cover(Leftover leftover) {
  entries_.push_back({std::move(leftover)});
  entries_.back().covered = true;
}

std::optional<ClaimId> Leftovers::newest() const {
  if (entries_.empty()) return std::nullopt;
  return entries_.back().id;
}

void Leftovers::replaced(ClaimId id) {
  Entry* const entry = find(id);
  if (entry == nullptr) return;
  Told told = std::move(entry->told);
  erase(*entry);
  tell(told, Released::released);
}

void Leftovers::replacing_failed(ClaimId id) {
  if (Entry* const entry = find(id)) tell(entry->told, Released::in_doubt);
}

void Leftovers::before_acquire() {
  asked_at_once_ =
      released_at_ != Instant::min() && engine_.loop().now() - released_at_ < engine_.backend().release_may_wait();
  for (Entry& entry : entries_) {
    if (!entry.covered) continue;
    const bool was_kept = std::exchange(entry.again_at, Instant::max()) != Instant::max();
    if (!was_kept) send(entry);
  }
  set_timer();
}

void Leftovers::uncover() {
  for (Entry& entry : entries_) {
    if (entry.covered) send(entry);
  }
}

void Leftovers::abandon() {
  for (std::size_t i = entries_.size(); i-- > 0;) {
    if (entries_[i].under_way) continue;
    Told told = std::move(entries_[i].told);
    erase(entries_[i]);
    tell(told, Released::in_doubt);
  }
  if (idle()) on_idle_();
}

Leftovers::Entry* Leftovers::find(ClaimId id) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.id == id; });
  return found == entries_.end() ? nullptr : &*found;
}

void Leftovers::erase(const Entry& entry) {
  entries_.erase(entries_.begin() + (&entry - entries_.data()));
  set_timer();
}

void Leftovers::send(Entry& entry) {
  entry.covered = false;
  entry.under_way = true;
  entry.again_at = Instant::max();
  ++in_flight_;
  engine_.claims().release({name_, entry.kind, entry.id, entry.lease},
                           [this, id = entry.id](const spi::Result<bool>& answer) {
                             answered(id, answer);
                             --in_flight_;
                             if (idle()) on_idle_();
                           });
}

void Leftovers::answered(ClaimId id, const spi::Result<bool>& answer) {
  engine_.contact(spi::was_reached(answer));
  Entry* const entry = find(id);
  if (entry == nullptr) return;
  entry->under_way = false;
  Told told = std::move(entry->told);
  if (answer.ok()) {
    erase(*entry);
    return tell(told, answer.value() ? Released::released : Released::not_held);
  }
  if (answer.failure().code == Errc::closed) {  // nobody is there to confirm anything any more
    erase(*entry);
    return tell(told, Released::in_doubt);
  }
  const Duration most = spi::patience(entry->lease);
  entry->backoff = std::clamp(entry->backoff * 2, most / 8, most);
  entry->again_at = engine_.loop().now() + engine_.jittered(entry->backoff);
  set_timer();
  tell(told, Released::in_doubt);
}

void Leftovers::timer_due() {
  const Instant now = engine_.loop().now();
  for (std::size_t i = 0; i < entries_.size();) {
    Entry& entry = entries_[i];
    if (!entry.under_way && !entry.covered && now >= entry.until) {
      if (entry.report) {
        engine_.user().report(Errc::in_doubt, "the release of lock '" + spi::PartName::shown(name_) +
                                                  "' was never confirmed; its lease has ended by now");
      }
      erase(entry);
      continue;
    }
    if (now >= entry.again_at) send(entry);
    ++i;
  }
  set_timer();
  if (idle()) on_idle_();
}

void Leftovers::set_timer() {
  Instant next = Instant::max();
  for (const Entry& entry : entries_) next = std::min(next, entry.again_at);
  timer_.set(next);
}

}  // namespace holdfast::core
