#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backends/memory/event.hpp"
#include "base/callback.hpp"
#include "spi/claims.hpp"
#include "spi/loop.hpp"

namespace holdfast::memory {

/// Where other clients of a store leave what one client should be told; its loop then empties it.
///
/// Shared by the client, the store and tasks under way, because any of them may be the last. Its mutex is held while
/// the loop is told, so that close() knows when nobody does that any more; nothing else is locked inside it but what
/// Loop::post() locks.
class Mailbox : public std::enable_shared_from_this<Mailbox> {
 public:
  using OnChange = base::Callback<void(const LockName&)>;

  /// All arguments must be good until close().
  Mailbox(spi::Loop& loop, spi::ClaimEvents& events, OnChange on_change)
      : loop_(&loop), events_(events), on_change_(std::move(on_change)) {}

  /// For the owner of the mailbox, under its monitor.
  void put_here(Event event) { put(std::move(event), &spi::Loop::defer); }
  /// For everybody else.
  void put(Event event) { put(std::move(event), &spi::Loop::post); }

  /// For the owner, under its monitor: afterwards nothing is told, and the loop is left alone.
  void close();

 private:
  void put(Event event, void (spi::Loop::*schedule)(base::Task));
  void empty_it();

  std::mutex mutex_;
  spi::Loop* loop_;  ///< null once closed
  std::vector<Event> waiting_;
  bool scheduled_ = false;

  // Only under the owner's monitor.
  bool closed_ = false;
  spi::ClaimEvents& events_;
  OnChange on_change_;
};

}  // namespace holdfast::memory
