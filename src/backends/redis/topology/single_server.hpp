#pragma once

#include <functional>
#include <string>

#include "backends/redis/connection/pipeline.hpp"
#include "backends/redis/connection/server_address.hpp"
#include "backends/redis/connection/subscriber.hpp"
#include "backends/redis/connection/tls_setup.hpp"
#include "backends/redis/topology/topology.hpp"
#include "spi/loop.hpp"

namespace holdfast::redis {

/// One server, which has all keys: one connection for requests, and one that listens. Behind its name another server
/// may stand after a failover; that is noticed when the old one says that it is a replica now.
class SingleServer final : public Topology {
 public:
  /// `warn`, which may be empty, is told upon the first contact if the server may throw locks away. REQUIRES: the loop
  /// outlives it.
  SingleServer(spi::Loop& loop, ServerAddress address, std::function<void(std::string)> warn);

  void send(Request request) override { pipeline_.send(std::move(request)); }
  Part part_of(std::string_view) const override { return 0; }
  std::vector<std::string> key_of_each_server() const override { return {std::string()}; }
  Channels& channels() override { return subscriber_; }
  void when_server_changed(base::Callback<void()> task) override { pipeline_.when_server_changed(std::move(task)); }
  spi::Failure not_understood() override { return pipeline_.not_understood(); }
  std::string shown() const override { return address_.shown(); }
  void close() override;

 private:
  const ServerAddress address_;
  TlsSetup tls_setup_;
  Pipeline pipeline_;
  Subscriber subscriber_;
};

}  // namespace holdfast::redis
