#include "backends/redis/dialer.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "backends/redis/failures.hpp"
#include "holdfast/error.hpp"

namespace holdfast::redis {

struct Dialer::Resolution {
  int error = 0;
  std::vector<Candidate> candidates = {};

  /// Blocks, unless the host is a number and `flags` say so.
  static Resolution of(const std::string& host, const std::string& port, int flags) {
    addrinfo hints = {};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    Resolution resolution;
    resolution.error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
    if (resolution.error != 0) return resolution;
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
      Candidate candidate;
      std::memcpy(&candidate.address, each->ai_addr, each->ai_addrlen);
      candidate.length = each->ai_addrlen;
      resolution.candidates.push_back(candidate);
    }
    ::freeaddrinfo(found);
    return resolution;
  }
};

namespace {

/// A peer that vanished without a word is noticed within half a minute, also by whoever only listens.
void set_options(int descriptor) {
  const auto set = [descriptor](int level, int option, int value) {
    ::setsockopt(descriptor, level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

}  // namespace

Dialer::Dialer(spi::Loop& loop, const Address& address, Done done)
    : loop_(loop), address_(address), done_(std::move(done)), self_(std::make_shared<Dialer*>(this)) {
  loop_.defer([self = self_] {
    if (*self == nullptr) return;
    (*self)->address_.transport == Address::Transport::unix_socket ? (*self)->use_unix_socket() : (*self)->resolve();
  });
}

Dialer::~Dialer() {
  *self_ = nullptr;
  if (socket_) loop_.unwatch(socket_.get());
}

void Dialer::resolve() {
  const Resolution numeric = Resolution::of(address_.host, address_.port, AI_NUMERICHOST);
  if (numeric.error == 0) return resolved(numeric);
  auto resolution = std::make_shared<Resolution>();
  loop_.run_blocking([resolution, host = address_.host,
                      port = address_.port] { *resolution = Resolution::of(host, port, AI_ADDRCONFIG); },
                     [resolution, self = self_] {
                       if (*self != nullptr) (*self)->resolved(*resolution);
                     });
}

void Dialer::resolved(const Resolution& resolution) {
  if (resolution.error != 0) {
    return finish(spi::Failure{
        Errc::unreachable, "cannot find the host of " + address_.shown() + ": " + ::gai_strerror(resolution.error)});
  }
  candidates_ = resolution.candidates;
  try_next();
}

void Dialer::use_unix_socket() {
  sockaddr_un name = {};
  if (address_.path.size() >= sizeof name.sun_path) {
    return finish(spi::Failure{
        Errc::bad_url, "the path of the socket is longer than " + std::to_string(sizeof name.sun_path - 1) + " bytes"});
  }
  name.sun_family = AF_UNIX;
  address_.path.copy(name.sun_path, sizeof name.sun_path - 1);
  Candidate candidate;
  std::memcpy(&candidate.address, &name, sizeof name);
  candidate.length = sizeof name;
  candidates_.push_back(candidate);
  try_next();
}

void Dialer::try_next() {
  while (next_ < candidates_.size()) {
    const Candidate& candidate = candidates_[next_++];
    base::FileDescriptor socket(::socket(candidate.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) {
      last_error_ = errno;
      continue;
    }
    if (candidate.address.ss_family != AF_UNIX) set_options(socket.get());
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&candidate.address), candidate.length) == 0) {
      return finish(std::move(socket));
    }
    last_error_ = errno;
    if (last_error_ != EINPROGRESS) continue;
    try {
      loop_.watch(socket.get(), {.writable = true}, [this](spi::Loop::Ready) { connected_or_not(); });
    } catch (const Error& error) {
      return finish(spi::Failure{error.errc(), error.what()});
    }
    socket_ = std::move(socket);
    return;
  }
  finish(cannot_connect(address_, last_error_));
}

void Dialer::connected_or_not() {
  loop_.unwatch(socket_.get());
  socklen_t length = sizeof last_error_;
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &last_error_, &length) != 0) last_error_ = errno;
  base::FileDescriptor socket = std::exchange(socket_, {});
  if (last_error_ == 0) return finish(std::move(socket));
  try_next();
}

void Dialer::finish(spi::Result<base::FileDescriptor> result) {
  Done done = std::move(done_);  // it may destroy us
  done(std::move(result));
}

}  // namespace holdfast::redis
