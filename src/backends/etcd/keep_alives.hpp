#pragma once

#include <cstdint>
#include <deque>

#include "backends/etcd/server_calls.hpp"
#include "spi/loop.hpp"
#include "spi/result.hpp"

namespace holdfast::etcd {

/// A lease that was kept alive. A server that was deposed as leader answers, too, so this proves something only together
/// with a read or a write that was sent after the answer and succeeded.
struct KeptAlive {
  std::int64_t seconds = 0;  ///< below 1: there is no such lease
  base::Instant sent = {};
};

/// Keeps leases alive on one stream, on which the server answers requests in order. If one is not answered in time, the
/// stream is given up with all requests on it, so that a late answer is never taken for the answer to a later request.
class KeepAlives final : StreamListener {
 public:
  /// REQUIRES: `loop` and `calls` outlive it.
  KeepAlives(spi::Loop& loop, ServerCalls& calls);

  void keep_alive(std::int64_t lease, base::Instant deadline, spi::Done<KeptAlive> done);
  void close();

 private:
  struct Request {
    std::int64_t lease;
    base::Instant sent;
    base::Instant deadline;
    spi::Done<KeptAlive> done;  ///< empty: it was given up
  };

  void kept_alive(std::uint64_t stream, const LeaseReply& lease) override;
  void watched(std::uint64_t, WatchReply) override {}
  void stream_ended(std::uint64_t stream) override;
  void moved() override { abandon_stream(); }

  void give_up();
  void set_timer();
  void abandon_stream();

  spi::Loop& loop_;
  ServerCalls& calls_;
  std::deque<Request> requests_;
  std::uint64_t stream_ = 0;  ///< 0: none
  spi::Timer timer_;
};

}  // namespace holdfast::etcd
