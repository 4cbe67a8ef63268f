#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "holdfast/client.hpp"
#include "holdfast/register.hpp"
#include "holdfast/store_clock.hpp"
#include "ids/answer.hpp"

namespace holdfast::ids {

/// What a counter needs of its store: one register. Each request is answered exactly once, possibly inside the call, and
/// on any thread. A request that was not answered by the store fails with Errc::in_doubt, and may still be executed.
class CounterRegister {
 public:
  virtual ~CounterRegister() = default;
  virtual void get(Done<Versioned> done) = 0;
  virtual void add(std::int64_t amount, Done<std::int64_t> done) = 0;
  virtual void compare_and_set(std::uint64_t expected, std::string value, Done<Written> done) = 0;
};

/// The clock of a store. Empty if it has none.
class CounterClock {
 public:
  using Time = std::optional<std::chrono::system_clock::time_point>;
  virtual ~CounterClock() = default;
  virtual void now(Done<Time> done) = 0;
};

/// A register that answers on a thread of its client.
class AsyncRegister final : public CounterRegister {
 public:
  AsyncRegister(Client& client, const LockName& name) : register_(client, name) {}
  void get(Done<Versioned> done) override;
  void add(std::int64_t amount, Done<std::int64_t> done) override;
  void compare_and_set(std::uint64_t expected, std::string value, Done<Written> done) override;

 private:
  Register register_;
};

/// A register that answers inside the call: the calling thread waits for the store, which saves two switches between
/// threads.
class BlockingRegister final : public CounterRegister {
 public:
  BlockingRegister(Client& client, const LockName& name) : register_(client, name) {}
  void get(Done<Versioned> done) override;
  void add(std::int64_t amount, Done<std::int64_t> done) override;
  void compare_and_set(std::uint64_t expected, std::string value, Done<Written> done) override;

 private:
  Register register_;
};

class AsyncClock final : public CounterClock {
 public:
  explicit AsyncClock(Client& client) : clock_(client) {}
  void now(Done<Time> done) override;

 private:
  StoreClock clock_;
};

class BlockingClock final : public CounterClock {
 public:
  explicit BlockingClock(Client& client) : clock_(client) {}
  void now(Done<Time> done) override;

 private:
  StoreClock clock_;
};

}  // namespace holdfast::ids
