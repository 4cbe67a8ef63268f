#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "backends/etcd/link.hpp"
#include "base/callback.hpp"
#include "spi/loop.hpp"

namespace holdfast::etcd {

/// Watches of keys, on one stream, as long as somebody wants them. None has a start revision: a watch from a past one
/// is served by the server only ten times a second. So whatever happened before it is there is not told, and it says
/// when it is there: look then. That happens again after the connection was lost.
class Watches final : StreamListener {
 public:
  enum class What {
    begun,    ///< from here on changes are told
    changed,  ///< a key was written
    deleted,
  };
  /// With what the server said: the revision from which on it tells, or the events.
  using OnEvent = base::Callback<void(What, const WatchReply&)>;

  /// REQUIRES: both outlive it.
  Watches(spi::Loop& loop, Link& link);

  /// Watches one key, or all up to `range_end`. `on_event` may do anything but destroy this.
  std::uint64_t watch(std::string key, std::string range_end, OnEvent on_event);
  void unwatch(std::uint64_t number);
  void close();

 private:
  struct Watch {
    std::string key;
    std::string range_end;
    OnEvent on_event;
    std::int64_t id = no_id;  ///< the server's
  };
  static constexpr std::int64_t no_id = -1;

  void kept_alive(std::uint64_t, const LeaseReply&) override {}
  void watched(std::uint64_t stream, WatchReply reply) override;
  void stream_ended(std::uint64_t stream) override;
  void moved() override;

  void ask_for(std::uint64_t number, const Watch& watch);
  void began(const WatchReply& reply);
  void tell(std::uint64_t number, What what, const WatchReply& reply);
  void open();
  void abandon_stream();
  void open_later();

  spi::Loop& loop_;
  Link& link_;
  std::map<std::uint64_t, Watch> watches_;
  std::map<std::int64_t, std::uint64_t> by_id_;
  std::deque<std::uint64_t> asked_for_;  ///< in the order in which the server will say that they are there
  std::uint64_t last_ = 0;
  std::uint64_t stream_ = 0;  ///< 0: none
  int failures_ = 0;
  bool closed_ = false;
  spi::Timer timer_;
};

}  // namespace holdfast::etcd
