#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/engine.hpp"
#include "support/manual_loop.hpp"
#include "support/scripted_backend.hpp"

namespace holdfast::test {

/// A request, and what became of it.
struct Call {
  Call(core::Cell& its_cell, LockOptions how, spi::WhenBusy when_busy, base::Instant deadline,
       const spi::Mode& mode = {})
      : cell(its_cell),
        options(std::move(how)),
        request(options, when_busy, deadline, [this](core::Request::Answer got) { answer = std::move(got); }, mode) {
    cell.enter(request);
  }

  bool held() const { return answer && answer->ok(); }
  std::optional<Errc> failed() const {
    if (!answer || answer->ok()) return std::nullopt;
    return answer->failure().code;
  }
  core::HoldRecord& hold() { return *answer->value(); }
  void release() { cell.release(hold()); }

  core::Cell& cell;
  const LockOptions options;
  std::optional<core::Request::Answer> answer;
  core::Request request;
};

/// The real engine on a loop and a store that the test moves by hand.
class ScriptedEngine : private core::UserSide {
 public:
  explicit ScriptedEngine(core::EngineOptions options = {}, StoreTraits traits = {.store = "scripted"})
      : engine(loop, *this, std::move(options)) {
    auto made = std::make_unique<ScriptedBackend>(std::move(traits));
    store = made.get();
    engine.attach(std::move(made));
  }

  std::unique_ptr<Call> call(const LockName& name, LockOptions options = {.ttl = std::chrono::seconds(3)},
                             spi::WhenBusy when_busy = spi::WhenBusy::wait,
                             base::Instant deadline = base::Instant::max()) {
    auto made = std::make_unique<Call>(engine.cell(name), std::move(options), when_busy, deadline);
    loop.run();
    return made;
  }

  /// In another mode: a reader, or permits.
  std::unique_ptr<Call> call(const LockName& name, const spi::Mode& mode,
                             spi::WhenBusy when_busy = spi::WhenBusy::wait) {
    const LockKind kind = mode.kind == ClaimMode::permits ? LockKind::semaphore : LockKind::lock;
    const LockOptions options{.ttl = std::chrono::seconds(3)};
    auto made = std::make_unique<Call>(engine.cell(name, kind), options, when_busy, base::Instant::max(), mode);
    loop.run();
    return made;
  }

  void answer(ScriptedBackend::Acquire request, spi::Result<spi::ClaimAnswer> result) {
    request.done(std::move(result));
    loop.run();
  }
  void answer(ScriptedBackend::Release request, spi::Result<bool> result) {
    request.done(std::move(result));
    loop.run();
  }
  void answer(ScriptedBackend::Renew request, spi::Result<std::vector<spi::ClaimAnswer>> result) {
    request.done(std::move(result));
    loop.run();
  }

  void answer(ScriptedBackend::Downgrade request, spi::Result<spi::ClaimAnswer> result) {
    request.done(std::move(result));
    loop.run();
  }

  spi::ClaimAnswer granted(std::uint64_t number) const { return granted(number, loop.now()); }
  static spi::ClaimAnswer granted(std::uint64_t number, base::Instant armed_at) {
    return {.standing = spi::ClaimAnswer::Standing::granted,
            .number = number,
            .lease = std::chrono::seconds(3),
            .armed_at = armed_at};
  }
  spi::ClaimAnswer waiting() const {
    return {.standing = spi::ClaimAnswer::Standing::waiting, .lease = std::chrono::seconds(3), .armed_at = loop.now()};
  }
  static spi::ClaimAnswer absent() { return {}; }

  ManualLoop loop;
  core::Engine engine;
  ScriptedBackend* store = nullptr;
  std::vector<Errc> reports;

 private:
  void run(base::Task task) override { loop.defer(std::move(task)); }
  void log(LogLevel, std::string) override {}
  void report(Errc code, std::string) override { reports.push_back(code); }
};

}  // namespace holdfast::test
