#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "holdfast/holdfast.hpp"
#include "redis/raw.hpp"
#include "support/redis_server.hpp"

namespace holdfast::bench {

/// One of many clients of one lock, each with connections of its own.
class OurContender {
 public:
  explicit OurContender(const test::RedisServer& server)
      : client_(server.url(), {.connect_timeout = std::chrono::seconds(60)}),
        mutex_(client_, "bench", {.ttl = std::chrono::seconds(60)}) {}
  void create() {}
  void lock() { hold_ = mutex_.acquire(); }
  void unlock() { hold_.reset(); }
  /// How many stand in line.
  std::size_t waiting() {
    const auto lock = client_.show("bench");
    return lock ? lock->waiters.size() : 0;
  }

 private:
  Client client_;
  Mutex mutex_;
  std::optional<Hold> hold_;
};

class BlpopContender : public BlpopLock {
 public:
  explicit BlpopContender(const test::RedisServer& server)
      : BlpopLock(std::stoi(server.port()), "blpop"), asks_(std::stoi(server.port())) {}
  std::size_t waiting() {
    const auto info = asks_.ask("INFO clients");
    const std::string text(info->str, info->len);
    const std::string before = "blocked_clients:";
    return std::stoul(text.substr(text.find(before) + before.size()));
  }

 private:
  Raw asks_;
};

}  // namespace holdfast::bench
