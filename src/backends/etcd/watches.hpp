#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "backends/etcd/server_calls.hpp"
#include "base/callback.hpp"
#include "spi/loop.hpp"

namespace holdfast::etcd {

/// Watches keys on one stream, and opens another stream after a broken connection.
///
/// A watch that starts at a past revision is served by the server only ten times a second, so watches start when the
/// server creates them. What happened before is not told; instead a watch tells when it begins, and its owner looks
/// then. It begins again after the connection was lost.
class Watches final : StreamListener {
 public:
  enum class What {
    begun,    ///< changes are told from now on
    changed,  ///< a key was written
    deleted,
  };
  /// The reply has the revision from which on changes are told, or the events.
  using OnEvent = base::Callback<void(What, const WatchReply&)>;

  /// REQUIRES: `loop` and `calls` outlive it.
  Watches(spi::Loop& loop, ServerCalls& calls);

  /// Watches one key, or all keys from `key` up to `range_end`. Returns the number of the watch. `on_event` may do
  /// anything but destroy this.
  std::uint64_t watch(std::string key, std::string range_end, OnEvent on_event);
  void unwatch(std::uint64_t number);
  void close();

 private:
  struct Watch {
    std::string key;
    std::string range_end;
    OnEvent on_event;
    std::int64_t id = no_id;  ///< the server's number of the watch
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
  ServerCalls& calls_;
  std::map<std::uint64_t, Watch> watches_;
  std::map<std::int64_t, std::uint64_t> by_id_;
  std::deque<std::uint64_t> asked_for_;  ///< not created yet, in the order in which the server creates them
  std::uint64_t last_ = 0;
  std::uint64_t stream_ = 0;  ///< 0: none
  int failures_ = 0;
  bool closed_ = false;
  spi::Timer timer_;
};

}  // namespace holdfast::etcd
