#include "core/engine/renewals.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/engine/engine.hpp"

namespace holdfast::core {

void Renewals::renew(Claim& claim) {
  if (due_.empty()) engine_.loop().defer([this] { flush(); });
  claim.renewal_sent();
  due_.push_back({&claim, claim.id()});
}

void Renewals::flush() {
  waiting_.insert(waiting_.end(), due_.begin(), due_.end());
  due_.clear();
  send_next();
}

void Renewals::send_next() {
  const std::size_t count = std::min(waiting_.size(), most_under_way - under_way_);
  if (count == 0) return;
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<Due> batch(waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
  send(std::move(batch));
}

void Renewals::send(std::vector<Due> batch) {
  std::vector<spi::ClaimRef> refs;
  refs.reserve(batch.size());
  for (const Due& due : batch) refs.push_back(due.claim->ref_to(due.id));

  under_way_ += batch.size();
  auto expectation = std::make_unique<spi::Expectation>(engine_.loop(), spi::Expectation::Of::upkeep);
  engine_.claims().renew(refs, [this, batch = std::move(batch), expectation = std::move(expectation)](
                                   const Answers& answers) { answered(batch, answers); });
}

void Renewals::answered(const std::vector<Due>& batch, const Answers& answers) {
  under_way_ -= batch.size();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Due& due = batch[i];
    if (answers.ok()) {
      due.claim->renewal_answered(due.id, answers.value()[i]);
    } else {
      due.claim->renewal_answered(due.id, answers.failure());
    }
  }
  if (!spi::was_reached(answers)) {
    // Nor would those behind it be answered. They learn that they are at risk now, not one after the other.
    for (const Due& due : std::exchange(waiting_, {})) due.claim->renewal_answered(due.id, answers.failure());
  }
  send_next();
}

}  // namespace holdfast::core
