#include "backends/etcd/watches.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace holdfast::etcd {

Watches::Watches(spi::Loop& loop, ServerCalls& calls) : loop_(loop), calls_(calls), timer_(loop, [this] { open(); }) {
  calls_.listen(*this);
}

std::uint64_t Watches::watch(std::string key, std::string range_end, OnEvent on_event) {
  const std::uint64_t number = ++last_;
  const Watch& watch =
      watches_.emplace(number, Watch{std::move(key), std::move(range_end), std::move(on_event)}).first->second;
  if (stream_ != 0) {
    ask_for(number, watch);
  } else if (!timer_.armed()) {
    timer_.set(loop_.now());
  }
  return number;
}

void Watches::unwatch(std::uint64_t number) {
  const auto found = watches_.find(number);
  if (found == watches_.end()) return;
  const std::int64_t id = found->second.id;
  watches_.erase(found);  // if the server has not created it yet, began() ends it there
  if (id == no_id) return;
  by_id_.erase(id);
  Wire* const wire = calls_.wire();
  if (wire != nullptr && stream_ != 0) wire->unwatch(stream_, id);
}

void Watches::ask_for(std::uint64_t number, const Watch& watch) {
  Wire* const wire = calls_.wire();
  if (wire == nullptr) {
    abandon_stream();
    return open_later();
  }
  asked_for_.push_back(number);
  wire->watch(stream_, watch.key, watch.range_end);
}

void Watches::open() {
  if (closed_ || stream_ != 0 || watches_.empty()) return;
  Wire* const wire = calls_.wire();
  if (wire == nullptr) return open_later();
  stream_ = calls_.next_number();
  wire->open(stream_, Stream::watch);
  for (const auto& [number, watch] : watches_) ask_for(number, watch);  // the wire stays as it is meanwhile
}

void Watches::watched(std::uint64_t stream, WatchReply reply) {
  if (stream != stream_ || closed_) return;
  if (reply.created) {
    failures_ = 0;
    if (!reply.canceled) return began(reply);
    if (!asked_for_.empty()) asked_for_.pop_front();
    return;
  }
  const auto found = by_id_.find(reply.watch);
  if (found == by_id_.end()) return;
  const std::uint64_t number = found->second;
  if (reply.canceled) {  // because of a compaction, for example
    by_id_.erase(found);
    Watch& watch = watches_.at(number);
    watch.id = no_id;
    return ask_for(number, watch);
  }
  bool deleted = false;
  bool changed = false;
  for (const WatchReply::Event& event : reply.events) (event.deleted ? deleted : changed) = true;
  if (deleted) {
    tell(number, What::deleted, reply);
  } else if (changed) {
    tell(number, What::changed, reply);
  }
}

void Watches::began(const WatchReply& reply) {
  if (asked_for_.empty()) return;
  const std::uint64_t number = asked_for_.front();
  asked_for_.pop_front();
  const auto found = watches_.find(number);
  if (found == watches_.end()) {  // it is not wanted any more
    if (Wire* const wire = calls_.wire()) wire->unwatch(stream_, reply.watch);
    return;
  }
  found->second.id = reply.watch;
  by_id_[reply.watch] = number;
  tell(number, What::begun, reply);
}

void Watches::tell(std::uint64_t number, What what, const WatchReply& reply) {
  const auto found = watches_.find(number);
  if (found == watches_.end()) return;
  OnEvent on_event = std::move(found->second.on_event);  // it may end its own watch
  on_event(what, reply);
  if (const auto still = watches_.find(number); still != watches_.end()) still->second.on_event = std::move(on_event);
}

void Watches::stream_ended(std::uint64_t stream) {
  if (stream != stream_) return;
  abandon_stream();
  open_later();
}

void Watches::moved() {
  if (stream_ == 0) return;
  if (Wire* const wire = calls_.wire()) wire->close(stream_);
  abandon_stream();
  timer_.set(loop_.now());
}

void Watches::abandon_stream() {
  stream_ = 0;
  asked_for_.clear();
  by_id_.clear();
  for (auto& [number, watch] : watches_) watch.id = no_id;
}

void Watches::open_later() {
  constexpr base::Duration first_pause = std::chrono::milliseconds(50);
  constexpr int most_doublings = 4;
  timer_.set(loop_.now() + first_pause * (1 << std::min(failures_, most_doublings)));
  ++failures_;
}

void Watches::close() {
  closed_ = true;
  timer_.cancel();
  abandon_stream();
  watches_.clear();
}

}  // namespace holdfast::etcd
