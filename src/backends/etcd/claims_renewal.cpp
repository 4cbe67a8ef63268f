#include <algorithm>
#include <memory>
#include <utility>

#include "backends/etcd/claims.hpp"
#include "backends/etcd/claims_steps.hpp"
#include "spi/answer_soon.hpp"
#include "spi/rules.hpp"

// Keeping claims, and what is found on that occasion. A renewal takes three steps: it finds out under which leases its
// claims are (mostly that is known), keeps these alive, and then reads the lines. Only the read, which the leader must
// confirm, proves that the lease was really kept alive: a server that is no leader any more answers, too.

namespace holdfast::etcd {

using spi::ClaimAnswer;
using spi::ClaimRef;
using spi::Done;
using spi::Failure;
using spi::Instant;
using spi::milliseconds;
using spi::Nothing;
using spi::Operation;
using spi::Result;

namespace {

/// Of one transaction: servers take 128 unless they are set otherwise.
constexpr std::size_t most_operations = 100;

/// A key that is under another lease than it was thought to be: how often it is looked for again.
constexpr int most_passes = 3;

}  // namespace

void EtcdClaims::renew(std::span<const ClaimRef> claims, Done<std::vector<ClaimAnswer>> done) {
  if (claims.empty()) return spi::answer_soon(loop_, std::move(done), Result(std::vector<ClaimAnswer>()));
  std::vector<Look> looks;
  looks.reserve(claims.size());
  for (const ClaimRef& claim : claims) looks.push_back({{claim.name, claim.id}, claim.lease});
  renewing(std::move(looks)).start(std::move(done));
}

Operation<std::vector<ClaimAnswer>> EtcdClaims::renewing(std::vector<Look> looks) {
  const Instant began = loop_.now();
  spi::Duration patience = spi::longest_patience;
  std::set<std::string> names;
  for (const Look& look : looks) {
    patience = std::min(patience, patience_for(look.lease));
    names.insert(look.claim.name.text());
  }
  std::vector<Turns::Ticket> turns;
  for (const std::string& name : names) turns.push_back(turns_.join(name));
  for (const Turns::Ticket& turn : turns) co_await turn;
  auto answers = co_await looking(looks, link_.deadline_after(began, patience));
  co_return answers;
}

Operation<ClaimAnswer> EtcdClaims::renewing_one(ClaimKey claim, milliseconds lease, Instant deadline) {
  std::vector<Look> looks;
  looks.push_back({std::move(claim), lease});
  auto answers = co_await looking(looks, deadline);
  if (!answers.ok()) co_return std::move(answers.failure());
  co_return std::move(answers.value().at(0));
}

Operation<std::vector<ClaimAnswer>> EtcdClaims::looking(std::vector<Look>& looks, Instant deadline) {
  auto learned = co_await learning(looks, deadline);
  if (!learned.ok()) co_return std::move(learned.failure());
  for (int pass = 1;; ++pass) {
    std::set<std::int64_t> to_keep;
    std::set<std::string> lines;
    for (const Look& look : looks) {
      if (!look.permits) continue;
      lines.insert(keys_.line(look.claim.name.text(), *look.permits));
      if (look.lease > milliseconds::zero() && look.under != 0) to_keep.insert(look.under);
    }
    std::map<std::int64_t, LeasePtr> kept;
    if (!to_keep.empty()) {
      const std::vector<std::int64_t> leases(to_keep.begin(), to_keep.end());
      auto reply =
          co_await spi::answer_of<std::map<std::int64_t, LeasePtr>>([&](Done<std::map<std::int64_t, LeasePtr>> done) {
            leases_.keep_all_alive(leases, deadline, std::move(done));
          });
      if (!reply.ok()) co_return std::move(reply.failure());
      kept = std::move(reply.value());
    }
    std::map<std::int64_t, Instant> armed;
    for (const auto& [id, lease] : kept) {
      if (lease) armed[id] = lease->armed;
    }
    auto read = co_await reading(std::move(lines), deadline);
    if (!read.ok()) co_return std::move(read.failure());

    bool moved = false;
    std::vector<ClaimAnswer> answers;
    std::vector<std::size_t> too_short;
    for (Look& look : looks) {
      answers.emplace_back();
      if (!look.permits) {
        lookout_.forget(look.claim);
        continue;
      }
      const Line& line = read.value().at(keys_.line(look.claim.name.text(), *look.permits));
      const auto place = line.find(keys_.claim(look.claim.name.text(), *look.permits, look.claim.id));
      if (!place) {
        lookout_.forget(look.claim);
        continue;
      }
      const Line::Claim& now = line[*place];
      const bool as_expected = now.lease == look.under;
      moved = moved || (!as_expected && look.lease > milliseconds::zero());
      look.under = now.lease;
      const auto proved = armed.find(now.lease);
      const LeasePtr known = leases_.find(now.lease);
      Instant since = known ? known->armed : Instant::min();
      if (look.lease > milliseconds::zero()) since = proved == armed.end() ? Instant::min() : proved->second;
      answers.back() = lookout_.found(look.claim, line, *place, *look.permits, since);
      const LeasePtr its = proved == armed.end() ? nullptr : kept.at(now.lease);
      if (its) answers.back().lease = its->length;
      if (its && its->length < look.lease) too_short.push_back(answers.size() - 1);
    }
    if (moved && pass < most_passes) continue;
    if (moved) co_return Failure{Errc::unreachable, "the claim's key is changed all the time"};
    for (const std::size_t index : too_short) {
      auto longer = co_await lengthening(looks[index], deadline);
      if (!longer.ok()) co_return std::move(longer.failure());
      answers[index] = std::move(longer.value());
    }
    co_return answers;
  }
}

/// Which kind of line each of them stands in, and under which lease: what we know, or what the store says.
Operation<Nothing> EtcdClaims::learning(std::vector<Look>& looks, Instant deadline) {
  std::vector<Look*> unknown;
  for (Look& look : looks) {
    if (const KnownClaim* const known = lookout_.find(look.claim)) {
      look.permits = known->permits;
      look.under = known->lease;
    } else {
      unknown.push_back(&look);
    }
  }
  for (std::size_t begin = 0; begin < unknown.size(); begin += most_operations / 2) {
    const std::size_t end = std::min(unknown.size(), begin + most_operations / 2);
    Transaction read;
    for (std::size_t i = begin; i < end; ++i) {
      for (const bool permits : {false, true}) {
        read.then.emplace_back(
            Range{.key = keys_.claim(unknown[i]->claim.name.text(), permits, unknown[i]->claim.id), .keys_only = true});
      }
    }
    auto reply = co_await transacting(link_, std::move(read), deadline);
    if (!reply.ok()) co_return std::move(reply.failure());
    const auto& outcomes = reply.value().outcomes;
    if (outcomes.size() != 2 * (end - begin)) co_return not_understood(link_.address());
    for (std::size_t i = begin; i < end; ++i) {
      for (const bool permits : {false, true}) {
        const auto& found = outcomes[2 * (i - begin) + (permits ? 1 : 0)].found;
        if (found.empty()) continue;
        unknown[i]->permits = permits;
        unknown[i]->under = found.front().lease;
      }
    }
  }
  co_return Nothing{};
}

Operation<std::map<std::string, Line>> EtcdClaims::reading(std::set<std::string> lines, Instant deadline) {
  struct Gathering {
    std::size_t left = 0;
    std::map<std::string, Line> read;
    std::optional<Failure> failure;
    Done<std::map<std::string, Line>> done;
  };
  if (lines.empty()) co_return std::map<std::string, Line>();
  const std::vector<std::string> all(lines.begin(), lines.end());
  auto gathered = co_await spi::answer_of<std::map<std::string, Line>>([&](Done<std::map<std::string, Line>> done) {
    auto gathering = std::make_shared<Gathering>();
    gathering->left = (all.size() + most_operations - 1) / most_operations;
    gathering->done = std::move(done);
    for (std::size_t begin = 0; begin < all.size(); begin += most_operations) {
      const std::size_t end = std::min(all.size(), begin + most_operations);
      const std::vector<std::string> some(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                          all.begin() + static_cast<std::ptrdiff_t>(end));
      Transaction read;
      for (const std::string& line : some) read.then.emplace_back(whole(line));
      link_.transact(std::move(read), deadline, [this, gathering, some](Result<TransactionReply> reply) {
        if (!reply.ok()) {
          gathering->failure = std::move(reply.failure());
        } else if (reply.value().outcomes.size() != some.size()) {
          gathering->failure = not_understood(link_.address());
        } else {
          for (std::size_t i = 0; i < some.size(); ++i) {
            gathering->read.emplace(some[i], Line(reply.value().outcomes[i].found));
          }
        }
        if (--gathering->left > 0) return;
        if (gathering->failure) return gathering->done(*std::move(gathering->failure));
        gathering->done(std::move(gathering->read));
      });
    }
  });
  co_return gathered;
}

/// Moves a claim's key under a longer lease; its place in the line stays. (A lease itself cannot be made longer.)
Operation<ClaimAnswer> EtcdClaims::lengthening(const Look& look, Instant deadline) {
  const std::string line_key = keys_.line(look.claim.name.text(), *look.permits);
  const std::string key = keys_.claim(look.claim.name.text(), *look.permits, look.claim.id);
  for (;;) {
    auto lease = co_await leases_.get(look.lease, LeaseKind::renewed, deadline);
    if (!lease.ok()) co_return std::move(lease.failure());
    const LeasePtr under = lease.value();
    Transaction read;
    read.then.emplace_back(whole(line_key));
    auto before = co_await transacting(link_, std::move(read), deadline);
    if (!before.ok()) co_return std::move(before.failure());
    const Line line(before.value().outcomes.at(0).found);
    const auto place = line.find(key);
    if (!place) {
      lookout_.forget(look.claim);
      co_return ClaimAnswer{};
    }
    Record record = line[*place].record;
    record.lease = under->length;
    const Instant armed = under->armed;
    Transaction move;
    move.when.push_back({.key = key, .what = Compare::What::mod_revision, .number = line[*place].mod_revision});
    move.then.emplace_back(Put{.key = key, .value = record.text(), .lease = under->id});
    move.then.emplace_back(whole(line_key));
    auto reply = co_await transacting(link_, std::move(move), deadline);
    if (!reply.ok()) {
      if (reply.failure().code != Errc::lost) co_return std::move(reply.failure());
      leases_.is_gone(under->id);
      continue;
    }
    if (!reply.value().succeeded) continue;  // somebody has changed it meanwhile
    const Line after(reply.value().outcomes.back().found);
    const auto now_at = after.find(key);
    if (!now_at) co_return not_understood(link_.address());
    co_return lookout_.found(look.claim, after, *now_at, *look.permits, armed);
  }
}

// --- downgrade ------------------------------------------------------------------------------------------------------

void EtcdClaims::downgrade(const ClaimRef& claim, Done<ClaimAnswer> done) {
  downgrading({claim.name, claim.id}, patience_for(claim.lease)).start(std::move(done));
}

Operation<ClaimAnswer> EtcdClaims::downgrading(ClaimKey claim, spi::Duration patience) {
  const Instant began = loop_.now();
  const Turns::Ticket turn = turns_.join(claim.name.text());
  co_await turn;
  const Instant deadline = link_.deadline_after(began, patience);
  const std::string line_key = keys_.line(claim.name.text(), false);
  const std::string key = keys_.claim(claim.name.text(), false, claim.id);
  for (;;) {
    Transaction read;
    read.then.emplace_back(whole(line_key));
    read.then.emplace_back(Range{.key = keys_.claim(claim.name.text(), true, claim.id), .keys_only = true});
    auto before = co_await transacting(link_, std::move(read), deadline);
    if (!before.ok()) co_return std::move(before.failure());
    if (before.value().outcomes.size() != 2) co_return not_understood(link_.address());
    const Line line(before.value().outcomes[0].found);
    const auto place = line.find(key);
    if (!place) {
      if (!before.value().outcomes[1].found.empty()) co_return spi::cannot_downgrade_permits(claim.name);
      lookout_.forget(claim);
      co_return ClaimAnswer{};
    }
    const LeasePtr lease = leases_.find(line[*place].lease);
    const Instant armed = lease ? lease->armed : Instant::min();
    if (line[*place].record.mode.kind == ClaimMode::shared || !line.is_granted(*place)) {
      co_return lookout_.found(claim, line, *place, false, armed);
    }
    Record record = line[*place].record;
    record.mode.kind = ClaimMode::shared;
    Transaction change;
    change.when.push_back({.key = key, .what = Compare::What::mod_revision, .number = line[*place].mod_revision});
    change.then.emplace_back(Put{.key = key, .value = record.text(), .keep_lease = true});
    change.then.emplace_back(whole(line_key));
    auto reply = co_await transacting(link_, std::move(change), deadline);
    if (!reply.ok()) co_return std::move(reply.failure());
    if (!reply.value().succeeded) continue;  // somebody has changed it meanwhile
    const Line after(reply.value().outcomes.back().found);
    const auto now_at = after.find(key);
    if (!now_at) co_return not_understood(link_.address());
    co_return lookout_.found(claim, after, *now_at, false, armed);
  }
}

}  // namespace holdfast::etcd
