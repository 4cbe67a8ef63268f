#include "support/proxy.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>
#include <vector>

#include "support/socket_owner.hpp"

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
void will_reset(const base::FileDescriptor& socket) {
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

void make_prompt(const base::FileDescriptor& socket) {
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

void Proxy::obey(std::function<void()> demand) {
  std::unique_lock lock(mutex_);
  demand_ = std::move(demand);
  wake();
  changed_.wait(lock, [this] { return !demand_; });
}

std::size_t Proxy::reset() {
  std::size_t count = 0;
  obey([&] {
    count = connections_.size();
    for (Connection& connection : connections_) cut(connection);
    connections_.clear();
    loses_replies_ = false;
  });
  return count;
}

std::size_t Proxy::forsake() {
  std::size_t count = 0;
  obey([&] {
    count = connections_.size();
    for (Connection& connection : connections_) connection.forsaken = true;
  });
  return count;
}

void Proxy::be_silent(bool silent) {
  obey([&] { silent_ = silent; });
}

void Proxy::lose_replies() {
  obey([&] { loses_replies_ = true; });
}

void Proxy::keep_replies() {
  obey([&] { loses_replies_ = false; });
}

void Proxy::distort_replies(std::uint32_t one_in, std::uint32_t seed, Distort what) {
  obey([&] {
    distorts_one_in_ = one_in;
    distorts_ = what;
    random_.seed(seed);
  });
}

void Proxy::distort(std::string& bytes) {
  if (distorts_one_in_ == 0 || random_() % distorts_one_in_ != 0) return;
  if (distorts_ == Distort::texts) {
    distorted_ += distort_text(bytes) ? 1 : 0;
    return;
  }
  ++distorted_;
  // A bit, a byte, or several in a row: lengths, numbers and texts become others, large ones and negative ones, too.
  const std::size_t at = random_() % bytes.size();
  switch (random_() % 4) {
    case 0: bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(1U << (random_() % 8))); break;
    case 1: bytes[at] = static_cast<char>(random_()); break;
    case 2:
      std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(), static_cast<char>(random_()));
      break;
    default:
      for (std::size_t i = at; i < std::min(bytes.size(), at + 8); ++i) bytes[i] = random_() % 2 == 0 ? '\xff' : '\0';
  }
}

/// Changes letters that have others on both sides, so that no number or length is meant. False if there are none.
bool Proxy::distort_text(std::string& bytes) {
  constexpr std::size_t margin = 3;
  const auto is_text = [](char c) { return c >= ' ' && c <= '~'; };
  std::vector<std::size_t> places;
  std::size_t length = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    length = is_text(bytes[i]) ? length + 1 : 0;
    if (length > 2 * margin) places.push_back(i - margin);
  }
  if (places.empty()) return false;
  for (std::size_t count = random_() % 8 + 1; count > 0; --count) {
    bytes[places[random_() % places.size()]] = static_cast<char>(' ' + random_() % 95);
  }
  return true;
}

void Proxy::delay(std::chrono::milliseconds delay) {
  obey([&] { delay_ = delay; });
}

void Proxy::translate(std::string from, std::string to) {
  obey([&] { dictionary_.emplace_back(std::move(from), std::move(to)); });
}

void Proxy::translate(std::string& bytes) const {
  for (const auto& [from, to] : dictionary_) {
    const std::size_t at = bytes.find(from);
    if (at != std::string::npos) bytes.replace(at, from.size(), to);
  }
}

void Proxy::shut_out(pid_t process) {
  obey([&] {
    shut_out_ = process;
    for (Connection& connection : connections_) connection.shut_out = is_opened_by(connection, process);
  });
}

bool Proxy::is_opened_by(const Connection& connection, pid_t process) const {
  return has_socket(process, socket_from(connection.client_port, static_cast<std::uint16_t>(std::stoi(port_))));
}

void Proxy::let_everybody_in() {
  obey([&] {
    shut_out_ = 0;
    connections_.remove_if([](Connection& connection) {
      if (connection.shut_out) cut(connection);
      return connection.shut_out;
    });
  });
}

