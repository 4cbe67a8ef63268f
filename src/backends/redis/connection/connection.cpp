#include "backends/redis/connection/connection.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <random>
#include <system_error>
#include <utility>

#include "backends/redis/protocol/failures.hpp"
#include "holdfast/error.hpp"

namespace holdfast::redis {

using spi::Failure;
using namespace std::chrono_literals;

namespace {

/// An attempt that takes longer has failed.
constexpr base::Duration attempt_patience = 3s;
constexpr base::Duration first_pause = 20ms;
constexpr base::Duration longest_pause = 1s;
/// A connection that broke earlier is as bad as none.
constexpr base::Duration good_life = 1s;

}  // namespace

Connection::Connection(spi::Loop& loop, const ServerAddress& address, TlsSetup& tls_setup, Owner& owner)
    : loop_(loop),
      address_(address),
      tls_setup_(tls_setup),
      owner_(owner),
      random_(base::Random::fresh_seed()),
      timer_(loop, [this] {
        if (state_ == State::pausing) return attempt();
        drop({Errc::unreachable, hindrance()});
      }) {}

Connection::~Connection() {
  lifetime_.end();
  close();
}

// --- coming up ------------------------------------------------------------------------------------------------------

void Connection::want() {
  if (state_ != State::resting) return;
  establishing_.emplace(loop_, spi::Expectation::Of::upkeep);
  if (loop_.now() >= not_before_) return attempt();
  state_ = State::pausing;
  timer_.set(not_before_);
}

void Connection::attempt() {
  attempt_ends_ = loop_.now() + attempt_patience;
  timer_.set(attempt_ends_);
  if (address_.transport == ServerAddress::Transport::tls) {
    prepare_tls();
  } else {
    dial();
  }
}

void Connection::prepare_tls() {
  state_ = State::preparing;
  preparation_.emplace(tls_setup_, [this](spi::Result<TlsContext::Pointer> context) {
    preparation_.reset();
    if (!context.ok()) return drop(context.failure());
    tls_context_ = std::move(context.value());
    dial();
  });
}

void Connection::dial() {
  state_ = State::dialing;
  dialer_.emplace(loop_, address_, attempt_ends_,
                  [this](spi::Result<base::FileDescriptor> result) { dialed(std::move(result)); });
}

void Connection::dialed(spi::Result<base::FileDescriptor> result) {
  dialer_.reset();
  if (!result.ok()) return drop(result.failure());
  socket_ = std::move(result.value());
  reader_ = std::make_unique<ReplyReader>();
  ++life_;
  if (!watch(false)) return;
  if (tls_context_) {
    begin_tls();
  } else {
    greet();
  }
}

void Connection::begin_tls() {
  state_ = State::securing;
  auto session = std::exchange(tls_context_, nullptr)->begin();
  if (!session.ok()) return drop(session.failure());
  tls_ = std::move(session.value());
  flush_soon();
}

void Connection::greet() {
  state_ = State::greeting;
  if (!address_.password.empty()) {
    Command command;
    command.add("AUTH");
    if (!address_.user.empty()) command.add(address_.user);
    command.add(address_.password).write_to(out_);
    ++greetings_;
  }
  if (address_.database != 0) {
    Command().add("SELECT").add(address_.database).write_to(out_);
    ++greetings_;
  }
  if (tls_ && greetings_ == 0) {  // a server that refuses our certificate says so only after we think that all is well
    Command().add("PING").write_to(out_);
    ++greetings_;
  }
  if (greetings_ == 0) return become_up();
  flush_soon();
}

void Connection::greeted(const Reply& reply) {
  if (reply.is(Reply::Kind::error)) return drop(explain_greeting(reply.text, address_.shown()));
  if (--greetings_ == 0) become_up();
}

void Connection::become_up() {
  state_ = State::up;
  up_since_ = loop_.now();
  timer_.cancel();
  establishing_.reset();
  owner_.connection_up();
}

bool Connection::is_open() const {
  char next = 0;
  const ssize_t count = ::recv(socket_.get(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
}

std::string Connection::hindrance() const {
  switch (state_) {
    case State::preparing:
      return "the certificates for " + address_.shown() + " could not be read in time; check the disk they are on";
    case State::securing: return address_.shown() + " did not answer in TLS in time; does it speak TLS at this port?";
    case State::greeting: return address_.shown() + " did not answer in time";
    default: return address_.shown() + " accepted no connection in time";
  }
}

// --- going down -----------------------------------------------------------------------------------------------------

void Connection::drop(const Failure& why) {
  if (state_ == State::resting) return;
  const bool was_up = state_ == State::up;
  const bool was_good = was_up && loop_.now() - up_since_ >= good_life;
  tear_down();
  failures_ = was_good ? 0 : failures_ + 1;
  not_before_ = was_good ? loop_.now() : loop_.now() + next_pause();
  owner_.connection_down(why, was_up);
}

void Connection::close() {
  if (state_ != State::resting) tear_down();
}

void Connection::tear_down() {
  ++life_;
  state_ = State::resting;
  timer_.cancel();
  preparation_.reset();
  dialer_.reset();
  tls_context_.reset();
  if (socket_) {
    loop_.unwatch(socket_.get());
    socket_ = base::FileDescriptor();
  }
  tls_.reset();
  out_.clear();
  wire_.clear();
  wire_sent_ = 0;
  greetings_ = 0;
  watching_writable_ = false;
  establishing_.reset();
}

base::Duration Connection::next_pause() {
  const base::Duration most = std::min(longest_pause, first_pause * (1 << std::min(failures_, 8)));
  return std::uniform_int_distribution<base::Duration::rep>(most.count() / 2, most.count())(random_) * 1ns;
}

// --- bytes ----------------------------------------------------------------------------------------------------------

/// False if the system refuses: then the connection has gone by that.
bool Connection::watch(bool writable) {
  watching_writable_ = writable;
  try {
    loop_.watch(socket_.get(), {.readable = true, .writable = writable},
                [this](spi::Loop::Ready what) { ready(what); });
    return true;
  } catch (const Error& error) {
    drop({error.errc(), error.what()});
    return false;
  }
}

void Connection::ready(spi::Loop::Ready what) {
  const int life = life_;
  if (what.writable && watching_writable_) flush();
  if (what.readable && life == life_) receive();
}

void Connection::receive() {
  const int life = life_;
  std::array<char, 16384> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): about to be written
  for (;;) {
    // NOLINTNEXTLINE(clang-analyzer-unix.StdCLibraryFunctions): it is open as long as it is watched
    const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
    if (count <= 0) {
      const std::string why = count == 0 ? "it was closed" : std::generic_category().message(errno);
      return drop({Errc::unreachable, "the connection to " + address_.shown() + " broke: " + why});
    }
    const auto size = static_cast<std::size_t>(count);
    if (!digest({buffer.data(), size}) || life != life_) return;
    if (size < buffer.size()) return;  // what comes later wakes us again
  }
}

/// False if the connection has gone by that.
bool Connection::digest(std::string_view bytes) {
  const int life = life_;
  if (tls_) {
    std::string plain;
    const auto outcome = tls_->received(bytes, plain);
    if (!tls_->outgoing().empty()) flush_soon();
    reader_->feed(plain);
    if (outcome.ok() && state_ == State::securing && tls_->established()) greet();
    if (life == life_) dispatch();
    if (life == life_ && !outcome.ok()) drop(outcome.failure());
  } else {
    reader_->feed(bytes);
    dispatch();
  }
  return life == life_;
}

void Connection::dispatch() {
  const int life = life_;
  while (Reply* const reply = reader_->next()) {
    if (state_ == State::greeting) {
      greeted(*reply);
    } else if (state_ == State::up) {
      owner_.connection_received(*reply);
    }
    if (life != life_) return;
  }
  if (reader_->failed()) drop(not_redis(address_));
}

void Connection::flush_soon() {
  if (std::exchange(flushing_soon_, true)) return;
  loop_.defer([this, here = lifetime_.watch()] {
    if (!here.lasts()) return;
    flushing_soon_ = false;
    flush();
  });
}

void Connection::flush() {
  if (!socket_) return;
  if (!tls_) {
    if (wire_sent_ == wire_.size()) {
      wire_.swap(out_);
    } else {
      wire_.append(out_);
    }
  } else {
    if (tls_->established()) {
      const auto outcome = tls_->send(out_);
      if (!outcome.ok()) return drop(outcome.failure());
    }
    wire_.append(std::exchange(tls_->outgoing(), {}));
  }
  if (!tls_ || tls_->established()) out_.clear();
  while (wire_sent_ < wire_.size()) {
    const ssize_t count = ::send(socket_.get(), wire_.data() + wire_sent_, wire_.size() - wire_sent_, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (count < 0) {
      return drop({Errc::unreachable,
                   "the connection to " + address_.shown() + " broke: " + std::generic_category().message(errno)});
    }
    wire_sent_ += static_cast<std::size_t>(count);
  }
  const bool all_sent = wire_sent_ == wire_.size();
  if (all_sent) {
    wire_.clear();
    wire_sent_ = 0;
  }
  if (all_sent == watching_writable_) watch(!all_sent);
}

}  // namespace holdfast::redis
