#include "zookeeper/hand.hpp"

#include <poll.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "support/eventually.hpp"

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

zhandle_t* open_handle(const std::string& port, const clientid_t* session) {
  zoo_set_debug_level(static_cast<ZooLogLevel>(0));  // it would print to stderr
  return zookeeper_init2(("127.0.0.1:" + port).c_str(), [](zhandle_t*, int, int, const char*, void*) {}, 30000, session,
                         nullptr, ZOO_NO_LOG_CLIENTENV, nullptr);
}

/// What lets a client enter a session. Servers make the password from the session's number with Java's generator of
/// random numbers, so that each of them knows it without having been told.
clientid_t password_of(std::int64_t session) {
  constexpr std::uint64_t factor = 0x5DEECE66D;
  constexpr std::uint64_t mask = (std::uint64_t{1} << 48U) - 1;
  constexpr std::uint64_t salt = 0xB3415C00;
  clientid_t id = {session, {}};
  std::uint64_t state = ((static_cast<std::uint64_t>(session) ^ salt) ^ factor) & mask;
  for (std::size_t i = 0; i < sizeof id.passwd; ++i) {
    if (i % 4 == 0) state = (state * factor + 0xB) & mask;
    id.passwd[i] = static_cast<char>(state >> (16U + 8U * (i % 4)));
  }
  return id;
}

}  // namespace

struct Hand::Answer {
  bool done = false;
  int code = ZOK;
  std::string text = {};
  std::vector<std::string> names = {};
  std::int64_t owner = 0;
  std::uint64_t created_in = 0;

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
  static void with_path(int code, const char* path, const void* context) {
    if (code == ZOK) in(context).text = path;
    finish(code, context);
  }
  static void with_stat(int code, const Stat* stat, const void* context) {
    if (code == ZOK) in(context).owner = stat->ephemeralOwner;
    if (code == ZOK) in(context).created_in = static_cast<std::uint64_t>(stat->czxid);
    finish(code, context);
  }
};

Hand::Hand(const std::string& port, const std::string& credentials)
    : handle_(open_handle(port, nullptr)), authenticated_(!credentials.empty()) {
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
  // A server that has just been started may accept a connection and never answer there. The library gives that up after
  // two thirds of the session's 30 s, and tries again.
  const auto end = steady_clock::now() + test::patience;
  while (zoo_state(handle_) != ZOO_CONNECTED_STATE && steady_clock::now() < end) turn(handle_);
  if (zoo_state(handle_) != ZOO_CONNECTED_STATE) throw std::runtime_error("a server does not let us in");
  Answer answer;
  if (request(answer) != ZOK) throw std::runtime_error("a request cannot be sent");
  while (!answer.done && steady_clock::now() < end) turn(handle_);
  if (!answer.done) throw std::runtime_error("a server does not answer a request");
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

std::string Hand::join(const std::string& line) {
  const std::string path = ask([&](Answer& answer) {
                             return zoo_acreate(handle_, (line + "/lock-").c_str(), "", 0, &ZOO_OPEN_ACL_UNSAFE,
                                                ZOO_EPHEMERAL_SEQUENTIAL, &Answer::with_path, &answer);
                           }).text;
  return path.substr(path.rfind('/') + 1);
}

void Hand::set(const std::string& path, const std::string& data) {
  ask([&](Answer& answer) {
    return zoo_aset(handle_, path.c_str(), data.data(), static_cast<int>(data.size()), -1, &Answer::with_stat, &answer);
  });
}

std::int64_t Hand::owner(const std::string& path) {
  return ask([&](Answer& answer) { return zoo_aexists(handle_, path.c_str(), 0, &Answer::with_stat, &answer); }).owner;
}

std::uint64_t Hand::created_in(const std::string& path) {
  return ask([&](Answer& answer) { return zoo_aexists(handle_, path.c_str(), 0, &Answer::with_stat, &answer); })
      .created_in;
}

void Hand::end_session(const std::string& port, std::int64_t session) {
  const clientid_t id = password_of(session);
  const auto end = steady_clock::now() + test::patience;
  // The client enters it again as soon as it is pushed out, perhaps before it is closed here.
  for (bool ended = false; !ended;) {
    zhandle_t* const handle = open_handle(port, &id);
    while (zoo_state(handle) != ZOO_CONNECTED_STATE && zoo_state(handle) != ZOO_EXPIRED_SESSION_STATE &&
           steady_clock::now() < end) {
      turn(handle);
    }
    ended = zoo_state(handle) == ZOO_EXPIRED_SESSION_STATE;
    zookeeper_close(handle);
    if (steady_clock::now() >= end) throw std::runtime_error("a session does not end");
  }
}

void Hand::remove(const std::string& path) {
  ask([&](Answer& answer) { return zoo_adelete(handle_, path.c_str(), -1, &Answer::finish, &answer); });
}

}  // namespace holdfast::zookeeper_suite
