#include "holdfast/client.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/instant.hpp"
#include "core/runtime/client_core.hpp"

namespace holdfast {

Client::Client(std::string_view url, ClientOptions options) : core_(core::ClientCore::open(url, std::move(options))) {}

Client::Client(Client&&) noexcept = default;

Client& Client::operator=(Client&& other) noexcept {
  if (this == &other) return *this;
  const Client previous(std::move(*this));
  core_ = std::move(other.core_);
  return *this;
}

Client::~Client() {
  if (core_) core_->close();
}

void Client::close() noexcept { core_->close(); }

const ClientIdentity& Client::identity() const noexcept { return core_->identity(); }

StoreTraits Client::traits() const { return core_->traits(); }

Health Client::health() const { return core_->health(); }

std::vector<LockStatus> Client::list(std::string_view prefix) const { return core_->list(prefix); }

std::optional<LockStatus> Client::show(const LockName& name, LockKind kind) const { return core_->show(name, kind); }

namespace {

void check_within(const LockName& name, const ReleaseRequest& request) {
  if (request.within >= std::chrono::milliseconds::zero()) return;
  throw Error(Errc::invalid_argument,
              "the time within which to release lock '" + name.text() + "' must not be negative");
}

}  // namespace

std::size_t Client::ask_to_release(const LockName& name, const ReleaseRequest& request, LockKind kind) {
  check_within(name, request);
  return core_->ask_to_release(name, kind, request);
}

bool Client::evict(const LockName& name, LockKind kind, std::uint64_t up_to) {
  return core_->evict(name, kind, up_to) > 0;
}

Revoked Client::revoke(const LockName& name, const ReleaseRequest& request, LockKind kind, std::stop_token stop) {
  check_within(name, request);
  // A holder that comes later has a larger number, and is spared.
  const auto asked = show(name, kind);
  if (!asked || asked->holders.empty()) return Revoked::not_held;
  if (ask_to_release(name, request, kind) == 0) return Revoked::let_go;

  const base::Instant deadline = base::end_of(request.within, base::BootClock::now());
  base::Duration pause = std::chrono::milliseconds(5);
  for (;;) {
    const auto current = show(name, kind);
    const auto was_asked = [&](const ClaimStatus& holder) { return holder.number <= asked->number; };
    if (!current || std::ranges::none_of(current->holders, was_asked)) return Revoked::let_go;
    const base::Instant now = base::BootClock::now();
    if (now >= deadline) break;
    if (stop.stop_requested()) throw Error(Errc::cancelled, "revoking lock '" + name.text() + "': cancelled");
    std::this_thread::sleep_for(std::min(pause, deadline - now));
    pause = std::min<base::Duration>(pause * 2, std::chrono::milliseconds(100));
  }
  return core_->evict(name, kind, asked->number) > 0 ? Revoked::evicted : Revoked::let_go;
}

std::vector<int> Client::lifeline() { return core_->lifeline(); }

}  // namespace holdfast
