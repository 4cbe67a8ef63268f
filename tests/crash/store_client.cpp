#include "crash/store_client.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "backends/sqlite/backend.hpp"

namespace holdfast::crash {
namespace {

constexpr auto long_patience = std::chrono::seconds(60);

constexpr std::initializer_list<Errc> nothing_happened = {Errc::unreachable, Errc::exhausted};
constexpr std::initializer_list<Errc> whatever_happened = {Errc::unreachable, Errc::exhausted, Errc::in_doubt};

std::uint64_t new_key() {
  static std::atomic<std::uint64_t> last = 0;
  return (static_cast<std::uint64_t>(getpid()) << 32U) + ++last;
}

}  // namespace

StoreClient::StoreClient(const std::filesystem::path& database, std::optional<sqlite::Machine> machine)
    : key_(new_key()),
      identity_(std::make_shared<ClientIdentity>(ClientIdentity{
          .id = std::to_string(key_), .host = "here", .pid = getpid(), .command = "crash_tests", .label = {}})) {
  const core::Monitor::Section section(monitor_);
  backend_ = sqlite::open(database.string(), std::move(machine), {.loop = monitor_, .events = *this});
}

StoreClient::~StoreClient() {
  static_cast<void>(ask_once<spi::Nothing>([&](auto done) { backend_->close(std::move(done)); }));
  {
    const core::Monitor::Section section(monitor_);
    backend_.reset();
  }
  monitor_.stop();
  workers_.stop(std::chrono::seconds(5));
}

template <class T, class Start>
spi::Result<T> StoreClient::ask_once(Start start) {
  std::optional<spi::Result<T>> result;
  core::Monitor::Waiter waiter;
  core::Monitor::Section section(monitor_);
  std::optional<spi::Expectation> expectation(std::in_place, monitor_, spi::Expectation::Of::user);
  start(spi::Done<T>([&](spi::Result<T> answer) {
    result.emplace(std::move(answer));
    expectation.reset();
    monitor_.complete(waiter);
  }));
  section.wait(waiter);
  return std::move(*result);
}

template <class T, class Start>
T StoreClient::ask(Start start, std::initializer_list<Errc> again) {
  const auto deadline = std::chrono::steady_clock::now() + long_patience;
  while (true) {
    spi::Result<T> result = ask_once<T>(start);
    if (result.ok()) return std::move(result.value());
    const Errc code = result.failure().code;
    if (std::find(again.begin(), again.end(), code) == again.end() || std::chrono::steady_clock::now() > deadline) {
      throw Error(code, result.failure().detail);
    }
  }
}

spi::ClaimAnswer StoreClient::acquire(const std::string& name, std::uint64_t claim, spi::WhenBusy when_busy) {
  const LockName lock(name);
  return ask<spi::ClaimAnswer>(
      [&](auto done) {
        backend_->claims().acquire(
            {.name = lock, .id = id(claim), .lease = lease, .when_busy = when_busy, .client = identity_},
            std::move(done));
      },
      whatever_happened);
}

spi::ClaimAnswer StoreClient::renew(const std::string& name, std::uint64_t claim) {
  const LockName lock(name);
  const std::array<spi::ClaimRef, 1> claims = {
      {{.name = lock, .kind = LockKind::lock, .id = id(claim), .lease = lease}}};
  return ask<std::vector<spi::ClaimAnswer>>([&](auto done) { backend_->claims().renew(claims, std::move(done)); },
                                            whatever_happened)
      .at(0);
}

void StoreClient::release(const std::string& name, std::uint64_t claim) {
  const LockName lock(name);
  ask<bool>(
      [&](auto done) {
        backend_->claims().release({.name = lock, .kind = LockKind::lock, .id = id(claim), .lease = lease},
                                   std::move(done));
      },
      whatever_happened);
}

spi::Versioned StoreClient::read(const std::string& name) {
  const LockName lock(name);
  return ask<spi::Versioned>([&](auto done) { backend_->registers().read(lock, std::move(done)); }, whatever_happened);
}

spi::Registers::WriteAnswer StoreClient::write_if(const std::string& name, std::uint64_t expected,
                                                  const std::string& value) {
  const LockName lock(name);
  return ask<spi::Registers::WriteAnswer>(
      [&](auto done) { backend_->registers().write_if(lock, expected, value, std::move(done)); }, nothing_happened);
}

std::int64_t StoreClient::add(const std::string& name, std::int64_t amount) {
  const LockName lock(name);
  return ask<std::int64_t>([&](auto done) { backend_->registers().add(lock, amount, std::move(done)); },
                           nothing_happened);
}

void StoreClient::settle() {
  const LockName nothing("nothing");
  ask<spi::Registers::WriteAnswer>([&](auto done) { backend_->registers().write_if(nothing, 1, {}, std::move(done)); },
                                   whatever_happened);
}

}  // namespace holdfast::crash
