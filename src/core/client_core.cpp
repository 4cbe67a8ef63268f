#include "core/client_core.hpp"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "core/identity.hpp"
#include "spi/url.hpp"

namespace holdfast::core {

using spi::Duration;
using spi::Failure;
using spi::Instant;
using Section = Monitor::Section;

namespace {

constexpr auto pause_between_contacts = std::chrono::milliseconds(20);

ClientOptions checked(ClientOptions options) {
  constexpr std::size_t max_bytes = 256;
  if (options.label.size() > max_bytes) {
    throw Error(Errc::invalid_argument, "a client's label has more than 256 bytes; shorten it");
  }
  if (options.command.size() > max_bytes) {
    throw Error(Errc::invalid_argument, "a client's command has more than 256 bytes; shorten it");
  }
  if (options.connect_timeout <= std::chrono::milliseconds::zero()) {
    throw Error(Errc::invalid_argument, "connect_timeout must be positive");
  }
  if (options.close_timeout < std::chrono::milliseconds::zero()) {
    throw Error(Errc::invalid_argument, "close_timeout must not be negative");
  }
  return options;
}

EngineOptions engine_options(const ClientOptions& options) {
  Random random(Random::fresh_seed());
  return {.identity = this_process(options.label, options.command, random),
          .connect_timeout = detail::saturated(options.connect_timeout),
          .local_turns = options.local_turns,
          .seed = Random::fresh_seed()};
}

std::unique_ptr<spi::Backend> open_backend(std::string_view text, const spi::BackendContext& context) {
  const spi::Url url = spi::Url::parse(text);
  std::string known;
  for (const spi::BackendFactory* factory : spi::built_in_backends()) {
    for (const std::string_view scheme : factory->schemes) {
      if (scheme == url.scheme) return factory->open(url, context);
      known += (known.empty() ? "'" : ", '") + std::string(scheme) + ":'";
    }
  }
  throw Error(Errc::bad_url, "no store has the URL scheme '" + url.scheme + ":'; this build knows " + known);
}

/// The monitor must be stopped however the constructor ends.
class StopUnlessReleased {
 public:
  explicit StopUnlessReleased(Monitor& monitor) : monitor_(&monitor) {}
  ~StopUnlessReleased() {
    if (monitor_ != nullptr) monitor_->stop();
  }
  StopUnlessReleased(const StopUnlessReleased&) = delete;
  StopUnlessReleased& operator=(const StopUnlessReleased&) = delete;
  void release() { monitor_ = nullptr; }

