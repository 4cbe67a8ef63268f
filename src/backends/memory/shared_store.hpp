#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/memory/mailbox.hpp"
#include "backends/memory/store.hpp"

namespace holdfast::memory {

/// A store that several clients of this process use. Thread-safe: its mutex stands for the server that other stores
/// have, and is held only while the store works, never while somebody is told.
class SharedStore {
 public:
  /// The store of that name; a new one if no client has it open. It lasts as long as somebody keeps the pointer.
  static std::shared_ptr<SharedStore> open(const std::string& name);

  /// From now on events for the returned number go to `mailbox`.
  ClientNumber subscribe(std::shared_ptr<Mailbox> mailbox);
  void unsubscribe(ClientNumber client);

  /// Runs `operation(StoreModel&)`, then tells everybody concerned. Called under the monitor of the client `caller`.
  template <class Operation>
  auto apply(ClientNumber caller, Operation operation) {
    std::vector<Delivery> deliveries;
    auto result = [&] {
      const std::lock_guard lock(mutex_);
      auto answer = operation(store_);
      deliveries = collect();
      return answer;
    }();
    if (!deliveries.empty()) deliver(caller, std::move(deliveries));
    return result;
  }

 private:
  struct Delivery {
    std::shared_ptr<Mailbox> to;
    Event event;
  };

  std::vector<Delivery> collect();
  static void deliver(ClientNumber caller, std::vector<Delivery> deliveries);

  std::mutex mutex_;
  StoreModel store_;
  ClientNumber last_client_ = 0;
  std::unordered_map<ClientNumber, std::shared_ptr<Mailbox>> mailboxes_;
};

}  // namespace holdfast::memory
