#include "backends/etcd/stray_keys.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;

/// A server gives up a request after about seven seconds; one that stood still may execute it later.
constexpr std::array<base::Duration, 4> sweeps_after = {1s, 3s, 5s, 20s};

}  // namespace

std::int64_t StrayKeys::ended(const ClaimKey& claim, std::vector<std::string> keys) {
  const auto found = doubtful_.find(claim);
  if (found == doubtful_.end()) return 0;
  const std::int64_t lease = found->second;
  doubtful_.erase(found);
  strays_.push_back({loop_.now() + sweeps_after[0], std::move(keys)});
  set_timer();
  return lease;
}

void StrayKeys::is_wanted(const std::string& key) {
  std::erase_if(strays_, [&](const Stray& stray) { return std::ranges::find(stray.keys, key) != stray.keys.end(); });
  set_timer();
}

void StrayKeys::sweep() {
  const base::Instant now = loop_.now();
  for (Stray& stray : strays_) {
    if (stray.due > now) continue;
    Transaction transaction;
    for (const std::string& key : stray.keys) transaction.then.emplace_back(Delete{key});
    calls_.transact(std::move(transaction), now + spi::longest_patience, [](const spi::Result<TransactionReply>&) {});
    ++stray.sweeps;
    if (static_cast<std::size_t>(stray.sweeps) < sweeps_after.size()) {
      stray.due = now + sweeps_after[static_cast<std::size_t>(stray.sweeps)];
    }
  }
  std::erase_if(strays_,
                [](const Stray& stray) { return static_cast<std::size_t>(stray.sweeps) >= sweeps_after.size(); });
  set_timer();
}

void StrayKeys::set_timer() {
  base::Instant next = base::Instant::max();
  for (const Stray& stray : strays_) next = std::min(next, stray.due);
  timer_.set(next);
}

void StrayKeys::close() {
  timer_.cancel();
  strays_.clear();
}

}  // namespace holdfast::etcd
