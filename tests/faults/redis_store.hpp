#pragma once

#include <string>

#include "faults/store.hpp"
#include "support/proxy.hpp"
#include "support/redis_server.hpp"
#include "support/server_clock.hpp"

namespace holdfast::faults {

/// A server of its own that keeps all that it has acknowledged, with a clock of its own, behind a proxy.
class RedisStore final : public Store {
 public:
  enum class Layout { queue, plain };

  explicit RedisStore(Layout layout = Layout::queue) : layout_(layout) {}

  std::string url() const override {
    return "redis://127.0.0.1:" + proxy_.port() + (layout_ == Layout::plain ? "?layout=plain" : "");
  }
  std::uint64_t do_harm(Sabotage sabotage, std::chrono::milliseconds length) override;

  test::RedisServer& server() { return server_; }
  test::Proxy& proxy() { return proxy_; }
  test::ServerClock& clock() { return clock_; }

 private:
  std::uint64_t restart(std::chrono::milliseconds length, bool with_data);
  std::uint64_t pause(std::chrono::milliseconds length) const;
  /// A number that INFO tells.
  std::uint64_t info(const std::string& section, const std::string& field) const;
  std::uint64_t number_of_keys() const;

  const Layout layout_;
  test::ServerClock clock_;
  test::RedisServer server_{
      {.keeps_data = true, .arguments = {"--appendfsync", "always"}, .launcher = clock_.launcher()}};
  test::Proxy proxy_{server_.port()};
};

}  // namespace holdfast::faults