void Proxy::cut(Connection& connection) {
  will_reset(connection.client.socket);
  will_reset(connection.server.socket);
}

void Proxy::wake() const { ::eventfd_write(bell_.get(), 1); }

void Proxy::run() {
  std::vector<pollfd> descriptors;
  while (true) {
    {
      const std::scoped_lock lock(mutex_);
      if (ending_) return;
      if (demand_) {
        demand_();
        demand_ = nullptr;
        changed_.notify_all();
      }
    }
    descriptors = {{bell_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const Connection& connection : connections_) {
      const bool mute = silent_ || connection.forsaken || connection.shut_out;
      const auto add = [&](const Way& in, const Way& out) {
        const int wanted = (in.under_way.size() < most_under_way ? POLLIN : 0) | (out.under_way.empty() ? 0 : POLLOUT);
        descriptors.push_back({mute ? -1 : in.socket.get(), static_cast<short>(wanted), 0});
      };
      add(connection.client, connection.server);
      add(connection.server, connection.client);
    }
    ::poll(descriptors.data(), static_cast<nfds_t>(descriptors.size()), time_to_next_due());
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

int Proxy::time_to_next_due() const {
  Clock::time_point next = Clock::time_point::max();
  for (const Connection& connection : connections_) {
    if (silent_ || connection.forsaken || connection.shut_out) continue;
    for (const Way* way : {&connection.client, &connection.server}) {
      if (!way->delayed.empty()) next = std::min(next, way->delayed.front().due);
    }
  }
  if (next == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(0, left.count()));
}

void Proxy::accept() {
  Connection connection;
  sockaddr_in opener = {};
  socklen_t size = sizeof opener;
  connection.client.socket =
      base::FileDescriptor(::accept4(listener_.get(), reinterpret_cast<sockaddr*>(&opener), &size, SOCK_CLOEXEC));
  if (connection.client.socket.get() < 0) return;
  connection.server.socket = base::FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = local_address(static_cast<std::uint16_t>(std::stoi(server_)));
  // On this host it succeeds or fails at once.
  if (::connect(connection.server.socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return will_reset(connection.client.socket);
  }
  make_prompt(connection.client.socket);
  make_prompt(connection.server.socket);
  connection.client_port = ntohs(opener.sin_port);
  connection.shut_out = shut_out_ != 0 && is_opened_by(connection, shut_out_);
  connections_.push_back(std::move(connection));
}

bool Proxy::serve(Connection& connection, short client_events, short server_events) {
  if (silent_ || connection.forsaken || connection.shut_out) return true;
  return pass(connection.client, connection.server, static_cast<short>(client_events | (server_events & POLLOUT)),
              false) &&
         pass(connection.server, connection.client, static_cast<short>(server_events | (client_events & POLLOUT)),
              true);
}

bool Proxy::pass(Way& from, const Way& to, short events, bool is_reply) {
  const bool lose = is_reply && loses_replies_;
  if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) {
    std::array<char, 16384> buffer;
    const ssize_t heard = ::recv(from.socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (heard == 0 || (heard < 0 && errno != EAGAIN)) return false;
    if (heard > 0) {
      std::string bytes(buffer.data(), static_cast<std::size_t>(heard));
      if (is_reply) {
        distort(bytes);
      } else {
        translate(bytes);
      }
      from.delayed.push_back({Clock::now() + delay_, std::move(bytes)});
    }
  }
  while (!from.delayed.empty() && from.delayed.front().due <= Clock::now()) {
    if (lose) lost_ += from.delayed.front().bytes.size();
    if (!lose) from.under_way += from.delayed.front().bytes;
    from.delayed.pop_front();
  }
  if (from.under_way.empty()) return true;
  const ssize_t sent =
      ::send(to.socket.get(), from.under_way.data(), from.under_way.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && errno != EAGAIN) return false;
  if (sent > 0) from.under_way.erase(0, static_cast<std::size_t>(sent));
  return true;
}

}  // namespace holdfast::test
