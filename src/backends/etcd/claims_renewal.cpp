#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "backends/etcd/all_answered.hpp"
#include "backends/etcd/claims.hpp"
#include "backends/etcd/claims_steps.hpp"
#include "kit/answer_soon.hpp"
#include "kit/rules.hpp"

// Renewing and downgrading. A renewal takes three steps: it finds out which leases its claims are under, which is mostly
// known; it keeps these alive; and it reads how the claims stand. Only that read proves that the leases were kept alive,
// because the leader must confirm it: a server that is no longer the leader answers keep-alives, too.

namespace holdfast::etcd {

using base::Instant;
using spi::ClaimAnswer;
using spi::ClaimRef;
using spi::Done;
using spi::Failure;
using spi::milliseconds;
using spi::Nothing;
using spi::Operation;
using spi::Result;

namespace {

/// How many operations a transaction may have. Servers accept 128 unless they are configured otherwise.
constexpr std::size_t most_operations = 100;

/// A claim on a lock may have joined in either of two modes.
constexpr std::size_t most_keys_of_a_claim = 2;

using Kept = std::map<std::int64_t, LeasePtr>;

/// How often a renewal begins again because a key is under another lease than expected.
constexpr int most_passes = 3;

}  // namespace

void EtcdClaims::renew(std::span<const ClaimRef> claims, Done<std::vector<ClaimAnswer>> done) {
  if (claims.empty()) return kit::answer_soon(loop_, std::move(done), Result(std::vector<ClaimAnswer>()));
  std::vector<Look> looks;
  looks.reserve(claims.size());
  for (const ClaimRef& claim : claims) {
    looks.push_back({.claim = {claim.name, claim.kind, claim.id}, .lease = claim.lease});
  }
  renewing(std::move(looks)).start(std::move(done));
}

Operation<std::vector<ClaimAnswer>> EtcdClaims::renewing(std::vector<Look> looks) {
  const Instant began = loop_.now();
  base::Duration patience = spi::longest_patience;
  std::set<std::string> lines;
  for (const Look& look : looks) {
    patience = std::min(patience, patience_for(look.lease));
    lines.insert(line_of(look.claim));
  }
  std::vector<kit::RequestOrder::Place> queued;
  queued.reserve(lines.size());
  for (const std::string& line : lines) queued.push_back(order_.enter(line));
  for (const kit::RequestOrder::Place& place : queued) co_await place;
  auto answers = co_await looking(looks, calls_.deadline_after(began, patience));
  co_return answers;
}

Operation<ClaimAnswer> EtcdClaims::renewing_one(ClaimKey claim, milliseconds lease, Instant deadline) {
  std::vector<Look> looks;
  looks.push_back({.claim = std::move(claim), .lease = lease});
  auto answers = co_await looking(looks, deadline);
  if (!answers.ok()) co_return std::move(answers.failure());
  co_return std::move(answers.value().at(0));
}

Operation<std::vector<ClaimAnswer>> EtcdClaims::looking(std::vector<Look>& looks, Instant deadline) {
  auto learned = co_await learning(looks, deadline);
  if (!learned.ok()) co_return std::move(learned.failure());
  for (int pass = 1;; ++pass) {
    std::set<std::int64_t> to_keep;
    for (const Look& look : looks) {
      if (look.query && look.lease > milliseconds::zero() && look.under != 0) to_keep.insert(look.under);
    }
    Kept kept;
    if (!to_keep.empty()) {
      const std::vector<std::int64_t> leases(to_keep.begin(), to_keep.end());
      auto reply = co_await spi::answer_of<Kept>(
          [&](Done<Kept> done) { leases_.keep_all_alive(leases, deadline, std::move(done)); });
      if (!reply.ok()) co_return std::move(reply.failure());
      kept = std::move(reply.value());
    }
    std::map<std::int64_t, Instant> armed;
    for (const auto& [id, lease] : kept) {
      if (lease) armed[id] = lease->armed;
    }
    auto read = co_await reading(looks, deadline);
    if (!read.ok()) co_return std::move(read.failure());

    bool moved = false;
    std::vector<ClaimAnswer> answers;
    std::vector<std::size_t> to_move;
    for (Look& look : looks) {
      answers.emplace_back();
      if (!look.found) {
        has_ended(look.claim);
        continue;
      }
      const Line::Claim& now = look.found->claim;
      if (now.create_revision != look.query->create_revision) {  // it was created again; nothing else is known of it
        look.query->create_revision = now.create_revision;
        look.query->granted = false;
        look.under = now.lease;
        moved = true;
        continue;
      }
      const bool as_expected = now.lease == look.under;
      moved = moved || (!as_expected && look.lease > milliseconds::zero());
      look.under = now.lease;
      const auto proved = armed.find(now.lease);
      const LeasePtr known = leases_.find(now.lease);
      Instant since = known && !leases_.is_outlived(*known) ? known->armed : Instant::min();
      if (look.lease > milliseconds::zero()) since = proved == armed.end() ? Instant::min() : proved->second;
      answers.back() = tracker_.found(look.claim, *look.found, look.query->mode, since);
      const LeasePtr its = proved == armed.end() ? nullptr : kept.at(now.lease);
      if (its) answers.back().lease = its->length;
      if (its && (its->length < look.lease || leases_.is_outlived(*its))) to_move.push_back(answers.size() - 1);
    }
    if (moved && pass < most_passes) continue;
    if (moved) co_return Failure{Errc::unreachable, "the claim's key keeps changing; try again"};
    auto done = co_await moving(looks, to_move, answers, deadline);
    if (!done.ok()) co_return std::move(done.failure());
    co_return answers;
  }
}

/// Finds out which key each claim has, and under which lease: from what is known, else from the store.
Operation<Nothing> EtcdClaims::learning(std::vector<Look>& looks, Instant deadline) {
  std::vector<Look*> unknown;
  for (Look& look : looks) {
    if (const KnownClaim* const known = tracker_.find(look.claim)) {
      look.query = tracker_.query_for(look.claim, *known);
      look.under = known->lease;
    } else {
      unknown.push_back(&look);
    }
  }
  for (Look* const look : unknown) {
    if (slots_.find(look->claim)) continue;
    auto sought = co_await seeking(*look, deadline);
    if (!sought.ok()) co_return std::move(sought.failure());
  }
  std::erase_if(unknown, [&](const Look* look) { return !slots_.find(look->claim); });
  constexpr std::size_t at_once = most_operations / most_keys_of_a_claim;
  for (std::size_t begin = 0; begin < unknown.size(); begin += at_once) {
    const std::span<Look* const> some = std::span(unknown).subspan(begin, std::min(at_once, unknown.size() - begin));
    Transaction read;
    std::vector<Look*> asked_about;  // the claim of each operation
    for (Look* const look : some) {
      for (const std::string& key : keys_of(look->claim)) {
        read.then.emplace_back(Range{.key = key, .keys_only = true});
        asked_about.push_back(look);
      }
    }
    auto reply = co_await transacting(calls_, std::move(read), deadline);
    if (!reply.ok()) co_return std::move(reply.failure());
    const auto& outcomes = reply.value().outcomes;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (outcomes[i].found.empty()) continue;
      const KeyValue& found = outcomes[i].found.front();
      asked_about[i]->query = query_for(asked_about[i]->claim, found.key, found.create_revision);
      asked_about[i]->under = found.lease;
    }
  }
  co_return Nothing{};
}

