#include "etcd/tcp_proxy.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace holdfast::etcd_suite {
namespace {

using spi::FileDescriptor;

sockaddr_in loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

FileDescriptor connected_to(const std::string& port) {
  FileDescriptor descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(std::stoi(port));
  if (connect(descriptor.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  return descriptor;
}

bool send_all(int descriptor, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t count = send(descriptor, data, size, MSG_NOSIGNAL);
    if (count <= 0) return false;
    data += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

struct Pair {
  FileDescriptor client;
  FileDescriptor server;
  bool ended = false;
};

}  // namespace

TcpProxy::TcpProxy(std::string port_of_server)
    : server_(std::move(port_of_server)),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_.get(), generic, size) != 0 || listen(listener_.get(), 64) != 0 ||
      getsockname(listener_.get(), generic, &size) != 0) {
    throw std::runtime_error("the proxy cannot listen");
  }
  port_ = std::to_string(ntohs(address.sin_port));
  thread_ = std::thread([this] { serve(); });
}

TcpProxy::~TcpProxy() {
  ending_ = true;
  static_cast<void>(eventfd_write(wake_.get(), 1));
  thread_.join();
}

void TcpProxy::cut() {
  cut_ = true;
  static_cast<void>(eventfd_write(wake_.get(), 1));
}

void TcpProxy::serve() {
  std::vector<Pair> pairs;
  std::array<char, 65536> buffer = {};
  while (!ending_) {
    std::vector<pollfd> polled = {{listener_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    for (const Pair& pair : pairs) {
      polled.push_back({pair.client.get(), POLLIN, 0});
      polled.push_back({pair.server.get(), POLLIN, 0});
    }
    if (poll(polled.data(), polled.size(), -1) < 0) continue;
    eventfd_t ignored = 0;
    static_cast<void>(eventfd_read(wake_.get(), &ignored));
    if (cut_.exchange(false)) {
      swallow_ = false;
      pairs.clear();
      continue;
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      Pair& pair = pairs[i];
      for (const bool from_client : {true, false}) {
        if (polled[2 + 2 * i + (from_client ? 0 : 1)].revents == 0) continue;
        const int from = from_client ? pair.client.get() : pair.server.get();
        const int to = from_client ? pair.server.get() : pair.client.get();
        const ssize_t count = recv(from, buffer.data(), buffer.size(), 0);
        if (count <= 0) {
          pair.ended = true;
          continue;
        }
        if (from_client) requested_ += count;
        if (!from_client && swallow_) continue;
        pair.ended = pair.ended || !send_all(to, buffer.data(), static_cast<std::size_t>(count));
      }
    }
    std::erase_if(pairs, [](const Pair& pair) { return pair.ended; });
    if ((polled[0].revents & POLLIN) != 0) {
      FileDescriptor client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      FileDescriptor server = connected_to(server_);
      if (client && server) pairs.push_back({std::move(client), std::move(server)});
    }
  }
}

}  // namespace holdfast::etcd_suite
