#pragma once

#include <memory>
#include <string>

#include "support/server_process.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::fencing {

/// etcd on free ports of 127.0.0.1. Throws, with the server's log, if it does not start.
class EtcdServer {
 public:
  EtcdServer();
  const std::string& url() const { return url_; }

 private:
  test::TemporaryDirectory directory_{test::memory_directory()};
  std::string url_;
  std::unique_ptr<test::ServerProcess> server_;
};

}  // namespace holdfast::fencing
