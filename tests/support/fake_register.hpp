#pragma once

#include <charconv>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "ids/counter_register.hpp"

namespace holdfast::test {

/// A register whose store the test plays: it can be away, answer late or not at all, and lose what it had acknowledged.
/// Answers come inside the call unless `holds_answers`. For one thread.
class FakeStore {
 public:
  enum class Fault {
    none,
    unreachable,     ///< not executed
    lost_request,    ///< not executed, and in doubt
    lost_answer,     ///< executed, and in doubt
    late_execution,  ///< in doubt, and executed when execute_late() is called
    refused,         ///< access was denied
  };

  Versioned now;
  bool holds_answers = false;
  std::function<Fault()> fault = [] { return Fault::none; };
  std::function<void()> before_write = [] {};  ///< somebody else is faster
  std::uint64_t requests = 0;

  void set(std::string value) { now = {.value = std::move(value), .version = now.version + 1}; }

  /// What it had at an earlier moment is all it has.
  void lose_all_since(const Versioned& earlier) { now = earlier; }

  /// Answers the oldest request that was not answered. False: there is none.
  bool answer_one() {
    if (answers_.empty()) return false;
    const std::function<void()> answer = std::move(answers_.front());
    answers_.pop_front();
    answer();
    return true;
  }
  std::size_t unanswered() const { return answers_.size(); }
  void execute_late() {
    for (auto late = std::exchange(late_, {}); const auto& execute : late) execute();
  }

  template <class T>
  void request(ids::Done<T> done, std::function<ids::Answer<T>()> execute) {
    ++requests;
    const Fault its_fault = fault();
    std::optional<ids::Answer<T>> answer;
    if (its_fault == Fault::none || its_fault == Fault::lost_answer) answer.emplace(execute());
    if (its_fault == Fault::late_execution) late_.emplace_back([execute] { static_cast<void>(execute()); });
    if (its_fault != Fault::none) answer.emplace(ids::Failure{code_of(its_fault), "a fault of the test"});
    if (!holds_answers) return done(std::move(*answer));
    const auto kept = std::make_shared<std::pair<ids::Done<T>, ids::Answer<T>>>(std::move(done), std::move(*answer));
    answers_.emplace_back([kept] { kept->first(std::move(kept->second)); });
  }

  ids::Answer<std::int64_t> add(std::int64_t amount) {
    std::int64_t number = 0;
    const char* const end = now.value.data() + now.value.size();
    const auto parsed = std::from_chars(now.value.data(), end, number);
    const bool is_number = now.version == 0 || (parsed.ec == std::errc() && parsed.ptr == end);
    const bool fits = amount <= 0 || number <= std::numeric_limits<std::int64_t>::max() - amount;
    if (!is_number || !fits) return ids::Failure{Errc::invalid_argument, "cannot add"};
    set(std::to_string(number + amount));
    return number + amount;
  }

 private:
  static Errc code_of(Fault fault) {
    switch (fault) {
      case Fault::unreachable: return Errc::unreachable;
      case Fault::refused: return Errc::access_denied;
      default: return Errc::in_doubt;
    }
  }

  std::deque<std::function<void()>> answers_;
  std::deque<std::function<void()>> late_;
};

class FakeRegister final : public ids::CounterRegister {
 public:
  explicit FakeRegister(FakeStore& store) : store_(store) {}

  void get(ids::Done<Versioned> done) override {
    store_.request<Versioned>(std::move(done), [this] { return ids::Answer<Versioned>(store_.now); });
  }
  void add(std::int64_t amount, ids::Done<std::int64_t> done) override {
    store_.request<std::int64_t>(std::move(done), [this, amount] { return store_.add(amount); });
  }
  void compare_and_set(std::uint64_t expected, std::string value, ids::Done<Written> done) override {
    store_.request<Written>(std::move(done), [this, expected, value = std::move(value)] {
      store_.before_write();
      const bool written = store_.now.version == expected;
      if (written) store_.set(value);
      return ids::Answer<Written>(Written{.written = written, .now = store_.now});
    });
  }

 private:
  FakeStore& store_;
};

/// What steps that are answered inside their calls have come to.
template <class T>
ids::Answer<T> outcome_of(ids::Steps<T> steps) {
  std::optional<ids::Answer<T>> outcome;
  std::move(steps).start([&](ids::Answer<T> answer) { outcome.emplace(std::move(answer)); });
  return outcome ? std::move(*outcome) : ids::Answer<T>(ids::Failure{Errc::busy, "it waits for an answer"});
}

}  // namespace holdfast::test
