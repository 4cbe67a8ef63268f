#include "backends/zookeeper/session.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "backends/zookeeper/server_list.hpp"
#include "backends/zookeeper/session_callbacks.hpp"
#include "holdfast/error.hpp"

namespace holdfast::zookeeper {

using base::Instant;
using spi::Failure;
using spi::milliseconds;
using namespace std::chrono_literals;

namespace {

/// No ZooKeeper server grants so long a timeout to a client that did not ask for it.
constexpr milliseconds implausible = 1h;

/// Settings of the library that all its users in a program share.
void quieten_the_library() {
  static const bool once = [] {
    // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): the library's own way to say "nothing"
    zoo_set_debug_level(static_cast<ZooLogLevel>(0));  // it would print to stderr
    zoo_deterministic_conn_order(1);                   // or else it seeds the program's random numbers
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace

Session::Session(spi::Loop& loop, const Address& address, milliseconds timeout, Owner& owner)
    : loop_(loop),
      address_(address),
      owner_(owner),
      asked_(timeout),
      process_(::getpid()),
      trouble_(address.shown()),
      used_at_(loop.now()),
      timer_(loop, [this] { drive(); }),
      ping_timer_(loop, [this] { ping(); }),
      attempt_timer_(loop, [this] { attempt_takes_long(); }) {}

Session::~Session() {
  unwatch();
  release_handle();
}

void Session::open() {
  state_ = State::resolving;
  establishing_.emplace(loop_, spi::Expectation::Of::upkeep);
  find_hosts();
}

void Session::find_hosts() {
  ServerList numbers = ServerList::of_numbers(address_.hosts);
  if (numbers.error == 0) {
    return loop_.defer([self = shared_from_this(), servers = std::move(numbers)] { self->connect(servers); });
  }
  auto found = std::make_shared<ServerList>();
  loop_.run_blocking([found, hosts = address_.hosts] { *found = ServerList::look_up(hosts); },
                     [found, weak = weak_from_this()] {
                       const auto self = weak.lock();
                       if (!self) return;
                       if (found->error == 0) return self->connect(*found);
                       self->end({Errc::unreachable, "cannot resolve any host of " + self->address_.shown() + ": " +
                                                         ::gai_strerror(found->error)});
                     });
}

void Session::connect(const ServerList& servers) {
  if (state_ != State::resolving) return;
  quieten_the_library();
  handle_ = zookeeper_init2(servers.text.c_str(), &Callbacks::watcher, static_cast<int>(asked_.count()), nullptr, this,
                            ZOO_NO_LOG_CLIENTENV, nullptr);
  attempts_.set_addresses(servers.size());
  if (handle_ == nullptr) return end({Errc::exhausted, "cannot open a session with " + address_.shown()});
  // It would ask the resolver whenever it is driven; but these are numbers.
  zoo_set_servers_resolution_delay(handle_, -1);
  state_ = State::connecting;
  if (!address_.user.empty()) {
    const std::string credentials = address_.user + ":" + address_.password;
    zoo_add_auth(handle_, "digest", credentials.data(), static_cast<int>(credentials.size()), &Callbacks::authenticated,
                 this);
  }
  drive();
}

// --- the library and the loop ---------------------------------------------------------------------------------------

/// Lets the library do what is due, and finds out what it waits for.
void Session::drive() {
  if (handle_ == nullptr || state_ == State::ended || inside_ > 0) return;
  const auto self = shared_from_this();
  int descriptor = -1;
  int interest = 0;
  timeval wait = {};
  const bool was_connected = is_connected();
  ++inside_;
  if (state_ == State::connecting && !watched_) begin_attempt();
  errno = 0;
  const int code = zookeeper_interest(handle_, &descriptor, &interest, &wait);
  const int system_error = errno;
  --inside_;
  if (handle_ == nullptr || state_ == State::ended) return release_handle();
  if (code != ZOK) attempt_failed(was_connected, system_error);
  if (code != ZOK || descriptor < 0) unwatch();
  if (code != ZOK && state_ == State::up) disconnected();
  if (code == ZOK && descriptor >= 0) watch(descriptor, interest);
  if (state_ == State::connecting && !watched_) resume_waiters();
  if (state_ == State::ended) return;
  const auto pause = std::chrono::seconds(wait.tv_sec) + std::chrono::microseconds(wait.tv_usec);
  // After a failure it names no time, and would be called again at once, for ever.
  timer_.set(loop_.now() + std::max<base::Duration>(pause, code == ZOK && descriptor >= 0 ? 1ms : 20ms));
}

void Session::drive_soon() {
  if (std::exchange(driving_soon_, true)) return;
  loop_.defer([weak = weak_from_this()] {
    if (const auto self = weak.lock()) {
      self->driving_soon_ = false;
      self->drive();
    }
  });
}

void Session::ready(spi::Loop::Ready what) {
  if (handle_ == nullptr || inside_ > 0) return;
  const auto self = shared_from_this();
  const int events = (what.readable ? ZOOKEEPER_READ : 0) | (what.writable ? ZOOKEEPER_WRITE : 0);
  const bool was_connected = is_connected();
  ++inside_;
  int code = ZOK;
  int system_error = 0;
  // One message at a time, until there is none.
  for (int messages = 0; code == ZOK && messages < 1000 && state_ != State::ended; ++messages) {
    errno = 0;
    code = zookeeper_process(handle_, messages == 0 ? events : ZOOKEEPER_READ);
    system_error = errno;
    if (state_ != State::up || !what.readable) break;
  }
  --inside_;
  if (handle_ == nullptr || state_ == State::ended) return release_handle();
  if (code != ZOK && code != ZNOTHING) {
    attempt_failed(was_connected, system_error);
    unwatch();
    if (state_ == State::up) disconnected();
  }
  drive();
}

void Session::watch(int descriptor, int interest) {
  // While it is up the library keeps its socket; before, it may have made another one with the same number.
  const bool same = watched_ && state_ == State::up && watched_interest_ == interest;
  if (same) return;
  if (!watched_ || state_ != State::up) {
    unwatch();
    ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    watched_ = base::FileDescriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
    if (!watched_) return;  // the timer tries again
  }
  watched_interest_ = interest;
  try {
    loop_.watch(watched_.get(),
                {.readable = (interest & ZOOKEEPER_READ) != 0, .writable = (interest & ZOOKEEPER_WRITE) != 0},
                [this](spi::Loop::Ready what) { ready(what); });
  } catch (const Error& error) {
    watched_ = {};
    end({error.errc(), error.what()});
  }
}

void Session::unwatch() {
  if (!watched_) return;
  loop_.unwatch(watched_.get());
  watched_ = base::FileDescriptor();
}

// --- its life -------------------------------------------------------------------------------------------------------

void Session::connected() {
  granted_ = milliseconds(zoo_recv_timeout(handle_));
  if (granted_ <= 0ms || (granted_ > asked_ && granted_ > implausible)) {
    return end(not_zookeeper());
  }
  const bool resumed = std::exchange(was_up_, true);
  if (resumed) {
    proof_.resumed(attempts_.began(), loop_.now());
  } else {
    proof_.reset(granted_);
    proof_.opened(attempts_.began());
  }
  pings_.reset(granted_);
  state_ = State::up;
  attempts_.succeeded();
  attempt_timer_.cancel();
  trouble_.connected();
  establishing_.reset();
  ping();
  if (resumed) owner_.session_resumed(*this);
  resume_waiters();
}

void Session::disconnected() {
  state_ = State::connecting;
  ping_timer_.cancel();
  if (!establishing_) establishing_.emplace(loop_, spi::Expectation::Of::upkeep);
  drive_soon();
}

/// Asks for something small, so that there is something recent to prove. Whatever has come meanwhile is read, too.
void Session::ping() {
  if (state_ != State::up) return;
  const Instant now = loop_.now();
  ping_timer_.set(pings_.due_after(now));
  switch (pings_.next(now, ping_is_unanswered())) {
    case Pings::Next::send:
      pings_.sent(now);
      last_ping_ = exists("/");
      return;
    case Pings::Next::wait: return;
    case Pings::Next::leave_server: return leave_silent_server();
  }
}

/// The library would wait for two thirds of the timeout, which is longer than a lease can be proved beforehand.
void Session::leave_silent_server() {
  if (attempts_.addresses() > 1 && watched_) ::shutdown(watched_.get(), SHUT_RDWR);
}

void Session::begin_attempt() {
  for (std::size_t skip = attempts_.begin(loop_.now()); skip > 0; --skip) zoo_cycle_next_server(handle_);
  attempt_timer_.set(attempts_.deadline(false));
}

void Session::attempt_takes_long() {
  if (state_ != State::connecting || !watched_) return;
  const bool accepted = is_connected();
  if (loop_.now() < attempts_.deadline(accepted)) return attempt_timer_.set(attempts_.deadline(accepted));
  trouble_.attempt_took_too_long(accepted);
  attempts_.abandon();
  leave_silent_server();
}

void Session::attempt_failed(bool was_connected, int system_error) {
  attempts_.failed();
  if (state_ == State::connecting && !attempts_.is_abandoned()) trouble_.attempt_failed(was_connected, system_error);
}

void Session::end(Failure why) {
  if (state_ == State::ended) return;
  const auto self = shared_from_this();
  state_ = State::ended;
  why_ended_ = std::move(why);
  timer_.cancel();
  ping_timer_.cancel();
  attempt_timer_.cancel();
  establishing_.reset();
  unwatch();
  owner_.session_ended(*this);
  resume_waiters();
  if (inside_ == 0) release_handle();
}

void Session::close() { end({Errc::closed, "the client's connection to " + address_.shown() + " is closed"}); }

/// The library answers everything that is unanswered.
void Session::release_handle() {
  if (handle_ == nullptr || inside_ > 0) return;
  unwatch();
  _zhandle* const handle = std::exchange(handle_, nullptr);
  if (::getpid() != process_) return;  // in a forked child: closing it would end the parent's session
  ++inside_;
  zookeeper_close(handle);
  --inside_;
}

void Session::resume_waiters() {
  for (const std::coroutine_handle<> waiter : std::exchange(waiters_, {})) waiter.resume();
}

std::int64_t Session::id() const { return handle_ == nullptr ? 0 : zoo_client_id(handle_)->client_id; }

Failure Session::not_zookeeper() const {
  return {Errc::store_failed, "what answers as " + address_.shown() + " does not speak ZooKeeper's protocol"};
}

Failure Session::why_not_up() const {
  if (why_ended_) return *why_ended_;
  if (state_ == State::resolving) {
    return {Errc::unreachable, "the hosts of " + address_.shown() + " were not resolved in time"};
  }
  return trouble_.failure(is_connected());
}

/// Whether somebody has accepted the connection that is watched.
bool Session::is_connected() const {
  sockaddr_storage peer = {};
  socklen_t size = sizeof peer;
  return watched_ && ::getpeername(watched_.get(), reinterpret_cast<sockaddr*>(&peer), &size) == 0;
}

}  // namespace holdfast::zookeeper