/// Looks for a claim whose key this client has not chosen, such as another client's, by the id in its record.
Operation<Nothing> EtcdClaims::seeking(Look& look, Instant deadline) {
  Transaction read;
  read.then.emplace_back(whole_line(line_of(look.claim)));
  auto reply = co_await transacting(calls_, std::move(read), deadline);
  if (!reply.ok()) co_return std::move(reply.failure());
  const std::string id = hexadecimal(look.claim.id);
  const Line line(reply.value().outcomes.front().found);
  for (const Line::Claim& claim : line.claims()) {
    if (claim.record.id != id) continue;
    look.query = query_for(look.claim, claim.key, claim.create_revision);
    look.under = claim.lease;
  }
  co_return Nothing{};
}

StandingQuery EtcdClaims::query_for(const ClaimKey& claim, const std::string& key, std::int64_t create_revision) const {
  const std::string line = line_of(claim);
  return {.line = line, .key = key, .mode = Keys::mode_in(line, key, claim.kind), .create_revision = create_revision};
}

/// Reads how each claim stands now.
Operation<Nothing> EtcdClaims::reading(std::vector<Look>& looks, Instant deadline) {
  std::vector<std::vector<Look*>> batches;
  std::size_t operations = most_operations;
  for (Look& look : looks) {
    look.found.reset();
    if (!look.query) continue;
    if (operations + look.query->size() > most_operations) {
      batches.emplace_back();
      operations = 0;
    }
    operations += look.query->size();
    batches.back().push_back(&look);
  }
  if (batches.empty()) co_return Nothing{};
  auto gathered = co_await spi::answer_of<Nothing>([&](Done<Nothing> done) {
    auto all = std::make_shared<AllAnswered<>>(batches.size(), std::move(done));
    for (const std::vector<Look*>& batch : batches) {
      Transaction read;
      for (const Look* const look : batch) look->query->add_to(read.then);
      calls_.transact(std::move(read), deadline, [all, &batch](Result<TransactionReply> reply) {
        if (reply.ok()) {
          std::span<const Outcome> outcomes = reply.value().outcomes;
          for (Look* const look : batch) {
            look->found = look->query->standing_in(outcomes.first(look->query->size()), reply.value().revision);
            outcomes = outcomes.subspan(look->query->size());
            // The key may belong to another claim by now.
            const bool is_it = look->found && look->found->claim.record.id == hexadecimal(look->claim.id);
            if (!is_it) look->found.reset();
          }
        }
        all->answered(reply);
      });
    }
  });
  co_return gathered;
}

