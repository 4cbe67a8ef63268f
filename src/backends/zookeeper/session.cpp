#include "backends/zookeeper/session.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "backends/zookeeper/session_callbacks.hpp"
#include "base/random.hpp"
#include "holdfast/error.hpp"

namespace holdfast::zookeeper {

using base::Instant;
using spi::Failure;
using spi::milliseconds;
using namespace std::chrono_literals;

namespace {

/// Something is asked so often in a session timeout, so that there is always something recent to prove (LeaseProof).
constexpr int marks_in_a_timeout = 20;

/// A server that is silent for so long is left for another one.
constexpr int silences_in_a_timeout = 8;
constexpr milliseconds least_silence = 100ms;

/// So long may a server take to accept a connection, and so long to accept the session, which most of the servers have
/// to agree to. The library would wait for two thirds of the session's timeout, whatever the caller's patience is.
constexpr milliseconds time_to_connect = 400ms;
constexpr milliseconds time_to_begin = 1s;
constexpr std::size_t most_doublings = 3;

/// More than any server grants that was not asked for it: whoever says so is none.
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

/// "10.0.0.1:2181,::1:2181", or empty with `error`.
struct Found {
  std::string hosts = {};
  int error = 0;

  /// Blocks, unless the hosts are numbers and `flags` say so.
  static Found of(const std::vector<kit::Host>& hosts, int flags) {
    Found found;
    std::vector<std::string> all;
    for (const kit::Host& host : hosts) {
      addrinfo hints = {};
      hints.ai_family = AF_UNSPEC;
      hints.ai_socktype = SOCK_STREAM;
      hints.ai_flags = flags | AI_NUMERICSERV;
      addrinfo* list = nullptr;
      if (const int error = ::getaddrinfo(host.name.c_str(), host.port.c_str(), &hints, &list); error != 0) {
        found.error = error;
        continue;
      }
      for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
        std::array<char, NI_MAXHOST> text = {};
        if (::getnameinfo(each->ai_addr, each->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0) {
          all.push_back(std::string(text.data()) + ":" + host.port);
        }
      }
      ::freeaddrinfo(list);
    }
    if ((flags & AI_NUMERICHOST) != 0 && found.error != 0) return found;  // all of them, or let the resolver look
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::shuffle(all.begin(), all.end(), base::Random(base::Random::fresh_seed()));
    for (const std::string& each : all) found.hosts += (found.hosts.empty() ? "" : ",") + each;
    if (!all.empty()) found.error = 0;
    return found;
  }
};

}  // namespace

Session::Session(spi::Loop& loop, const Address& address, milliseconds timeout, Owner& owner)
    : loop_(loop),
      address_(address),
      owner_(owner),
      asked_(timeout),
      process_(::getpid()),
      used_at_(loop.now()),
      timer_(loop, [this] { drive(); }),
      mark_timer_(loop, [this] { look_around(); }),
      attempt_timer_(loop, [this] { attempt_takes_long(); }) {}

Session::~Session() {
  unwatch();
  release_handle();
}

void Session::open() {
  state_ = State::finding;
  establishing_.emplace(loop_, spi::Expectation::Of::upkeep);
  find_hosts();
}

void Session::find_hosts() {
  const Found numeric = Found::of(address_.hosts, AI_NUMERICHOST);
  if (numeric.error == 0) {
    return loop_.defer([self = shared_from_this(), hosts = numeric.hosts] { self->connect(hosts); });
  }
  auto found = std::make_shared<Found>();
  loop_.run_blocking([found, hosts = address_.hosts] { *found = Found::of(hosts, AI_ADDRCONFIG); },
                     [found, weak = weak_from_this()] {
                       const auto self = weak.lock();
                       if (!self) return;
                       if (found->error == 0) return self->connect(found->hosts);
                       self->end({Errc::unreachable, "cannot find a host of " + self->address_.shown() + ": " +
                                                         ::gai_strerror(found->error)});
                     });
}

void Session::connect(const std::string& hosts) {
  if (state_ != State::finding) return;
  quieten_the_library();
  handle_ = zookeeper_init2(hosts.c_str(), &Callbacks::watcher, static_cast<int>(asked_.count()), nullptr, this,
                            ZOO_NO_LOG_CLIENTENV, nullptr);
  addresses_ = static_cast<std::size_t>(std::ranges::count(hosts, ',')) + 1;
  if (handle_ == nullptr) return end({Errc::exhausted, "cannot make a session with " + address_.shown()});
  // It would ask the resolver whenever it is driven; but these are numbers.
  zoo_set_servers_resolution_delay(handle_, -1);
  state_ = State::away;
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
  if (state_ == State::away && !watched_) begin_attempt();
  errno = 0;
  const int code = zookeeper_interest(handle_, &descriptor, &interest, &wait);
  const int system_error = errno;
  --inside_;
  if (handle_ == nullptr || state_ == State::ended) return release_handle();
  if (code != ZOK) has_failed_ = true;
  if (code != ZOK && state_ == State::away) note_trouble(was_connected, system_error);
  if (code != ZOK || descriptor < 0) unwatch();
  if (code != ZOK && state_ == State::up) went_away();
  if (code == ZOK && descriptor >= 0) watch(descriptor, interest);
  if (state_ == State::away && !watched_) resume_waiters();
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
    has_failed_ = true;
    if (state_ == State::away) note_trouble(was_connected, system_error);
    unwatch();
    if (state_ == State::up) went_away();
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

void Session::came_up() {
  granted_ = milliseconds(zoo_recv_timeout(handle_));
  if (granted_ <= 0ms || (granted_ > asked_ && granted_ > implausible)) {
    return end(not_zookeeper());
  }
  const bool resumed = std::exchange(was_up_, true);
  if (resumed) {
    proof_.resumed(began_, loop_.now());
  } else {
    proof_.reset(granted_);
    proof_.opened(began_);
  }
  state_ = State::up;
  passed_over_ = 0;
  attempt_timer_.cancel();
  trouble_.clear();
  establishing_.reset();
  look_around();
  if (resumed) owner_.session_resumed(*this);
  resume_waiters();
}

void Session::went_away() {
  state_ = State::away;
  mark_timer_.cancel();
  if (!establishing_) establishing_.emplace(loop_, spi::Expectation::Of::upkeep);
  drive_soon();
}

/// Asks for something, so that there is something to prove; reading what has come meanwhile is welcome, too.
void Session::look_around() {
  if (state_ != State::up) return;
  const Instant now = loop_.now();
  mark_timer_.set(now + granted_ / marks_in_a_timeout);
  if (looking_ && !looking_->is_answered()) {
    if (now >= looked_at_ + std::max<milliseconds>(granted_ / silences_in_a_timeout, least_silence)) {
      leave_silent_server();
    }
    return;
  }
  looked_at_ = now;
  looking_ = exists("/");
}

/// The library would wait for two thirds of the timeout, which is longer than a lease can be proved beforehand.
void Session::leave_silent_server() {
  if (addresses_ > 1 && watched_) ::shutdown(watched_.get(), SHUT_RDWR);
}

void Session::begin_attempt() {
  began_ = loop_.now();
  is_left_ = false;
  if (addresses_ == 1) return;
  attempt_timer_.set(began_ + time_to_connect * doubled_each_round());
  // After a failure the library goes on by one address, and by another one when it connects. Of two addresses it would
  // try the same again and again; once round without one is one step back.
  if (!std::exchange(has_failed_, false)) return;
  for (std::size_t i = 1; i < addresses_; ++i) zoo_cycle_next_server(handle_);
}

int Session::doubled_each_round() const { return 1 << std::min(passed_over_ / addresses_, most_doublings); }

void Session::attempt_takes_long() {
  if (state_ != State::away || !watched_) return;
  const bool accepted = is_connected();
  const Instant end = began_ + time_to_begin * doubled_each_round();
  if (accepted && loop_.now() < end) return attempt_timer_.set(end);
  trouble_ = silence(accepted).detail;
  is_left_ = true;
  ++passed_over_;
  leave_silent_server();
}

void Session::end(Failure why) {
  if (state_ == State::ended) return;
  const auto self = shared_from_this();
  state_ = State::ended;
  why_ = std::move(why);
  timer_.cancel();
  mark_timer_.cancel();
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

Failure Session::hindrance() const {
  if (why_) return *why_;
  const std::string store = address_.shown();
  if (state_ == State::finding) return {Errc::unreachable, "the hosts of " + store + " were not found in time"};
  if (!trouble_.empty()) return {Errc::unreachable, trouble_};
  if (was_up_) return {Errc::unreachable, "the connection to " + store + " was lost"};
  return silence(is_connected());
}

Failure Session::silence(bool accepted) const {
  const std::string store = address_.shown();
  if (accepted) {
    return {Errc::unreachable, store + " accepted a connection, but does not answer; is it a ZooKeeper server?"};
  }
  return {Errc::unreachable, store + " accepted no connection in time"};
}

/// Whether somebody has accepted the connection that is watched.
bool Session::is_connected() const {
  sockaddr_storage peer = {};
  socklen_t size = sizeof peer;
  return watched_ && ::getpeername(watched_.get(), reinterpret_cast<sockaddr*>(&peer), &size) == 0;
}

void Session::note_trouble(bool was_connected, int system_error) {
  if (is_left_) return;
  const std::string store = address_.shown();
  const bool hung_up = system_error == EHOSTDOWN;  // the library's word for the end of a connection
  if (was_connected || hung_up) {
    trouble_ =
        store + " accepts connections and closes them: it is no ZooKeeper server, or one that does not serve now";
  } else if (system_error != 0 && system_error != EINPROGRESS) {
    trouble_ = "cannot connect to " + store + ": " + std::generic_category().message(system_error);
  }
}

}  // namespace holdfast::zookeeper
