#include "zookeeper/hand.hpp"

#include <poll.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace holdfast::zookeeper_suite {
namespace {

using std::chrono::steady_clock;

/// One turn of the library's loop.
void turn(zhandle_t* handle) {
  int descriptor = -1;
  int interest = 0;
  timeval wait = {};
  zookeeper_interest(handle, &descriptor, &interest, &wait);
  int ready = 0;
  if (descriptor >= 0) {
    pollfd one = {descriptor, 0, 0};
    if ((interest & ZOOKEEPER_READ) != 0) one.events = static_cast<short>(one.events | POLLIN);
    if ((interest & ZOOKEEPER_WRITE) != 0) one.events = static_cast<short>(one.events | POLLOUT);
    poll(&one, 1, 10);
    if ((one.revents & (POLLIN | POLLHUP)) != 0) ready |= ZOOKEEPER_READ;
    if ((one.revents & POLLOUT) != 0) ready |= ZOOKEEPER_WRITE;
  } else {
    poll(nullptr, 0, 10);
  }
  zookeeper_process(handle, ready);
}

}  // namespace

struct Hand::Answer {
  bool done = false;
  int code = ZOK;
  std::string text = {};
  std::vector<std::string> names = {};

  static Answer& in(const void* context) { return *static_cast<Answer*>(const_cast<void*>(context)); }
  static void finish(int code, const void* context) {
    in(context).code = code;
    in(context).done = true;
  }
  static void with_names(int code, const String_vector* names, const void* context) {
    for (int i = 0; code == ZOK && i < names->count; ++i) in(context).names.emplace_back(names->data[i]);
    finish(code, context);
  }
  static void with_data(int code, const char* data, int length, const Stat* /*stat*/, const void* context) {
    if (code == ZOK && length > 0) in(context).text.assign(data, static_cast<std::size_t>(length));
    finish(code, context);
  }
  static void with_path(int code, const char* /*path*/, const void* context) { finish(code, context); }
  static void with_stat(int code, const Stat* /*stat*/, const void* context) { finish(code, context); }
};

Hand::Hand(const std::string& port, const std::string& credentials)
    : handle_(zookeeper_init2(("127.0.0.1:" + port).c_str(), [](zhandle_t*, int, int, const char*, void*) {}, 30000,
                              nullptr, nullptr, ZOO_NO_LOG_CLIENTENV, nullptr)),
      authenticated_(!credentials.empty()) {
  if (authenticated_) {
    ask([&](Answer& answer) {
      return zoo_add_auth(handle_, "digest", credentials.data(), static_cast<int>(credentials.size()), &Answer::finish,
                          &answer);
    });
  }
}

Hand::~Hand() { zookeeper_close(handle_); }

template <class Request>
Hand::Answer Hand::ask(Request request) {
  const auto end = steady_clock::now() + std::chrono::seconds(20);
  while (zoo_state(handle_) != ZOO_CONNECTED_STATE && steady_clock::now() < end) turn(handle_);
  Answer answer;
  if (request(answer) != ZOK) throw std::runtime_error("a request cannot be sent");
  while (!answer.done && steady_clock::now() < end) turn(handle_);
  if (!answer.done) throw std::runtime_error("a server does not answer");
  if (answer.code != ZOK && answer.code != ZNONODE) throw std::runtime_error(zerror(answer.code));
  return answer;
}

std::vector<std::string> Hand::children(const std::string& path) {
  std::vector<std::string> names = ask([&](Answer& answer) {
                                     return zoo_aget_children(handle_, path.c_str(), 0, &Answer::with_names, &answer);
                                   }).names;
  const auto sequence = [](const std::string& name) {
    return name.substr(name.size() - std::min<std::size_t>(10, name.size()));
  };
  std::sort(names.begin(), names.end(),
            [&](const std::string& a, const std::string& b) { return sequence(a) < sequence(b); });
  return names;
}

std::string Hand::data(const std::string& path) {
  return ask([&](Answer& answer) { return zoo_aget(handle_, path.c_str(), 0, &Answer::with_data, &answer); }).text;
}

void Hand::create(const std::string& path) {
  ask([&](Answer& answer) {
    return zoo_acreate(handle_, path.c_str(), "", 0, authenticated_ ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE,
                       ZOO_PERSISTENT, &Answer::with_path, &answer);
  });
}

void Hand::set(const std::string& path, const std::string& data) {
  ask([&](Answer& answer) {
    return zoo_aset(handle_, path.c_str(), data.data(), static_cast<int>(data.size()), -1, &Answer::with_stat, &answer);
  });
}

void Hand::remove(const std::string& path) {
  ask([&](Answer& answer) { return zoo_adelete(handle_, path.c_str(), -1, &Answer::finish, &answer); });
}

}  // namespace holdfast::zookeeper_suite
