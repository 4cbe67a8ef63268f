#include "redis/raw.hpp"

#include <stdexcept>
#include <utility>

namespace holdfast::bench {
namespace {

std::string any_value(const void* object) { return "0123456789abcdef" + std::to_string(std::size_t(object)); }

}  // namespace

Raw::Raw(int port) : context_(redisConnect("127.0.0.1", port)) {
  if (!context_ || context_->err != 0) throw std::runtime_error("no connection to the server");
}

Raw::Reply Raw::ask(const std::vector<std::string>& parts) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string& part : parts) {
    texts.push_back(part.data());
    sizes.push_back(part.size());
  }
  return checked(redisCommandArgv(context_.get(), static_cast<int>(parts.size()), texts.data(), sizes.data()));
}

Raw::Reply Raw::checked(void* reply) const {
  Reply answer(static_cast<redisReply*>(reply));
  if (!answer) throw std::runtime_error(std::string("the connection broke: ") + context_->errstr);
  if (answer->type == REDIS_REPLY_ERROR) throw std::runtime_error(answer->str);
  return answer;
}

RawLock::RawLock(int port, std::string key) : raw_(port), key_(std::move(key)), value_(any_value(this)) {
  constexpr const char* compare_and_delete =
      "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
  script_ = raw_.ask("SCRIPT LOAD %s", compare_and_delete)->str;
}

void RawLock::lock() {
  while (raw_.ask("SET %s %s NX PX 30000", key_.c_str(), value_.c_str())->type == REDIS_REPLY_NIL) {
  }
}

void RawLock::unlock() { raw_.ask("EVALSHA %s 1 %s %s", script_.c_str(), key_.c_str(), value_.c_str()); }

}  // namespace holdfast::bench
