#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/temporary_directory.hpp"

namespace holdfast::fencing {

/// A program that a test has started, in a directory of its own; ended by the destructor, and if the test dies.
class Server {
 public:
  /// What it prints goes to the file `log` in the directory.
  Server(const std::vector<std::string>& command, const std::filesystem::path& directory);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  pid_t pid() const { return pid_; }
  /// Whether it has not ended by itself.
  bool runs();

 private:
  pid_t pid_ = -1;
};

/// redis-server on a free port of 127.0.0.1. Throws, with the server's log, if it does not start.
class RedisServer {
 public:
  RedisServer();
  const std::string& url() const { return url_; }

 private:
  test::TemporaryDirectory directory_;
  std::string url_;
  std::unique_ptr<Server> server_;
};

/// etcd on free ports of 127.0.0.1, likewise.
class EtcdServer {
 public:
  EtcdServer();
  const std::string& url() const { return url_; }

 private:
  test::TemporaryDirectory directory_;
  std::string url_;
  std::unique_ptr<Server> server_;
};

}  // namespace holdfast::fencing
