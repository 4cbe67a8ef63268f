#include "core/keeper.hpp"

#include <algorithm>
#include <memory>

#include "core/engine.hpp"

namespace holdfast::core {

void Keeper::renew(Claim& claim) {
  if (due_.empty()) engine_.loop().defer([this] { flush(); });
  claim.renewal_sent();
  due_.push_back({&claim, claim.id()});
}

void Keeper::flush() {
  std::vector<Due> due;
  due.swap(due_);
  if (due.size() <= batch_size) return send(std::move(due));
  for (std::size_t from = 0; from < due.size(); from += batch_size) {
    const std::size_t to = std::min(from + batch_size, due.size());
    send({due.begin() + static_cast<std::ptrdiff_t>(from), due.begin() + static_cast<std::ptrdiff_t>(to)});
  }
}

void Keeper::send(std::vector<Due> batch) {
  std::vector<spi::ClaimRef> refs;
  refs.reserve(batch.size());
  for (const Due& due : batch) refs.push_back(due.claim->ref_to(due.id));

  auto expectation = std::make_unique<spi::Expectation>(engine_.loop(), spi::Expectation::Of::upkeep);
  engine_.claims().renew(refs, [this, batch = std::move(batch), expectation = std::move(expectation)](
                                   spi::Result<std::vector<spi::ClaimAnswer>> answers) { answered(batch, answers); });
}

void Keeper::answered(const std::vector<Due>& batch, const spi::Result<std::vector<spi::ClaimAnswer>>& answers) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Due& due = batch[i];
    if (answers.ok()) {
      due.claim->renewal_answered(due.id, answers.value()[i]);
    } else {
      due.claim->renewal_answered(due.id, answers.failure());
    }
  }
}

}  // namespace holdfast::core
