#include "kit/net/connector.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "holdfast/error.hpp"

namespace holdfast::kit {
namespace {

std::vector<SocketAddress> worth_trying(std::vector<SocketAddress> addresses) {
  addresses = with_alternating_families(addresses);
  addresses.resize(std::min(addresses.size(), Connector::max_addresses));
  return addresses;
}

base::Duration stagger_for(std::size_t addresses, base::Duration time) {
  const auto begins = static_cast<base::Duration::rep>(std::max<std::size_t>(addresses, 1));
  return std::clamp(time / (2 * begins), base::Duration::zero(), Connector::longest_stagger);
}

}  // namespace

Connector::Connector(spi::Loop& loop, std::vector<SocketAddress> addresses, std::string target, base::Instant deadline,
                     Done done)
    : loop_(loop),
      addresses_(worth_trying(std::move(addresses))),
      target_(std::move(target)),
      deadline_(deadline),
      stagger_(stagger_for(addresses_.size(), deadline - loop.now())),
      done_(std::move(done)),
      last_failure_{Errc::unreachable, target_ + " has no address"},
      timer_(loop, [this] { time_out(); }) {
  loop_.defer([this, here = lifetime_.watch()] {
    if (here.lasts()) begin_next();
  });
}

Connector::~Connector() {
  lifetime_.end();
  give_up();
}

void Connector::time_out() {
  if (loop_.now() < deadline_) return begin_next();
  finish(spi::Failure{Errc::unreachable, target_ + " accepted no connection in time"});
}

/// The next address, or the first one after it that does not fail at once.
void Connector::begin_next() {
  while (next_ < addresses_.size()) {
    if (!begin(addresses_[next_++])) continue;
    const bool last = next_ == addresses_.size();
    return timer_.set(last ? deadline_ : std::min(deadline_, loop_.now() + stagger_));
  }
  if (under_way_.empty()) return finish(last_failure_);
  timer_.set(deadline_);
}

/// False if it has failed already.
bool Connector::begin(const SocketAddress& address) {
  base::FileDescriptor socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int descriptor = socket.get();
  if (!socket) {
    failed(errno);
    return false;
  }
  const int outcome = ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address.storage), address.length);
  if (outcome != 0 && errno != EINPROGRESS) {
    failed(errno);
    return false;
  }
  try {  // also if it is connected already: then it is ready at once
    loop_.watch(descriptor, {.writable = true}, [this, descriptor](spi::Loop::Ready) { answered(descriptor); });
  } catch (const Error& error) {
    last_failure_ = {error.errc(), error.what()};
    return false;
  }
  under_way_.push_back(std::move(socket));
  return true;
}

void Connector::answered(int descriptor) {
  const auto found = std::find_if(under_way_.begin(), under_way_.end(),
                                  [&](const base::FileDescriptor& socket) { return socket.get() == descriptor; });
  base::FileDescriptor socket = std::move(*found);
  under_way_.erase(found);
  loop_.unwatch(descriptor);
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  if (error == 0) return finish(std::move(socket));
  failed(error);
  begin_next();
}

void Connector::failed(int system_error) {
  const bool exhausted = system_error == EMFILE || system_error == ENFILE || system_error == ENOMEM;
  last_failure_ = {exhausted ? Errc::exhausted : Errc::unreachable,
                   "cannot connect to " + target_ + ": " + std::generic_category().message(system_error)};
}

void Connector::finish(spi::Result<base::FileDescriptor> result) {
  give_up();
  Done done = std::move(done_);  // it may destroy us
  done(std::move(result));
}

void Connector::give_up() {
  timer_.cancel();
  for (const base::FileDescriptor& socket : under_way_) loop_.unwatch(socket.get());
  under_way_.clear();
}

}  // namespace holdfast::kit
