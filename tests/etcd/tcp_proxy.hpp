#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "spi/file_descriptor.hpp"

namespace holdfast::etcd_suite {

/// Stands between clients and a server of 127.0.0.1, and can be a bad connection.
class TcpProxy {
 public:
  explicit TcpProxy(std::string port_of_server);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  std::string address() const { return "127.0.0.1:" + port_; }

  /// From now on requests arrive, and what the server says is thrown away.
  void swallow_replies() { swallow_ = true; }
  /// Ends all connections; later ones are good again.
  void cut();
  /// How many bytes went from clients to the server.
  long long requested() const { return requested_; }

 private:
  void serve();

  const std::string server_;
  std::string port_;
  spi::FileDescriptor listener_;
  spi::FileDescriptor wake_;
  std::atomic<bool> swallow_ = false;
  std::atomic<bool> cut_ = false;
  std::atomic<bool> ending_ = false;
  std::atomic<long long> requested_ = 0;
  std::thread thread_;
};

}  // namespace holdfast::etcd_suite
