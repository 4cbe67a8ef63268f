#include "holdfast/client.hpp"

#include <utility>

#include "core/client_core.hpp"

namespace holdfast {

Client::Client(std::string_view url, ClientOptions options)
    : core_(std::make_shared<core::ClientCore>(url, std::move(options))) {}

Client::Client(Client&&) noexcept = default;

Client& Client::operator=(Client&& other) noexcept {
  if (this == &other) return *this;
  const Client previous(std::move(*this));
  core_ = std::move(other.core_);
  return *this;
}

Client::~Client() {
  if (!core_) return;
  if (core_->forked()) {
    core::bury(std::move(core_));
  } else {
    core_->close();
  }
}

void Client::close() noexcept { core_->close(); }

const ClientIdentity& Client::identity() const noexcept { return core_->identity(); }

StoreTraits Client::traits() const { return core_->traits(); }

Health Client::health() const { return core_->health(); }

std::vector<LockStatus> Client::list(std::string_view prefix) const { return core_->list(prefix); }

std::optional<LockStatus> Client::show(const LockName& name) const {
  for (LockStatus& lock : core_->list(name.text())) {
    if (lock.name == name.text()) return std::move(lock);
  }
  return std::nullopt;
}

bool Client::evict(const LockName& name) { return core_->evict(name); }

}  // namespace holdfast
