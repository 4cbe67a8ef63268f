#pragma once

#include <hiredis/hiredis.h>

#include <memory>
#include <string>
#include <vector>

// What Holdfast is compared with: locks made by hand from hiredis, one connection each.

namespace holdfast::bench {

/// A connection that asks and waits. Throws if the server is not there.
class Raw {
 public:
  explicit Raw(int port);

  struct FreeReply {
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
  };
  using Reply = std::unique_ptr<redisReply, FreeReply>;

  /// REQUIRES: `format` as of redisCommand(). Throws if the connection breaks or the server complains.
  template <class... Arguments>
  Reply ask(const char* format, Arguments... arguments) {
    return checked(redisCommand(context_.get(), format, arguments...));
  }
  Reply ask(const std::vector<std::string>& parts);

 private:
  struct FreeContext {
    void operator()(redisContext* context) const { redisFree(context); }
  };
  Reply checked(void* reply) const;

  std::unique_ptr<redisContext, FreeContext> context_;
};

/// The least that a lock in Redis can do: SET NX PX, and a script that deletes the key if the value is still its own.
/// Two round trips. Whoever finds it taken asks again at once.
class RawLock {
 public:
  RawLock(int port, std::string key);
  void lock();
  void unlock();

 private:
  Raw raw_;
  const std::string key_;
  const std::string value_;
  std::string script_;
};

/// A list with one element, which whoever has the lock has taken out. The server wakes the next in line. No lease: if a
/// holder dies, the lock is gone. So this is a limit, and no lock.
class BlpopLock {
 public:
  BlpopLock(int port, std::string key) : raw_(port), key_(std::move(key)) {}
  /// Once, by whoever begins: the lock is free.
  void create() { unlock(); }
  void lock() { raw_.ask("BLPOP %s 0", key_.c_str()); }
  void unlock() { raw_.ask("RPUSH %s x", key_.c_str()); }

 private:
  Raw raw_;
  const std::string key_;
};

}  // namespace holdfast::bench
