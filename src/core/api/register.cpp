#include "holdfast/register.hpp"

#include <utility>

#include "core/runtime/perform.hpp"

namespace holdfast {
namespace {

using base::Duration;
using core::Caller;
using core::Operation;
using core::Persistence;

Versioned to_public(spi::Versioned value) { return {std::move(value.value), value.version}; }

Written to_public(spi::Registers::WriteAnswer answer) { return {answer.written, to_public(std::move(answer.now))}; }

/// What an operation on the store's registers answers, in the words of the public API.
template <class Public, class T>
Operation<Public> translated(Operation<T> operation) {
  spi::Result<T> answer = co_await operation;
  if (!answer.ok()) co_return std::move(answer.failure());
  co_return to_public(std::move(answer.value()));
}

}  // namespace

// NOLINTNEXTLINE(modernize-pass-by-value): as the contract has it
Register::Register(Client& client, const LockName& name) : core_(core::ClientCore::of(client)), name_(name) {}

// NOLINTNEXTLINE(modernize-pass-by-value): as the contract has it
Register::Register(const Register& beside, const LockName& name) : core_(beside.core_), name_(name) {}

Register::~Register() = default;

Versioned Register::get() {
  auto answer = core_->perform<spi::Versioned>(
      Duration::max(), {}, [&](Caller& caller) { return core::read(caller, name_, Persistence::until_contact); });
  return to_public(core::value_or_throw(std::move(answer), "reading register '" + name_.text() + "'"));
}

std::uint64_t Register::set(std::string value) {
  auto answer = core_->perform<std::uint64_t>(
      Duration::max(), {}, [&](Caller& caller) { return core::set(caller, name_, std::move(value)); });
  return core::value_or_throw(std::move(answer), "writing register '" + name_.text() + "'");
}

Written Register::compare_and_set(std::uint64_t expected, std::string value) {
  auto answer = core_->perform<spi::Registers::WriteAnswer>(
      Duration::max(), {}, [&](Caller& caller) { return core::write_if(caller, name_, expected, std::move(value)); });
  return to_public(core::value_or_throw(std::move(answer), "writing register '" + name_.text() + "'"));
}

std::int64_t Register::add(std::int64_t amount) {
  auto answer = core_->perform<std::int64_t>(Duration::max(), {},
                                             [&](Caller& caller) { return core::add(caller, name_, amount); });
  return core::value_or_throw(std::move(answer), "adding to register '" + name_.text() + "'");
}

Versioned Register::update(MoveOnlyFunction<std::string(const std::string& value)> change, std::stop_token stop) {
  Versioned now = get();
  for (;;) {
    if (stop.stop_requested()) throw Error(Errc::cancelled, "updating register '" + name_.text() + "': cancelled");
    std::string value = change(now.value);
    Written written = compare_and_set(now.version, value);
    if (written) return {std::move(value), written.now.version};
    now = std::move(written.now);
  }
}

Versioned Register::wait_for_change(std::uint64_t seen, std::stop_token stop) {
  auto answer = core_->perform<spi::Versioned>(Duration::max(), stop,
                                               [&](Caller& caller) { return core::changed(caller, name_, seen); });
  return to_public(core::value_or_throw(std::move(answer), "waiting for register '" + name_.text() + "'"));
}

std::optional<Versioned> Register::wait_for_change_within(std::uint64_t seen, std::chrono::nanoseconds wait,
                                                          std::stop_token stop) {
  auto answer =
      core_->perform<spi::Versioned>(wait, stop, [&](Caller& caller) { return core::changed(caller, name_, seen); });
  auto changed = core::value_or_empty(std::move(answer), "waiting for register '" + name_.text() + "'");
  if (!changed) return std::nullopt;
  return to_public(std::move(*changed));
}

void Register::async_get(AsyncCallback<Versioned> callback) {
  core_->async_perform<Versioned>(
      {}, [&](Caller& caller) { return translated<Versioned>(core::read(caller, name_, Persistence::until_contact)); },
      core::heard_by(std::move(callback)));
}

void Register::async_set(std::string value, AsyncCallback<std::uint64_t> callback) {
  core_->async_perform<std::uint64_t>(
      {}, [&](Caller& caller) { return core::set(caller, name_, std::move(value)); },
      core::heard_by(std::move(callback)));
}

void Register::async_compare_and_set(std::uint64_t expected, std::string value, AsyncCallback<Written> callback) {
  core_->async_perform<Written>(
      {},
      [&](Caller& caller) { return translated<Written>(core::write_if(caller, name_, expected, std::move(value))); },
      core::heard_by(std::move(callback)));
}

void Register::async_add(std::int64_t amount, AsyncCallback<std::int64_t> callback) {
  core_->async_perform<std::int64_t>(
      {}, [&](Caller& caller) { return core::add(caller, name_, amount); }, core::heard_by(std::move(callback)));
}

void Register::async_wait_for_change(std::uint64_t seen, AsyncCallback<Versioned> callback, std::stop_token stop) {
  core_->async_perform<Versioned>(
      std::move(stop), [&](Caller& caller) { return translated<Versioned>(core::changed(caller, name_, seen)); },
      core::heard_by(std::move(callback)));
}

}  // namespace holdfast
