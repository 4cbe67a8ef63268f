#include "backends/redis/connection/dialer.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/un.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::redis {
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

Dialer::Dialer(spi::Loop& loop, const ServerAddress& address, base::Instant deadline, Done done)
    : loop_(loop), address_(address), deadline_(deadline), done_(std::move(done)) {
  loop_.defer([this, here = lifetime_.watch()] {
    if (!here.lasts()) return;
    if (address_.transport == ServerAddress::Transport::unix_socket) {
      use_unix_socket();
    } else {
      resolve();
    }
  });
}

void Dialer::resolve() {
  kit::HostAddresses number = kit::HostAddresses::of_number(address_.host, address_.port);
  if (number.error == 0) return resolved(std::move(number));
  auto found = std::make_shared<kit::HostAddresses>();
  loop_.run_blocking(
      [found, host = address_.host, port = address_.port] { *found = kit::HostAddresses::look_up(host, port); },
      [this, found, here = lifetime_.watch()] {
        if (here.lasts()) resolved(std::move(*found));
      });
}

void Dialer::resolved(kit::HostAddresses host) {
  if (host.error != 0) {
    return finish(
        spi::Failure{Errc::unreachable, "cannot find the host of " + address_.shown() + ": " + host.complaint()});
  }
  connect(std::move(host.addresses));
}

void Dialer::use_unix_socket() {
  sockaddr_un name = {};
  if (address_.path.size() >= sizeof name.sun_path) {
    return finish(spi::Failure{
        Errc::bad_url, "the path of the socket is longer than " + std::to_string(sizeof name.sun_path - 1) + " bytes"});
  }
  name.sun_family = AF_UNIX;
  address_.path.copy(name.sun_path, sizeof name.sun_path - 1);
  kit::SocketAddress only;
  std::memcpy(&only.storage, &name, sizeof name);
  only.length = sizeof name;
  connect({only});
}

void Dialer::connect(std::vector<kit::SocketAddress> addresses) {
  connector_.emplace(loop_, std::move(addresses), address_.shown(), deadline_,
                     [this](spi::Result<base::FileDescriptor> result) { finish(std::move(result)); });
}

void Dialer::finish(spi::Result<base::FileDescriptor> result) {
  if (result.ok() && address_.transport != ServerAddress::Transport::unix_socket) set_options(result.value().get());
  Done done = std::move(done_);  // it may destroy us
  done(std::move(result));
}

}  // namespace holdfast::redis
