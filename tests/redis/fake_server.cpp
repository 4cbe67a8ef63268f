#include "redis/fake_server.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <list>
#include <stdexcept>
#include <utility>
#include <vector>

namespace holdfast::redis_suite {

FakeServer::FakeServer(const std::string& words)
    : FakeServer([words](int times) { return times == 0 ? words : std::string(); }) {}

FakeServer::FakeServer(std::function<std::string(int)> answer)
    : answer_(std::move(answer)),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      end_(::eventfd(0, EFD_CLOEXEC)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_.get(), generic, size) != 0 || ::listen(listener_.get(), 16) != 0 ||
      ::getsockname(listener_.get(), generic, &size) != 0) {
    throw std::runtime_error("no port to listen at");
  }
  port_ = std::to_string(ntohs(address.sin_port));
  thread_ = std::thread([this] { serve(); });
}

FakeServer::~FakeServer() {
  ::eventfd_write(end_.get(), 1);
  thread_.join();
}

void FakeServer::serve() {
  struct Guest {
    base::FileDescriptor socket;
    int times = 0;  ///< that it has said something
  };
  std::list<Guest> guests;
  for (;;) {
    std::vector<pollfd> descriptors = {{end_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const Guest& guest : guests) descriptors.push_back({guest.socket.get(), POLLIN, 0});
    ::poll(descriptors.data(), descriptors.size(), -1);
    if (descriptors[0].revents != 0) return;
    std::size_t at = 2;
    for (auto guest = guests.begin(); guest != guests.end();) {
      std::array<char, 4096> heard;
      const auto next = std::next(guest);
      if (descriptors[at++].revents != 0) {
        if (::recv(guest->socket.get(), heard.data(), heard.size(), MSG_DONTWAIT) <= 0) {
          guests.erase(guest);
        } else if (const std::string words = answer_(guest->times++); !words.empty()) {
          static_cast<void>(::send(guest->socket.get(), words.data(), words.size(), MSG_NOSIGNAL));
        }
      }
      guest = next;
    }
    if (descriptors[1].revents != 0)
      guests.push_back({base::FileDescriptor(::accept(listener_.get(), nullptr, nullptr))});
  }
}

}  // namespace holdfast::redis_suite
