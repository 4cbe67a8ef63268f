#include "backends/memory/register_table.hpp"

#include <algorithm>
#include <utility>

#include "kit/rules.hpp"

namespace holdfast::memory {

using spi::Result;
using spi::Versioned;

Versioned RegisterTable::read(const LockName& name) const {
  const auto found = registers_.find(name);
  return found == registers_.end() ? Versioned{} : found->second.now;
}

Result<spi::Registers::WriteAnswer> RegisterTable::write_if(const LockName& name, std::uint64_t expected,
                                                            std::string value) {
  if (auto failure = kit::why_too_large(value.size(), max_value_bytes)) return *std::move(failure);
  const auto found = registers_.find(name);
  const std::uint64_t version = found == registers_.end() ? 0 : found->second.now.version;
  if (version != expected) return spi::Registers::WriteAnswer{.written = false, .now = read(name)};
  Register& entry = registers_[name];
  write(name, entry, std::move(value));
  return spi::Registers::WriteAnswer{.written = true, .now = entry.now};
}

Result<std::int64_t> RegisterTable::add(const LockName& name, std::int64_t amount) {
  auto sum = kit::sum_of(read(name), amount);
  if (sum.ok()) write(name, registers_[name], std::to_string(sum.value()));
  return sum;
}

bool RegisterTable::watch(ClientNumber client, const LockName& name, std::uint64_t seen) {
  const auto found = registers_.find(name);
  const std::uint64_t version = found == registers_.end() ? 0 : found->second.now.version;
  if (version != seen) return true;
  auto& watchers = registers_[name].watchers;
  if (std::find(watchers.begin(), watchers.end(), client) == watchers.end()) watchers.push_back(client);
  return false;
}

void RegisterTable::unwatch(ClientNumber client, const LockName& name) {
  const auto found = registers_.find(name);
  if (found == registers_.end()) return;
  std::erase(found->second.watchers, client);
  if (found->second.now.version == 0 && found->second.watchers.empty()) registers_.erase(found);
}

void RegisterTable::forget(ClientNumber client) {
  for (auto& [name, entry] : registers_) std::erase(entry.watchers, client);
  std::erase_if(registers_,
                [](const auto& each) { return each.second.now.version == 0 && each.second.watchers.empty(); });
}

void RegisterTable::write(const LockName& name, Register& entry, std::string value) {
  entry.now.value = std::move(value);
  ++entry.now.version;
  for (const ClientNumber client : std::exchange(entry.watchers, {})) {
    events_.push_back({.client = client, .kind = Event::Kind::changed, .name = name});
  }
}

}  // namespace holdfast::memory
