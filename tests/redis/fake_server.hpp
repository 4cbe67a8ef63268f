#pragma once

#include <functional>
#include <string>
#include <thread>

#include "base/file_descriptor.hpp"

namespace holdfast::redis_suite {

/// Accepts connections on 127.0.0.1 and answers whatever it hears, without understanding it.
class FakeServer {
 public:
  /// The same words upon the first that it hears on each connection; then it is silent.
  explicit FakeServer(const std::string& words);
  /// Whatever `answer` says each time. It is called on a thread of the server's own, with how often something was heard
  /// before on that connection.
  explicit FakeServer(std::function<std::string(int)> answer);
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  std::string address() const { return "127.0.0.1:" + port_; }

 private:
  void serve();

  const std::function<std::string(int)> answer_;
  base::FileDescriptor listener_;
  base::FileDescriptor end_;
  std::string port_;
  std::thread thread_;
};

}  // namespace holdfast::redis_suite
