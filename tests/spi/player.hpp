#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "spi/script.hpp"

namespace holdfast::spi_suite {

/// Plays a script on one store and says what came of each step, in words that are the same for all stores: standings,
/// places, results, whether a number is new and the largest of its name, and which of the versions seen so far a value
/// has; never the number or the version itself.
class Player {
 public:
  /// When claims get their numbers. On joining the line, those of one name do not rise with every grant: its lock and
  /// its semaphore are two lines.
  enum class Numbers { on_granting, on_joining };

  explicit Player(const std::string& url, Numbers numbers = Numbers::on_granting);

  std::string play(const Step& step);
  /// Begins a step; the function waits for its end and says what came of it.
  std::function<std::string()> begin(const Step& step);

  /// All locks with their holders (in no order) and waiters (in order), after the steps so far. Remembers whose turn
  /// came without an answer that said so.
  std::string state();
  /// The claims whose turn came like that and that were told neither of it nor to ask; waits, in bounded time, until
  /// there are none. Whose connection broke meanwhile, which happens on a busy machine, is only told to ask.
  std::vector<int> not_told();
  /// Which part of them was told of the grant itself.
  double told_of_their_grants() const;
  std::size_t turns_that_came() const { return to_be_told_.size(); }

 private:
  /// The largest number that such an eviction reaches.
  std::uint64_t all_but_the_newest(const Step& step);
  /// The version with which a step writes: the newest, the one before ..., of those that were seen; 0 is none.
  std::uint64_t version_that_is_meant(const Step& step) const;
  std::string text_of(int claim, const LockName& name, const ClaimAnswer& answer);
  std::string text_of(const LockName& name, const spi::Versioned& now);
  std::string text_of(const std::vector<LockStatus>& locks) const;

  const Numbers when_numbered_;
  std::vector<std::unique_ptr<BackendUnderTest>> clients_;
  /// Of the grants of each name's lock, and of its semaphore.
  std::map<std::pair<std::string, bool>, std::set<std::uint64_t>> numbers_;
  std::map<std::string, std::set<std::uint64_t>> versions_;  ///< of each register, as far as they were seen
  std::map<int, std::uint64_t> at_least_;                    ///< what waiting claims were told of their number
  std::map<int, std::string> owners_;                        ///< the identities of those who claimed
  std::set<int> told_to_wait_;                               ///< by their last answers
  std::multiset<int> to_be_told_;
};

}  // namespace holdfast::spi_suite