 private:
  Monitor* monitor_;
};

}  // namespace

// --- beginning and end ----------------------------------------------------------------------------------------------

ClientCore::ClientCore(std::string_view url, ClientOptions options)
    : options_(checked(std::move(options))), monitor_(workers_), engine_(monitor_, *this, engine_options(options_)) {
  StopUnlessReleased guard(monitor_);
  {
    const Section section(monitor_);
    engine_.attach(open_backend(url, {monitor_, engine_}));
  }
  guard.release();
}

ClientCore::~ClientCore() { close(); }

void ClientCore::close() noexcept {
  if (forked()) return;
  const Duration patience = detail::saturated(options_.close_timeout);
  Monitor::Waiter waiter;
  {
    Section section(monitor_);
    if (std::exchange(close_began_, true)) return;
    std::optional<spi::Expectation> expectation(std::in_place, monitor_, spi::Expectation::Of::user);
    engine_.close(patience, [&] {
      expectation.reset();
      monitor_.complete(waiter);
    });
    section.wait(waiter);
  }
  monitor_.stop();
  workers_.stop(patience);
}

void ClientCore::check_not_forked() const {
  if (forked()) {
    throw Error(Errc::forked, "this client belongs to the parent process; open a client of your own after fork()");
  }
}

void ClientCore::check_open() {
  inside([&] {
    if (engine_.closing()) throw Error(Errc::closed, "the client is closed");
  });
}

// --- acquiring ------------------------------------------------------------------------------------------------------

spi::Result<Hold> ClientCore::acquire(Cell& cell, const LockOptions& options, spi::WhenBusy when_busy, Duration wait,
                                      const std::stop_token& stop) {
  check_not_forked();
  if (stop.stop_requested()) return Failure{Errc::cancelled, "lock '" + cell.name().text() + "': cancelled"};

  Monitor::Waiter waiter;
  std::optional<Request::Answer> answer;
  const Instant deadline = wait == Duration::max() ? Instant::max() : spi::saturating_add(spi::BootClock::now(), wait);
  Request request(options, when_busy, deadline, [&](Request::Answer its_answer) {
    answer = std::move(its_answer);
    monitor_.complete(waiter);
  });

  bool stopped = false;  // under the monitor
  auto on_stop = [&] {
    const Section section(monitor_);
    stopped = true;
    cell.cancel(request, Failure{Errc::cancelled, "lock '" + cell.name().text() + "': cancelled"});
  };
  // Outside the monitor: its construction may run on_stop at once, its destruction may wait for it.
  std::optional<std::stop_callback<decltype(on_stop)>> stop_callback;
  if (stop.stop_possible()) stop_callback.emplace(stop, on_stop);
  {
    Section section(monitor_);
    if (stopped) return Failure{Errc::cancelled, "lock '" + cell.name().text() + "': cancelled"};
    cell.enter(request);
    section.wait(waiter);
  }
  if (!answer->ok()) return std::move(answer->failure());
  return Hold(shared_from_this(), std::move(answer->value()));
}

/// Owns itself until its callback has been called.
struct ClientCore::AsyncAcquire {
  struct OnStop {
    AsyncAcquire* self;
    void operator()() const {
      const Section section(self->core->monitor_);
      self->stopped = true;
      self->cell.cancel(self->request, Failure{Errc::cancelled, {}});
    }
  };

  AsyncAcquire(std::shared_ptr<ClientCore> its_core, Cell& its_cell, const LockOptions& how,
               std::function<void(std::error_code, Hold)> its_callback)
      : core(std::move(its_core)),
        cell(its_cell),
        options(how),
        callback(std::move(its_callback)),
        request(options, spi::WhenBusy::wait, Instant::max(),
                [this](Request::Answer answer) { answered(std::move(answer)); }) {}

  /// Under the monitor. The rest is the user's side: their callback, and a stop_callback that may have to be awaited.
  void answered(Request::Answer answer) {
    core->run([self = std::move(itself), answer = std::move(answer)]() mutable {
      self->stop_callback.reset();
      self->core->let_go_of(self->cell);
      if (answer.ok()) return self->callback({}, Hold(self->core, std::move(answer.value())));
      self->callback(answer.failure().code, Hold());
    });
  }

