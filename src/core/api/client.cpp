#include "holdfast/client.hpp"

#include <chrono>
#include <utility>

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

// NOLINTNEXTLINE(performance-unnecessary-value-param): as the contract has it
Revoked Client::revoke(const LockName& name, const ReleaseRequest& request, LockKind kind, std::stop_token stop) {
  check_within(name, request);
  return core_->revoke(name, kind, request, stop);
}

std::vector<int> Client::lifeline() { return core_->lifeline(); }

}  // namespace holdfast
