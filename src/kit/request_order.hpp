#pragma once

#include <coroutine>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/lifetime.hpp"
#include "spi/claims.hpp"
#include "spi/loop.hpp"

namespace holdfast::kit {

/// Executes requests about the same name one at a time, in the order in which they were made, although each takes
/// several steps: a coroutine enters the name's queue, waits until it is the first, and leaves when it has done what
/// later requests must not overtake.
///
///     const RequestOrder::Place place = order.enter(name);
///     co_await place;
///
/// A request about several names enters all their queues before it waits for the first of them, so no circle of
/// requests that wait for each other can form.
///
/// One request need not wait: a claim that replaces another for the release of that other. It deletes the other claim,
/// too, so both may be executed in any order.
class RequestOrder {
  struct Entry;

 public:
  /// Whoever leaves resumes the next request before leave() returns. However many leave in a row, each is resumed after
  /// the one before it has returned, never from inside it.
  RequestOrder() = default;
  /// The next request is resumed by the loop: whoever leaves may be in the middle of something. REQUIRES: `loop` outlives
  /// this.
  explicit RequestOrder(spi::Loop& loop) : loop_(&loop) {}
  RequestOrder(const RequestOrder&) = delete;
  RequestOrder& operator=(const RequestOrder&) = delete;

  /// A place in a name's queue, until leave() or its end. `co_await place` returns when it is the first.
  /// REQUIRES: its RequestOrder outlives it.
  class Place {
   public:
    Place(Place&& other) noexcept;
    Place& operator=(Place&&) = delete;
    ~Place() { leave(); }

    /// May be called again.
    void leave();

    bool await_ready() const noexcept;
    void await_suspend(std::coroutine_handle<> waiter) const noexcept;
    void await_resume() const noexcept {}

   private:
    friend class RequestOrder;
    Place(RequestOrder& order, std::string name, std::shared_ptr<Entry> entry);

    RequestOrder* order_;  ///< null once it has left
    std::string name_;
    std::shared_ptr<Entry> entry_;
  };

  Place enter(std::string name) { return enter(std::move(name), {}, {}); }
  Place enter_to_release(std::string name, spi::ClaimId claim) { return enter(std::move(name), claim, {}); }
  Place enter_to_replace(std::string name, spi::ClaimId claim) { return enter(std::move(name), {}, claim); }

  /// Nobody is in the queue of that name.
  bool is_free(const std::string& name) const { return !queues_.contains(name); }

  /// Resumes all who wait, one after the other; from now on nobody waits.
  void close();

 private:
  struct Entry {
    bool may_run = false;
    std::coroutine_handle<> waiter = {};
    std::optional<spi::ClaimId> releases = {};
  };
  using Queue = std::deque<std::shared_ptr<Entry>>;

  Place enter(std::string name, std::optional<spi::ClaimId> releases, std::optional<spi::ClaimId> replaces);
  void leave(const std::string& name, const std::shared_ptr<Entry>& entry);
  void resume_one();
  void resume_all();

  spi::Loop* const loop_ = nullptr;
  std::unordered_map<std::string, Queue> queues_;  ///< no queue is empty; the first of each may run
  Queue to_resume_;
  bool resuming_ = false;
  bool closed_ = false;
  base::Lifetime lifetime_;
};

}  // namespace holdfast::kit