  const std::shared_ptr<ClientCore> core;
  Cell& cell;
  const LockOptions options;
  const std::function<void(std::error_code, Hold)> callback;
  Request request;
  std::unique_ptr<AsyncAcquire> itself;
  bool stopped = false;  ///< under the monitor
  std::optional<std::stop_callback<OnStop>> stop_callback;
};

void ClientCore::async_acquire(Cell& cell, const LockOptions& options,
                               std::function<void(std::error_code, Hold)> callback, std::stop_token stop) {
  check_open();
  auto acquire = std::make_unique<AsyncAcquire>(shared_from_this(), cell, options, std::move(callback));
  if (stop.stop_possible()) acquire->stop_callback.emplace(std::move(stop), AsyncAcquire::OnStop{acquire.get()});
  const Section section(monitor_);
  if (engine_.closing()) throw Error(Errc::closed, "lock '" + cell.name().text() + "': the client is closed");
  cell.keep();
  AsyncAcquire& begun = *acquire;
  begun.itself = std::move(acquire);
  if (begun.stopped) return begun.answered(Failure{Errc::cancelled, {}});
  cell.enter(begun.request);
}

// --- holds ----------------------------------------------------------------------------------------------------------

Released ClientCore::release(HoldRecord& hold) {
  check_not_forked();
  Monitor::Waiter waiter;
  Released outcome = Released::not_held;
  Section section(monitor_);
  if (hold.cell() == nullptr) return outcome;
  std::optional<spi::Expectation> expectation(std::in_place, monitor_, spi::Expectation::Of::user);
  hold.cell()->release(hold, [&](Released its_outcome) {
    outcome = its_outcome;
    if (outcome == Released::not_held) hold.was_lost_before();
    expectation.reset();
    monitor_.complete(waiter);
  });
  section.wait(waiter);
  return outcome;
}

void ClientCore::release_without_waiting(HoldRecord& hold) noexcept {
  if (forked()) return;
  const Section section(monitor_);
  if (hold.cell() != nullptr) hold.cell()->release(hold);
}

void ClientCore::extend(HoldRecord& hold, Duration length) {
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(length);
  const auto extended = ask_store<spi::Nothing>([&](spi::Done<> done) {
    if (hold.cell() != nullptr) return hold.cell()->extend(hold, milliseconds, std::move(done));
    const bool lost = hold.state_at(monitor_.now()) == HoldState::lost;
    done(Failure{lost ? Errc::lost : Errc::not_held, "there is nothing to extend"});
  });
  if (!extended.ok()) throw Error(extended.failure().code, extended.failure().detail);
}

Cell& ClientCore::keep_cell(const LockName& name) {
  return inside([&]() -> Cell& {
    Cell& cell = engine_.cell(name);
    cell.keep();
    return cell;
  });
}

void ClientCore::let_go_of(Cell& cell) noexcept {
  if (forked()) return;
  const Section section(monitor_);
  cell.let_go();
}

// --- asking the store -----------------------------------------------------------------------------------------------

template <class T, class Start>
spi::Result<T> ClientCore::ask_store(Start&& start) {
  check_not_forked();
  Monitor::Waiter waiter;
  std::optional<spi::Result<T>> answer;
  {
    Section section(monitor_);
    if (engine_.closing()) return Failure{Errc::closed, "the client is closed"};
    std::optional<spi::Expectation> expectation(std::in_place, monitor_, spi::Expectation::Of::user);
    start(spi::Done<T>([&](spi::Result<T> its_answer) {
      answer = std::move(its_answer);
      expectation.reset();
      monitor_.complete(waiter);
    }));
    section.wait(waiter);
  }
  return std::move(*answer);
}

template <class T, class Start>
spi::Result<T> ClientCore::ask_until_contact(Start&& start) {
  const auto deadline = saturating_add(spi::BootClock::now(), detail::saturated(options_.connect_timeout));
  for (;;) {
    auto answer = ask_store<T>(start);
    const bool contacted = inside([&] {
      const bool before = engine_.contacted();
      engine_.contact(spi::was_reached(answer));
      return before;
    });
    if (answer.ok() || answer.failure().code != Errc::unreachable) return answer;
    if (contacted || spi::BootClock::now() >= deadline) return answer;
    std::this_thread::sleep_for(pause_between_contacts);
  }
}

std::vector<LockStatus> ClientCore::list(std::string_view prefix) {
  auto locks = ask_until_contact<std::vector<LockStatus>>(
      [&](auto done) { engine_.backend().administration().list(prefix, std::move(done)); });
  if (!locks.ok()) throw Error(locks.failure().code, "listing the locks: " + locks.failure().detail);
  return std::move(locks.value());
}

bool ClientCore::evict(const LockName& name) {
  const auto evicted = ask_until_contact<std::size_t>(
      [&](auto done) { engine_.backend().administration().evict(name, std::move(done)); });
  if (!evicted.ok())
    throw Error(evicted.failure().code, "breaking lock '" + name.text() + "': " + evicted.failure().detail);
  return evicted.value() > 0;
}

StoreTraits ClientCore::traits() {
  return inside([&] { return engine_.backend().traits(); });
}

Health ClientCore::health() {
  return inside([&] { return engine_.health(); });
}

// --- the user's side ------------------------------------------------------------------------------------------------

void ClientCore::log(LogLevel level, std::string text) {
  if (!options_.log) return;
  workers_.run([log = options_.log, level, text = std::move(text)] { log(level, text); });
}

void ClientCore::report(Errc code, std::string what_happened) {
  log(LogLevel::error, what_happened);
  if (!options_.on_error) return;
  workers_.run([on_error = options_.on_error, code, text = std::move(what_happened)] { on_error(Error(code, text)); });
}

}  // namespace holdfast::core
