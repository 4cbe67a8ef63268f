#pragma once

#include <cstdint>
#include <deque>

#include "backends/etcd/link.hpp"
#include "spi/loop.hpp"
#include "spi/result.hpp"

namespace holdfast::etcd {

/// A lease that was kept alive. A server that was deposed as leader answers, too: it proves something only together
/// with a read or a write that was sent after this answer and succeeded.
struct KeptAlive {
  std::int64_t seconds = 0;  ///< below 1: there is no such lease
  base::Instant sent = {};
};

/// Keeps leases alive, on one stream. The server answers in the order of the requests; so a request that has lost its
/// patience stays in the line until its answer has come, or that answer would be taken for the next one's.
class KeepAlives final : StreamListener {
 public:
  /// REQUIRES: both outlive it.
  KeepAlives(spi::Loop& loop, Link& link);

  void keep_alive(std::int64_t lease, base::Instant deadline, spi::Done<KeptAlive> done);
  void close();

 private:
  struct Request {
    std::int64_t lease;
    base::Instant sent;
    base::Instant deadline;
    spi::Done<KeptAlive> done;  ///< empty: it has lost its patience
  };

  void kept_alive(std::uint64_t stream, const LeaseReply& lease) override;
  void watched(std::uint64_t, WatchReply) override {}
  void stream_ended(std::uint64_t stream) override;
  void moved() override { abandon_stream(); }

  void give_up();
  void set_timer();
  void abandon_stream();

  spi::Loop& loop_;
  Link& link_;
  std::deque<Request> requests_;
  std::uint64_t stream_ = 0;  ///< 0: none
  spi::Timer timer_;
};

}  // namespace holdfast::etcd