/// Moves some of the claims under other leases, all at the same time.
Operation<Nothing> EtcdClaims::moving(std::vector<Look>& looks, const std::vector<std::size_t>& which,
                                      std::vector<ClaimAnswer>& answers, Instant deadline) {
  if (which.empty()) co_return Nothing{};
  auto gathered = co_await spi::answer_of<Nothing>([&](Done<Nothing> done) {
    auto all = std::make_shared<AllAnswered<>>(which.size(), std::move(done));
    for (const std::size_t index : which) {
      moving_one(looks[index], deadline).start([all, &answer = answers[index]](Result<ClaimAnswer> moved) {
        if (moved.ok()) answer = std::move(moved.value());
        all->answered(moved);
      });
    }
  });
  co_return gathered;
}

/// Moves a claim's key under a longer or a newer lease. The claim keeps its place in the line. (A lease cannot be
/// extended.)
Operation<ClaimAnswer> EtcdClaims::moving_one(Look look, Instant deadline) {
  const LeasePtr before = leases_.find(look.under);
  const bool is_extended = before && before->length < look.lease;
  const LeaseKind kind = before && !is_extended ? before->kind : LeaseKind::renewed;
  for (;;) {
    auto lease = co_await leases_.get(look.lease, kind, deadline);
    if (!lease.ok()) co_return std::move(lease.failure());
    const LeasePtr under = lease.value();
    const Instant armed = under->armed;
    LineStanding standing = *look.found;
    standing.claim.record.lease = under->length;
    Transaction move = changing(standing.claim);
    move.about = line_of(look.claim);
    std::get<Put>(move.then.front()).lease = under->id;
    auto reply = co_await transacting(calls_, std::move(move), deadline);
    if (reply.ok() && reply.value().succeeded && !leases_.is_outlived(*under)) {
      standing.claim.mod_revision = reply.value().revision;
      standing.claim.lease = under->id;
      co_return tracker_.found(look.claim, standing, look.query->mode, armed);
    }
    if (!reply.ok() && reply.failure().code != Errc::lost) co_return std::move(reply.failure());
    if (!reply.ok()) leases_.is_gone(under->id);
    // Somebody else may have changed the claim meanwhile.
    auto read = co_await reading_one(look, deadline);
    if (!read.ok()) co_return std::move(read.failure());
    if (!look.found) co_return ClaimAnswer{};
  }
}

/// Reads how one claim stands now. Leaves `found` empty if the claim has gone.
Operation<Nothing> EtcdClaims::reading_one(Look& look, Instant deadline) {
  std::vector<Look> one;
  one.push_back(std::move(look));
  auto read = co_await reading(one, deadline);
  look = std::move(one.front());
  if (!read.ok()) co_return read;
  if (!look.found || look.found->claim.create_revision != look.query->create_revision) {
    look.found.reset();
    has_ended(look.claim);
  }
  co_return Nothing{};
}

/// Writes the claim's record if nobody has changed it since it was read.
Transaction EtcdClaims::changing(const Line::Claim& claim) {
  Transaction change;
  change.when.push_back({.key = claim.key, .what = Compare::What::mod_revision, .number = claim.mod_revision});
  change.then.emplace_back(Put{.key = claim.key, .value = claim.record.text()});
  return change;
}

// --- downgrade ------------------------------------------------------------------------------------------------------

void EtcdClaims::downgrade(const ClaimRef& claim, Done<ClaimAnswer> done) {
  downgrading({claim.name, claim.kind, claim.id}, patience_for(claim.lease)).start(std::move(done));
}

Operation<ClaimAnswer> EtcdClaims::downgrading(ClaimKey claim, base::Duration patience) {
  const Instant began = loop_.now();
  const kit::RequestOrder::Place queued = order_.enter(line_of(claim));
  co_await queued;
  const Instant deadline = calls_.deadline_after(began, patience);
  std::vector<Look> one;
  one.push_back({.claim = claim});
  auto learned = co_await learning(one, deadline);
  if (!learned.ok()) co_return std::move(learned.failure());
  Look& look = one.front();
  if (!look.query) {
    has_ended(claim);
    co_return ClaimAnswer{};
  }
  for (;;) {
    auto read = co_await reading_one(look, deadline);
    if (!read.ok()) co_return std::move(read.failure());
    if (!look.found) co_return ClaimAnswer{};
    if (claim.permits()) co_return kit::cannot_downgrade_permits(claim.name);
    LineStanding standing = *look.found;
    const LeasePtr lease = leases_.find(standing.claim.lease);
    const Instant armed = lease && !leases_.is_outlived(*lease) ? lease->armed : Instant::min();
    if (standing.claim.record.mode.kind == ClaimMode::shared || !standing.granted) {
      co_return tracker_.found(claim, standing, look.query->mode, armed);
    }
    standing.claim.record.mode.kind = ClaimMode::shared;
    Transaction change = changing(standing.claim);
    std::get<Put>(change.then.front()).keep_lease = true;
    auto reply = co_await transacting(calls_, std::move(change), deadline);
    if (!reply.ok()) co_return std::move(reply.failure());
    if (!reply.value().succeeded) continue;  // somebody else has changed it meanwhile
    standing.claim.mod_revision = reply.value().revision;
    co_return tracker_.found(claim, standing, look.query->mode, armed);
  }
}

}  // namespace holdfast::etcd
