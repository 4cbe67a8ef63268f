#include "support/redis_server.hpp"

#include <hiredis/hiredis.h>

#include <utility>

namespace holdfast::test {
namespace {

struct Free {
  void operator()(redisContext* context) const { redisFree(context); }
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Context = std::unique_ptr<redisContext, Free>;
using Answer = std::unique_ptr<redisReply, Free>;

Answer ask(redisContext& context, const std::vector<std::string>& parts) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string& part : parts) {
    texts.push_back(part.data());
    sizes.push_back(part.size());
  }
  return Answer(
      static_cast<redisReply*>(redisCommandArgv(&context, static_cast<int>(parts.size()), texts.data(), sizes.data())));
}

std::string text_of(const redisReply& reply) {
  switch (reply.type) {
    case REDIS_REPLY_INTEGER: return std::to_string(reply.integer);
    case REDIS_REPLY_NIL: return "";
    case REDIS_REPLY_ERROR: return "ERROR " + std::string(reply.str, static_cast<std::size_t>(reply.len));
    case REDIS_REPLY_ARRAY: {
      std::string text;
      for (std::size_t i = 0; i < reply.elements; ++i) text += text_of(*reply.element[i]) + "\n";
      return text;
    }
    default: return {reply.str, static_cast<std::size_t>(reply.len)};
  }
}

}  // namespace

RedisServer::RedisServer(Options options) : options_(std::move(options)) {
  start_server(
      "redis-server", directory_.path(),
      [this] {
        port_ = free_port();
        return launch();
      },
      [this](ServerProcess& process) {
        return command({"info", "server"}).find("process_id:" + std::to_string(process.pid()) + "\r") !=
               std::string::npos;
      },
      process_);
}

std::unique_ptr<ServerProcess> RedisServer::launch() const {
  std::vector<std::string> arguments = {"redis-server",
                                        "--port",
                                        options_.tls ? "0" : port_,
                                        "--bind",
                                        "127.0.0.1",
                                        "--unixsocket",
                                        socket_path(),
                                        "--save",
                                        "",
                                        "--appendonly",
                                        options_.keeps_data ? "yes" : "no",
                                        "--dir",
                                        directory_.path().string()};
  if (options_.tls) arguments.insert(arguments.end(), {"--tls-port", port_});
  arguments.insert(arguments.end(), options_.arguments.begin(), options_.arguments.end());
  arguments.insert(arguments.begin(), options_.launcher.begin(), options_.launcher.end());
  return std::make_unique<ServerProcess>(arguments, directory_.path());
}

void RedisServer::start() {
  start_server(
      "redis-server", directory_.path(), [this] { return launch(); },
      [this](ServerProcess&) { return command({"ping"}) == "PONG"; }, process_);
}

std::string RedisServer::command(const std::vector<std::string>& parts) const {
  // Through the unix socket, because the port may speak TLS.
  const timeval patience = {.tv_sec = 5, .tv_usec = 0};
  const Context context(redisConnectUnixWithTimeout(socket_path().c_str(), patience));
  if (!context || context->err != 0) return "ERROR cannot connect";
  redisSetTimeout(context.get(), patience);
  if (!options_.password.empty()) static_cast<void>(ask(*context, {"AUTH", options_.password}));
  const Answer answer = ask(*context, parts);
  return answer ? text_of(*answer) : "ERROR no answer";
}

}  // namespace holdfast::test
