#include "support/proxy.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>
#include <vector>

namespace holdfast::test {
namespace {

constexpr std::size_t most_under_way = std::size_t{1} << 20U;

sockaddr_in local_address(std::uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Closing it from now on sends a reset instead of an end.
void will_reset(const spi::FileDescriptor& socket) {
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

void make_prompt(const spi::FileDescriptor& socket) {
  fcntl(socket.get(), F_SETFL, O_NONBLOCK);
  const int yes = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

}  // namespace

Proxy::Proxy(std::string server)
    : server_(std::move(server)),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  sockaddr_in address = local_address(0);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_.get(), generic, size) != 0 || ::listen(listener_.get(), 1024) != 0 ||
      ::getsockname(listener_.get(), generic, &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "no port to listen at");
  }
  port_ = std::to_string(ntohs(address.sin_port));
  thread_ = std::thread([this] { run(); });
}

Proxy::~Proxy() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  wake();
  thread_.join();
}

std::size_t Proxy::demand(Demand demand) {
  std::unique_lock lock(mutex_);
  demand_ = demand;
  wake();
  changed_.wait(lock, [this] { return demand_ == Demand::none; });
  return connected_;
}

void Proxy::wake() const { ::eventfd_write(bell_.get(), 1); }

/// REQUIRES: the mutex is held.
void Proxy::obey() {
  connected_ = connections_.size();
  if (demand_ == Demand::silence || demand_ == Demand::speech) silent_ = demand_ == Demand::silence;
  for (Connection& connection : connections_) {
    if (demand_ == Demand::forsake) connection.forsaken = true;
    if (demand_ != Demand::reset) continue;
    will_reset(connection.client.socket);
    will_reset(connection.server.socket);
  }
  if (demand_ == Demand::reset) connections_.clear();
  demand_ = Demand::none;
  changed_.notify_all();
}

void Proxy::run() {
  std::vector<pollfd> descriptors;
  while (true) {
    {
      const std::scoped_lock lock(mutex_);
      if (ending_) return;
      if (demand_ != Demand::none) obey();
    }
    descriptors = {{bell_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const Connection& connection : connections_) {
      const bool mute = silent_ || connection.forsaken;
      const auto add = [&](const Way& in, const Way& out) {
        const int wanted = (in.under_way.size() < most_under_way ? POLLIN : 0) | (out.under_way.empty() ? 0 : POLLOUT);
        descriptors.push_back({mute ? -1 : in.socket.get(), static_cast<short>(wanted), 0});
      };
      add(connection.client, connection.server);
      add(connection.server, connection.client);
    }
    ::poll(descriptors.data(), static_cast<nfds_t>(descriptors.size()), -1);
    eventfd_t rung = 0;
    ::eventfd_read(bell_.get(), &rung);
    std::size_t at = 2;
    for (auto connection = connections_.begin(); connection != connections_.end(); at += 2) {
      const bool goes_on = serve(*connection, descriptors[at].revents, descriptors[at + 1].revents);
      connection = goes_on ? std::next(connection) : connections_.erase(connection);
    }
    if (descriptors[1].revents != 0) accept();
  }
}

void Proxy::accept() {
  Connection connection;
  connection.client.socket = spi::FileDescriptor(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (connection.client.socket.get() < 0) return;
  connection.server.socket = spi::FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = local_address(static_cast<std::uint16_t>(std::stoi(server_)));
  // On this host it succeeds or fails at once.
  if (::connect(connection.server.socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return will_reset(connection.client.socket);
  }
  make_prompt(connection.client.socket);
  make_prompt(connection.server.socket);
  connections_.push_back(std::move(connection));
}

bool Proxy::serve(Connection& connection, short client_events, short server_events) {
  return pass(connection.client, connection.server, static_cast<short>(client_events | (server_events & POLLOUT))) &&
         pass(connection.server, connection.client, static_cast<short>(server_events | (client_events & POLLOUT)));
}

bool Proxy::pass(Way& from, const Way& to, short events) {
  if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) {
    std::array<char, 16384> buffer;
    const ssize_t heard = ::recv(from.socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (heard == 0 || (heard < 0 && errno != EAGAIN)) return false;
    if (heard > 0) from.under_way.append(buffer.data(), static_cast<std::size_t>(heard));
  }
  if (from.under_way.empty()) return true;
  const ssize_t sent =
      ::send(to.socket.get(), from.under_way.data(), from.under_way.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && errno != EAGAIN) return false;
  if (sent > 0) from.under_way.erase(0, static_cast<std::size_t>(sent));
  return true;
}

}  // namespace holdfast::test
