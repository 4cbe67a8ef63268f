#pragma once

#include <memory>
#include <utility>

#include "core/runtime/client_core.hpp"
#include "holdfast/client.hpp"

namespace holdfast::core {

/// A primitive's grip on its client. In a forked child it lets go of it without touching anything.
class ClientHandle {
 public:
  explicit ClientHandle(const Client& client) : core_(client.core_) {}
  ~ClientHandle() {
    if (core_->forked()) bury(std::move(core_));
  }
  ClientHandle(const ClientHandle&) = delete;
  ClientHandle& operator=(const ClientHandle&) = delete;

  ClientCore& core() const { return *core_; }

 private:
  std::shared_ptr<ClientCore> core_;
};

}  // namespace holdfast::core
