#include "core/runtime/client_core.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/url.hpp"
#include "core/runtime/identity.hpp"
#include "core/runtime/perform.hpp"

namespace holdfast::core {

using base::Duration;
using base::Instant;
using spi::Failure;
using Section = Monitor::Section;

namespace {

ClientOptions checked(ClientOptions options) {
  constexpr std::size_t max_bytes = 256;
  if (options.label.size() > max_bytes) {
    throw Error(Errc::invalid_argument,
                "a client's label must be at most 256 bytes, got " + std::to_string(options.label.size()));
  }
  if (options.command.size() > max_bytes) {
    throw Error(Errc::invalid_argument,
                "a client's command must be at most 256 bytes, got " + std::to_string(options.command.size()));
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
  base::Random random(base::Random::fresh_seed());
  return {.identity = this_process(options.label, options.command, random),
          .connect_timeout = detail::saturated(options.connect_timeout),
          .local_turns = options.local_turns,
          .seed = base::Random::fresh_seed()};
}

std::unique_ptr<spi::Backend> open_backend(std::string_view text, const spi::BackendContext& context) {
  const base::Url url = base::Url::parse(text);
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

std::shared_ptr<ClientCore> ClientCore::open(std::string_view url, ClientOptions options) {
  return {new ClientCore(url, std::move(options)), [](ClientCore* core) {
            if (core->forked()) {
              base::keep_for_ever(core);
            } else {
              delete core;
            }
          }};
}

ClientCore::ClientCore(std::string_view url, ClientOptions options)
    : options_(checked(std::move(options))), monitor_(workers_), engine_(monitor_, *this, engine_options(options_)) {
  StopUnlessReleased guard(monitor_);
  {
    const Section section(monitor_);
    spi::BackendContext context = {.loop = monitor_, .events = engine_};
    if (options_.log) context.warn = [this](std::string text) { log(LogLevel::warning, std::move(text)); };
    engine_.attach(open_backend(url, context));
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

namespace {

Failure cancelled(const Cell& cell) { return {Errc::cancelled, "lock '" + cell.name().text() + "': cancelled"}; }

Instant deadline_after(Duration wait) {
  return wait == Duration::max() ? Instant::max() : base::saturating_add(base::BootClock::now(), wait);
}

}  // namespace

spi::Result<Hold> ClientCore::acquire(Cell& cell, const Demand& demand, const std::stop_token& stop) {
  check_not_forked();
  if (stop.stop_requested()) return cancelled(cell);

  Monitor::Waiter waiter;
  std::optional<Request::Answer> answer;
  auto on_answer = [&](Request::Answer its_answer) {
    answer = std::move(its_answer);
    monitor_.complete(waiter);
  };
  Request request(demand.options, demand.when_busy, deadline_after(demand.wait), on_answer, demand.mode);

  bool stopped = false;  // under the monitor
  auto on_stop = [&] {
    const Section section(monitor_);
    stopped = true;
    cell.cancel(request, cancelled(cell));
  };
  // Outside the monitor: its construction may run on_stop at once, its destruction may wait for it.
  std::optional<std::stop_callback<decltype(on_stop)>> stop_callback;
  if (stop.stop_possible()) stop_callback.emplace(stop, on_stop);
  {
    Section section(monitor_);
    if (stopped) return cancelled(cell);
    cell.enter(request);
    section.wait(waiter);
  }
  if (!answer->ok()) return std::move(answer->failure());
  return hold_of(std::move(answer->value()));
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

  AsyncAcquire(std::shared_ptr<ClientCore> its_core, Cell& its_cell, const Demand& demand, AcquireCallback its_callback)
      : core(std::move(its_core)),
        cell(its_cell),
        options(demand.options),
        callback(std::move(its_callback)),
        request(
            options, demand.when_busy, deadline_after(demand.wait),
            [this](Request::Answer answer) { answered(std::move(answer)); }, demand.mode) {}

  /// Under the monitor. The rest is the user's side: their callback, and a stop_callback that may have to be awaited.
  void answered(Request::Answer answer) {
    core->run([self = std::move(itself), answer = std::move(answer)]() mutable {
      self->stop_callback.reset();
      self->core->let_go_of(self->cell);
      if (answer.ok()) return self->callback({}, self->core->hold_of(std::move(answer.value())));
      self->callback(answer.failure().code, Hold());
    });
  }

  const std::shared_ptr<ClientCore> core;
  Cell& cell;
  const LockOptions options;
  AcquireCallback callback;
  Request request;
  std::unique_ptr<AsyncAcquire> itself;
  bool stopped = false;  ///< under the monitor
  std::optional<std::stop_callback<OnStop>> stop_callback;
};

void ClientCore::async_acquire(Cell& cell, const Demand& demand, AcquireCallback callback, std::stop_token stop) {
  check_open();
  auto acquire = std::make_unique<AsyncAcquire>(shared_from_this(), cell, demand, std::move(callback));
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

void ClientCore::async_release(const std::shared_ptr<HoldRecord>& hold, AsyncCallback<Released> callback) {
  check_open();
  inside([&] {
    auto expectation = std::make_unique<spi::Expectation>(monitor_, spi::Expectation::Of::user);
    // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): it goes with the callback
    auto told = [this, hold, callback = std::move(callback),
                 expectation = std::move(expectation)](Released outcome) mutable {
      if (outcome == Released::not_held && hold->state_at(monitor_.now()) != HoldState::released)
        hold->was_lost_before();
      run([callback = std::move(callback), outcome]() mutable { callback({}, outcome); });
    };
    if (hold->cell() != nullptr) {
      hold->cell()->release(*hold, std::move(told));
    } else {
      told(Released::not_held);
    }
  });
}

namespace {

/// What a hold's cell answers to `start`.
template <class Start>
Operation<spi::Nothing> ask_cell_of(Caller& caller, std::shared_ptr<HoldRecord> hold, Start start) {
  if (hold->cell() == nullptr) {
    const bool lost = hold->state_at(caller.engine().loop().now()) == HoldState::lost;
    co_return Failure{lost ? Errc::lost : Errc::not_held, "the lock is no longer held"};
  }
  auto answer =
      co_await answer_of<spi::Nothing>([&](spi::Done<> done) { start(*hold->cell(), *hold, std::move(done)); });
  co_return answer;
}

auto extending_by(Duration length) {
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(length);
  return [milliseconds](Cell& cell, HoldRecord& hold, spi::Done<> done) {
    cell.extend(hold, milliseconds, std::move(done));
  };
}

auto downgrading() {
  return [](Cell& cell, HoldRecord& hold, spi::Done<> done) { cell.downgrade(hold, std::move(done)); };
}

}  // namespace

void ClientCore::extend(const std::shared_ptr<HoldRecord>& hold, Duration length) {
  auto extended = perform<spi::Nothing>(
      Duration::max(), {}, [&](Caller& caller) { return ask_cell_of(caller, hold, extending_by(length)); });
  value_or_throw(std::move(extended), "extending lock '" + hold->name->text() + "'");
}

void ClientCore::async_extend(const std::shared_ptr<HoldRecord>& hold, Duration length, AsyncCallback<> callback) {
  async_perform<spi::Nothing>(
      {}, [&](Caller& caller) { return ask_cell_of(caller, hold, extending_by(length)); },
      heard_by(std::move(callback)));
}

void ClientCore::downgrade(const std::shared_ptr<HoldRecord>& hold) {
  auto downgraded = perform<spi::Nothing>(Duration::max(), {},
                                          [&](Caller& caller) { return ask_cell_of(caller, hold, downgrading()); });
  value_or_throw(std::move(downgraded), "downgrading lock '" + hold->name->text() + "'");
}

void ClientCore::async_downgrade(const std::shared_ptr<HoldRecord>& hold, AsyncCallback<> callback) {
  async_perform<spi::Nothing>(
      {}, [&](Caller& caller) { return ask_cell_of(caller, hold, downgrading()); }, heard_by(std::move(callback)));
}

Cell& ClientCore::keep_cell(const LockName& name, LockKind kind) {
  return inside([&]() -> Cell& {
    Cell& cell = engine_.cell(name, kind);
    cell.keep();
    return cell;
  });
}

void ClientCore::let_go_of(Cell& cell) noexcept {
  if (forked()) return;
  const Section section(monitor_);
  cell.let_go();
}

Health ClientCore::health() {
  return inside([&] { return engine_.health(); });
}

std::vector<int> ClientCore::lifeline() {
  return inside([&] { return engine_.backend().lifeline(); });
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
