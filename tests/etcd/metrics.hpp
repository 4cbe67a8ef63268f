#pragma once

#include <string>

#include "support/etcd_server.hpp"

namespace holdfast::etcd_suite {

/// What a server says of itself at /metrics, as it was at one moment.
class Metrics {
 public:
  explicit Metrics(const test::EtcdServer& server);

  /// How many transactions it has executed. (Everything but leases and watches is one.)
  long long transactions() const { return sum_of("grpc_server_started_total{grpc_method=\"Txn\""); }
  /// How often it was asked to begin or to end a watch.
  long long watch_requests() const { return sum_of("grpc_server_msg_received_total{grpc_method=\"Watch\""); }
  /// How many watches there are.
  long long watches() const { return sum_of("etcd_debugging_mvcc_watcher_total"); }
  /// How many events it has sent, each to one who watches.
  long long events() const { return sum_of("etcd_debugging_mvcc_events_total"); }

 private:
  /// Of all lines that begin so.
  long long sum_of(const std::string& beginning) const;

  std::string text_;
};

}  // namespace holdfast::etcd_suite
