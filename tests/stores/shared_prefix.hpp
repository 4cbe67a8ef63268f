#pragma once

#include <string>

#include "stores/fixture.hpp"
#include "support/shared_servers.hpp"

namespace holdfast::test {

/// A prefix of its own on servers that all cases of a test program share, because they take long to start.
/// `Servers::shared_name` is the name by which processes find them.
template <class Servers>
class SharedPrefix final : public Fixture {
 public:
  std::string url() const override { return url_ + "?prefix=" + prefix_; }

 private:
  static RunningServers start() {
    const auto running = std::make_shared<Servers>();
    return {running->url(), running};
  }

  const std::string prefix_ = new_prefix();
  const std::string url_ = shared_servers(Servers::shared_name, start);
};

}  // namespace holdfast::test
