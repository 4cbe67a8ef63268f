#include "spi/player.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "support/errors.hpp"

namespace holdfast::spi_suite {
namespace {

template <class T, class Text>
std::string text_or_failure(const Result<T>& result, Text text) {
  if (result.ok()) return text(result.value());
  return "failed: " + make_error_code(result.failure().code).message();
}

std::string text_of(const ClaimStatus& claim) {
  static constexpr const char* modes[] = {"exclusive", "shared", "permits"};
  return claim.reason + " " + modes[static_cast<int>(claim.mode)] + " " + std::to_string(claim.permits) + "; ";
}

std::string text_of(const ReleaseRequest& request) {
  const auto hours = std::chrono::ceil<std::chrono::hours>(request.within);
  return " for " + request.reason + " within " + std::to_string(hours.count()) + " hours";
}

/// "claim 7"
int claim_in(const std::string& reason) { return std::stoi(reason.substr(6)); }

}  // namespace

Player::Player(const std::string& url, Numbers numbers) : when_numbered_(numbers) {
  for (int i = 0; i < Step::clients; ++i) clients_.push_back(std::make_unique<BackendUnderTest>(url));
}

std::string Player::play(const Step& step) {
  // What did not happen is tried again.
  std::string outcome;
  for (int attempt = 0; attempt < 10; ++attempt) {
    outcome = begin(step)();
    if (outcome.find(make_error_code(Errc::unreachable).message()) == std::string::npos) break;
  }
  return outcome;
}

std::function<std::string()> Player::begin(const Step& step) {
  BackendUnderTest& client = *clients_[step.client];
  const Ref ref{.claim = step.claim, .name = step.name, .kind = spi::kind_of(mode_of(step.claim))};
  const auto standing = [this, ref](const Pending<ClaimAnswer>& call) {
    return [this, ref, call] {
      return text_or_failure(call->result(), [&](const auto& answer) { return text_of(ref.claim, ref.name, answer); });
    };
  };
  const auto number = [](const auto& call) {
    return [call] { return text_or_failure(call->result(), [](auto value) { return std::to_string(value); }); };
  };
  if (step.kind == Step::Kind::acquire) owners_[step.claim] = client.identity().id;
  switch (step.kind) {
    case Step::Kind::acquire: return standing(client.start_acquire(step.claim, step.options));
    case Step::Kind::downgrade: return standing(client.start_downgrade(ref));
    case Step::Kind::release: return number(client.start_release(ref));
    case Step::Kind::evict: return number(client.start_evict(step.name, step.of, all_but_the_newest(step)));
    case Step::Kind::ask_to_release:
      return number(client.start_ask_to_release(
          step.name, {.reason = step.text, .within = std::chrono::hours(step.number)}, step.of));
    case Step::Kind::resize: return number(client.start_resize(step.name, static_cast<std::uint32_t>(step.number)));
    case Step::Kind::add: return number(client.start_add(step.name, step.number));
    case Step::Kind::renew:
      return [this, refs = step.refs, call = client.start_renew(step.refs)] {
        return text_or_failure(call->result(), [&](const auto& answers) {
          std::string text = std::to_string(answers.size()) + ": ";
          for (std::size_t i = 0; i < std::min(refs.size(), answers.size()); ++i) {
            text += text_of(refs[i].claim, refs[i].name, answers[i]) + "; ";
          }
          return text;
        });
      };
    case Step::Kind::list:
      return [this, call = client.start_list(step.text)] {
        return text_or_failure(call->result(), [&](const auto& locks) { return text_of(locks); });
      };
    case Step::Kind::read:
      return [this, name = step.name, call = client.start_read(step.name)] {
        return text_or_failure(call->result(), [&](const auto& now) { return text_of(name, now); });
      };
    case Step::Kind::write_if:
      return [this, name = step.name, call = client.start_write_if(step.name, version_that_is_meant(step), step.text)] {
        return text_or_failure(call->result(), [&](const auto& answer) {
          return (answer.written ? "written: " : "in the way: ") + text_of(name, answer.now);
        });
      };
  }
  return {};
}

std::uint64_t Player::all_but_the_newest(const Step& step) {
  if (step.number == 0 || when_numbered_ == Numbers::on_joining) return spi::Administration::all;
  const auto& known = numbers_[{step.name.text(), step.of == LockKind::semaphore}];
  const auto count = static_cast<std::size_t>(step.number);
  return known.size() > count ? *std::next(known.rbegin(), step.number) : 0;
}

std::uint64_t Player::version_that_is_meant(const Step& step) const {
  constexpr std::uint64_t never = std::uint64_t{1} << 52U;
  if (step.number == 0) return 0;
  const auto known = versions_.find(step.name.text());
  const auto back = static_cast<std::size_t>(step.number);
  if (known == versions_.end() || known->second.size() < back) return never;
  return *std::prev(known->second.end(), step.number);
}

std::string Player::text_of(const LockName& name, const spi::Versioned& now) {
  if (now.version == 0) return "'" + now.value + "' never written";
  auto& versions = versions_[name.text()];
  const auto place = versions.insert(now.version).first;
  return "'" + now.value + "' version " + std::to_string(std::distance(versions.begin(), place)) + " of those seen";
}

std::string Player::text_of(int claim, const LockName& name, const ClaimAnswer& answer) {
  told_to_wait_.erase(claim);
  switch (answer.standing) {
    case absent: return "absent";
    case waiting:
      told_to_wait_.insert(claim);
      at_least_[claim] = answer.number;
      return "waiting at " + std::to_string(answer.place);
    case granted: break;
  }
  EXPECT_GE(answer.number, at_least_[claim]);
  auto& numbers = numbers_[{name.text(), mode_of(claim).kind == ClaimMode::permits}];
  const bool is_new = numbers.insert(answer.number).second;
  return std::string("granted, number ") + (is_new ? "new" : "known") +
         (when_numbered_ == Numbers::on_granting && answer.number == *numbers.rbegin() ? ", the largest" : "") +
         (answer.asked_to_release ? ", asked" + spi_suite::text_of(*answer.asked_to_release) : "");
}

std::string Player::text_of(const std::vector<LockStatus>& locks) const {
  std::string text;
  for (const LockStatus& lock : locks) {
    std::vector<std::string> holders;
    for (const ClaimStatus& holder : lock.holders) {
      holders.push_back(spi_suite::text_of(holder));
      EXPECT_EQ(holder.client.id, owners_.at(claim_in(holder.reason))) << lock.name << ": " << holder.reason;
    }
    std::ranges::sort(holders);
    text += lock.name + " " + std::to_string(static_cast<int>(lock.kind)) + " of " + std::to_string(lock.total);
    text += " held by ";
    for (const std::string& holder : holders) text += holder;
    text += "awaited by ";
    for (const ClaimStatus& waiter : lock.waiters) text += spi_suite::text_of(waiter);
    text += lock.number > 0 ? "numbered\n" : "free\n";
  }
  return text;
}

std::string Player::state() {
  const auto locks = clients_[0]->list();
  for (const LockStatus& lock : locks) {
    for (const ClaimStatus& holder : lock.holders) {
      const int claim = claim_in(holder.reason);
      if (told_to_wait_.erase(claim) > 0) to_be_told_.insert(claim);
    }
  }
  return text_of(locks);
}

std::vector<int> Player::not_told() {
  std::vector<int> left;
  test::eventually([&] {
    std::multiset<int> told;
    for (const auto& client : clients_) {
      for (const Told& each : client->told()) told.insert(each.claim);
    }
    left.clear();
    std::ranges::set_difference(to_be_told_, told, std::back_inserter(left));
    return left.empty();
  });
  return left;
}

double Player::told_of_their_grants() const {
  std::multiset<int> told;
  for (const auto& client : clients_) {
    for (const int claim : client->told_granted()) told.insert(claim);
  }
  std::vector<int> both;
  std::ranges::set_intersection(to_be_told_, told, std::back_inserter(both));
  return static_cast<double>(both.size()) / static_cast<double>(to_be_told_.size());
}

}  // namespace holdfast::spi_suite
