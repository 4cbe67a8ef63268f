#include "zookeeper/proxy.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <utility>

namespace holdfast::zookeeper_suite {
namespace {

sockaddr_in address_of(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

}  // namespace

Proxy::Proxy(const std::string& server_port)
    : server_port_(server_port),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      end_(eventfd(0, EFD_CLOEXEC)) {
  sockaddr_in address = address_of(0);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_.get(), generic, size) != 0 || listen(listener_.get(), 64) != 0 ||
      getsockname(listener_.get(), generic, &size) != 0) {
    throw std::runtime_error("no port for a proxy");
  }
  port_ = std::to_string(ntohs(address.sin_port));
  thread_ = std::thread([this] { run(); });
}

Proxy::~Proxy() {
  eventfd_write(end_.get(), 1);
  thread_.join();
}

void Proxy::run() {
  while (true) {
    const Mode mode = mode_;
    std::vector<pollfd> all = {{end_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    const auto wanted = static_cast<short>(mode == Mode::blocked ? 0 : POLLIN);
    for (const Pair& pair : pairs_) {
      all.push_back({pair.client.get(), wanted, 0});
      all.push_back({pair.server.get(), wanted, 0});
    }
    poll(all.data(), all.size(), 5);
    if (all[0].revents != 0) return;
    if (cut_.exchange(false)) pairs_.clear();
    std::vector<Pair> living;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      bool lives = true;
      if (mode != Mode::blocked) {
        if (all[2 + 2 * i].revents != 0) lives = pass(all[2 + 2 * i].fd, all[3 + 2 * i].fd, false);
        if (all[3 + 2 * i].revents != 0)
          lives = lives && pass(all[3 + 2 * i].fd, all[2 + 2 * i].fd, mode == Mode::deaf);
      }
      if (lives) living.push_back(std::move(pairs_[i]));
    }
    pairs_ = std::move(living);
    if (all[1].revents != 0) accept_one();
  }
}

void Proxy::accept_one() {
  spi::FileDescriptor client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  spi::FileDescriptor server(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = address_of(std::stoi(server_port_));
  if (connect(server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return;
  pairs_.push_back({std::move(client), std::move(server)});
}

/// False at the end of the connection.
bool Proxy::pass(int from, int to, bool lose) {
  std::array<char, 65536> bytes;
  const ssize_t count = recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count <= 0) return false;
  if (lose) {
    lost_ += static_cast<std::size_t>(count);
    return true;
  }
  return send(to, bytes.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL) == count;
}

}  // namespace holdfast::zookeeper_suite
