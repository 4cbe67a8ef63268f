#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/plan.hpp"
#include "sim/timeline.hpp"
#include "spi/claims.hpp"

namespace holdfast::sim {

/// A request, which becomes its own reply; or something that the store tells by itself; or a write to the resource.
struct Message {
  using Standing = spi::ClaimAnswer::Standing;

  struct Item {
    std::uint64_t number = 0;
    std::uint32_t claim = 0;
    std::uint32_t lease = 0;        ///< in milliseconds
    std::uint32_t check_after = 0;  ///< in milliseconds
    std::uint32_t place = 0;
    std::uint8_t name = 0;
    Standing standing = Standing::absent;
  };
  static constexpr std::size_t most_items = 16;
  static constexpr std::uint32_t no_claim = 0xFFFFFFFF;

  Moment sent_at = {};
  std::uint32_t life = 0;        ///< of the client; who sent it or shall get it
  std::uint32_t request = 0;     ///< the client's number for it
  std::uint32_t store_life = 0;  ///< a restart of the store loses what is under way
  std::uint32_t replaces = no_claim;
  Request kind = Request::acquire;
  std::uint8_t client = 0;
  std::uint8_t count = 0;
  bool refuses_to_wait = false;
  ClaimMode mode = ClaimMode::exclusive;  ///< of an acquire
  std::uint8_t permits = 1;
  std::uint8_t limit = 1;
  std::uint8_t lock_delay = 0;  ///< in milliseconds
  bool hint = false;            ///< pushed: only that something changed
  std::array<Item, most_items> items = {};
};

/// Carries messages between clients and the store, as badly as the plan says.
///
/// Requests of a client arrive in the order in which they were sent, and so do replies, unless they are repeated or
/// late: those went through another connection. What the store tells by itself has no order. Where leases belong to a
/// session, requests are neither late nor repeated: such a store refuses what arrives outside of the session's order,
/// or a claim could come back that was given up, and the session would keep it for ever.
class Network {
 public:
  /// A message that is not troubled arrives within this time.
  static constexpr microseconds longest_delay{1500};

  struct Counters {
    std::uint64_t messages = 0;
    std::uint64_t lost = 0;
    std::uint64_t refused = 0;
    std::uint64_t repeated = 0;
    std::uint64_t late = 0;
  };

  explicit Network(Timeline& timeline) : timeline_(timeline) {}

  void start(const Plan& plan);
  void begin(const Fault& fault);
  void end(const Fault& fault);

  std::uint32_t make();
  Message& operator[](std::uint32_t message) { return messages_[message]; }
  void forget(std::uint32_t message) { free_.push_back(message); }

  enum class Fate { under_way, refused };
  /// Refused: nothing was sent, and the client knows it.
  Fate send_request(std::uint32_t message);
  void send_reply(std::uint32_t message);
  void send_push(std::uint32_t message);
  void send_write(std::uint32_t message);

  const Counters& counters() const { return counters_; }

 private:
  /// Per mille of the messages of one client that suffer each fault at present.
  struct Link {
    std::array<std::uint32_t, 8> troubles = {};  ///< by FaultKind
    std::uint32_t thrown = 0;                    ///< dice
    Moment last_request = {};
    Moment last_reply = {};
  };

  Dice dice(const Message& message);
  std::uint32_t trouble(const Message& message, FaultKind kind) const;
  Duration delay(const Message& message, Dice& dice) const;
  void lose(std::uint32_t message);
  void change(const Fault& fault, std::uint32_t per_mille);
  std::uint32_t copy(std::uint32_t message);

  Timeline& timeline_;
  std::uint64_t seed_ = 0;
  bool strict_order_ = false;
  std::vector<Link> links_;
  std::vector<Message> messages_;
  std::vector<std::uint32_t> free_;
  Counters counters_;
};

}  // namespace holdfast::sim
