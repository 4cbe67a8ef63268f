#include "backends/memory/shared_store.hpp"

#include <map>
#include <utility>

namespace holdfast::memory {
namespace {

struct Directory {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<SharedStore>> stores;
};

Directory& directory() {
  // Never destroyed: a client in static storage may be closed after everything else.
  static auto& directory = *new Directory;
  return directory;
}

}  // namespace

std::shared_ptr<SharedStore> SharedStore::open(const std::string& name) {
  Directory& all = directory();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.stores, [](const auto& entry) { return entry.second.expired(); });
  if (const auto found = all.stores.find(name); found != all.stores.end()) {
    if (auto store = found->second.lock()) return store;
  }
  auto store = std::make_shared<SharedStore>();
  all.stores[name] = store;
  return store;
}

ClientNumber SharedStore::subscribe(std::shared_ptr<Mailbox> mailbox) {
  const std::lock_guard lock(mutex_);
  mailboxes_.emplace(++last_client_, std::move(mailbox));
  return last_client_;
}

void SharedStore::unsubscribe(ClientNumber client) {
  const std::lock_guard lock(mutex_);
  mailboxes_.erase(client);
  store_.registers().forget(client);
}

std::vector<SharedStore::Delivery> SharedStore::collect() {
  std::vector<Delivery> deliveries;
  for (Event& event : store_.take_events()) {
    // Whoever has closed is not told; its claims end with their leases.
    const auto mailbox = mailboxes_.find(event.client);
    if (mailbox != mailboxes_.end()) deliveries.push_back({mailbox->second, std::move(event)});
  }
  return deliveries;
}

void SharedStore::deliver(ClientNumber caller, std::vector<Delivery> deliveries) {
  for (Delivery& delivery : deliveries) {
    if (delivery.event.client == caller) {
      delivery.to->put_here(std::move(delivery.event));
    } else {
      delivery.to->put(std::move(delivery.event));
    }
  }
}

}  // namespace holdfast::memory
