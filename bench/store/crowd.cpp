#include "store/crowd.hpp"

#include <cstdint>

#include "rounds.hpp"

namespace holdfast::bench {

Crowd::Crowd(const std::vector<std::string>& command, int size) {
  for (int i = 0; i < size; ++i) processes_.push_back(std::make_unique<Driver>(command));
}

Crowd::Outcome Crowd::run(std::chrono::milliseconds duration) {
  constexpr std::chrono::milliseconds until_all_have_begun{300};
  turns_->over = false;
  turns_->changes = 0;
  turns_->last = -1;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    processes_[i]->tell("processes " + file_ + " " + std::to_string(i));
  }
  Outcome outcome{.per_second = turns_->changes_per_second(until_all_have_begun, duration)};
  turns_->over = true;
  std::vector<std::uint64_t> turns;
  for (const auto& process : processes_) turns.push_back(static_cast<std::uint64_t>(process->hear()));
  outcome.evenness = evenness(turns);
  outcome.latencies = turns_->latencies();
  return outcome;
}

}  // namespace holdfast::bench
