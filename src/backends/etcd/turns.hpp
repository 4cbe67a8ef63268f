#pragma once

#include <coroutine>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "spi/claims.hpp"
#include "spi/loop.hpp"

namespace holdfast::etcd {

/// Calls may overtake each other on their way, so requests about one name wait for each other: one has its turn at a
/// time, in the order in which they came. A request about several names joins all their lines at once, so nobody waits
/// in a circle.
///
/// One thing need not wait: a claim that replaces another for the release of that other. It deletes it, too, so both
/// may arrive in any order.
class Turns {
  struct Place {
    std::coroutine_handle<> waiting = {};  ///< whoever waits for the turn
    bool has_turn = false;
    std::optional<spi::ClaimId> releases = {};
  };

 public:
  /// REQUIRES: `loop` outlives it.
  explicit Turns(spi::Loop& loop) : loop_(loop) {}
  ~Turns() { *alive_ = false; }
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  /// A place in the line of a name, until its end. `co_await ticket` waits for the turn.
  class Ticket {
   public:
    Ticket(Turns& turns, std::string name, std::shared_ptr<Place> place)
        : turns_(turns), name_(std::move(name)), place_(std::move(place)) {}
    Ticket(Ticket&& other) noexcept = default;
    Ticket& operator=(Ticket&&) = delete;
    ~Ticket() {
      if (place_) turns_.leave(name_, place_);
    }

    bool await_ready() const { return place_->has_turn || turns_.closed_; }
    void await_suspend(std::coroutine_handle<> waiting) const { place_->waiting = waiting; }
    void await_resume() const {}

   private:
    Turns& turns_;
    std::string name_;
    std::shared_ptr<Place> place_;
  };
  Ticket join(const std::string& name) { return enter(name, {}, {}); }
  Ticket join_to_release(const std::string& name, spi::ClaimId claim) { return enter(name, claim, {}); }
  Ticket join_to_replace(const std::string& name, spi::ClaimId claim) { return enter(name, {}, claim); }

  /// Everybody who waits goes on at once, and nobody waits any more.
  void close();

 private:
  Ticket enter(const std::string& name, std::optional<spi::ClaimId> releases, std::optional<spi::ClaimId> replaces);
  void leave(const std::string& name, const std::shared_ptr<Place>& place);
  void start_next();

  spi::Loop& loop_;
  std::map<std::string, std::deque<std::shared_ptr<Place>>> lines_;  ///< the first of each has its turn
  std::deque<std::shared_ptr<Place>> starting_;                      ///< those whose turn has come
  bool closed_ = false;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace holdfast::etcd
