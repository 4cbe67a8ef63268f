#pragma once

#include <string>
#include <thread>

#include "spi/file_descriptor.hpp"

namespace holdfast::redis_suite {

/// Accepts connections on 127.0.0.1 and answers whatever it hears first on each of them with the same words; then it is
/// silent.
class FakeServer {
 public:
  explicit FakeServer(std::string words);
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  std::string address() const { return "127.0.0.1:" + port_; }

 private:
  void serve();

  const std::string words_;
  spi::FileDescriptor listener_;
  spi::FileDescriptor end_;
  std::string port_;
  std::thread thread_;
};

}  // namespace holdfast::redis_suite
