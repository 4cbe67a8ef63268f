// Renewing claims, and asking where they stand.

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "backends/zookeeper/claims.hpp"
#include "backends/zookeeper/failures.hpp"
#include "kit/answer_soon.hpp"

namespace holdfast::zookeeper {

using spi::ClaimAnswer;
using spi::ClaimRef;
using spi::Done;
using spi::milliseconds;
using spi::Operation;
using namespace std::chrono_literals;

namespace {

/// What is asked about one claim.
struct Question {
  SessionPtr session = {};  ///< null: nothing is known of the claim
  std::string path = {};    ///< of its node; the same claim may have another one when the answers come
  std::optional<base::Future<Reply>> own = {};
  std::optional<base::Future<LineSnapshot>> reading = {};
};

/// Without repetitions.
template <class Claims>
std::set<std::string> names_of(const Claims& claims) {
  std::set<std::string> names;
  for (const auto& claim : claims) names.insert(claim.key.name.text());
  return names;
}

/// Even a new proof is as old as a third of the timeout. One that is little older will do, so that claims which are
/// renewed one after the other share it; but no older one, because the next renewal comes only after another third.
bool needs_proof(const Session& session, base::Instant now) {
  return session.proved_since() + session.timeout() * 2 / 5 < now;
}

bool contains(const std::vector<SessionPtr>& sessions, const SessionPtr& session) {
  return std::find(sessions.begin(), sessions.end(), session) != sessions.end();
}

}  // namespace

void NodeClaims::renew(std::span<const ClaimRef> claims, Done<std::vector<ClaimAnswer>> done) {
  if (closed_) {
    return kit::answer_soon(loop_, std::move(done), spi::Failure{Errc::closed, "the client is closed"});
  }
  std::vector<Renewal> all;
  all.reserve(claims.size());
  base::Duration patience = spi::longest_patience;
  for (const ClaimRef& claim : claims) {
    all.push_back({{claim.name, claim.kind, claim.id}, claim.lease});
    patience = std::min(patience, spi::patience(claim.lease));
  }
  calls_.start(patience, std::move(done), [&](CallPtr call) { return renewing(std::move(call), std::move(all)); });
}

// NOLINTNEXTLINE(readability-function-size): requests and their answers, in the order in which they are sent
Operation<std::vector<ClaimAnswer>> NodeClaims::renewing(CallPtr call, std::vector<Renewal> claims) {
  // Earlier requests about these names are executed first. But with several sessions, a renewal must not wait for a
  // request that waits for another session.
  std::deque<kit::RequestOrder::Place> places;
  if (sessions_.is_only_one()) {
    for (const std::string& name : names_of(claims)) places.push_back(order_by_name_.enter(name));
  }
  std::vector<SessionPtr> sessions;
  std::vector<SessionPtr> to_prove;
  for (const Renewal& claim : claims) {
    const KnownClaim* const known = known_.find(claim.key);
    const SessionPtr session = known != nullptr ? known->session : sessions_.any();
    if (!contains(sessions, session)) sessions.push_back(session);
    if (known != nullptr && claim.lease > 0ms && !contains(to_prove, session)) to_prove.push_back(session);
  }
  for (const SessionPtr& session : sessions) {
    while (!session->is_up() && !session->has_ended() && !call->over()) co_await session->change();
    if (call->over()) co_return nobody_waits();
  }

  call->is_in_doubt();
  std::deque<base::Future<Reply>> heartbeats;
  for (const SessionPtr& session : to_prove) {
    if (session->is_up() && needs_proof(*session, loop_.now()))
      heartbeats.push_back(base::started(sessions_.heartbeat(session)));
  }
  for (const kit::RequestOrder::Place& place : places) co_await place;

  // Everything is asked at once.
  std::deque<Question> questions;
  bool has_unknown = false;
  for (const Renewal& claim : claims) {
    Question& question = questions.emplace_back();
    const KnownClaim* const known = known_.find(claim.key);
    if (known == nullptr) {
      has_unknown = true;
      continue;
    }
    question.session = known->session;
    question.path = known->path();
    if (question.session->has_ended()) continue;
    known_.watch(*question.session, known->path(), claim.key);
    question.own = question.session->get(known->path(), Session::Watching::yes);
    if (known->waiting) {
      const bool permits = claim.key.permits();
      const bool listens = permits && known->ahead == known->line;
      question.reading = base::started(reading_line(question.session, known->line, permits, Freshness::at_least_ours,
                                                    listens ? Session::Watching::yes : Session::Watching::no));
    }
  }

  if (!has_unknown) places.clear();  // otherwise there is more to ask

  std::optional<spi::Failure> failure;
  for (const base::Future<Reply>& heartbeat : heartbeats) {
    const Reply& beaten = co_await heartbeat;
    if (!beaten.ok() && beaten.outcome != Outcome::session_ended) failure = explain(beaten, true);
  }
  std::vector<ClaimAnswer> answers(claims.size());
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const ClaimKey& key = claims[i].key;
    Question& question = questions[i];
    if (question.reading && !question.own) continue;
    if (!question.session) {
      if (failure || call->over()) continue;
      const SessionPtr any = sessions_.any();
      auto found = co_await finding(any, key);
      if (!found.ok()) {
        failure = found.failure();
      } else if (found.value()) {
        answers[i] = answer_for(*found.value());
      }
      continue;
    }
    if (!question.own) {  // its session has ended
      const KnownClaim* const known = known_.find(key);
      if (known != nullptr && known->session == question.session) known_.forget(key);
      continue;
    }
    const Reply& own = co_await *question.own;
    LineSnapshot snapshot;
    if (question.reading) snapshot = std::move(co_await *question.reading);
    KnownClaim* const known = known_.find(key);
    if (known == nullptr || known->path() != question.path) continue;  // released meanwhile
    const bool gone = own.outcome == Outcome::no_node || own.outcome == Outcome::session_ended ||
                      (own.ok() && own.stat.owner != question.session->id());
    if (gone) {
      known_.forget(key);
      continue;
    }
    if (!own.ok()) {
      failure = explain(own, true);
      continue;
    }
    if (question.reading) {
      auto stands = co_await refreshing(key, std::move(snapshot));
      if (stands.ok()) {
        answers[i] = std::move(stands.value());
      } else {
        failure = std::move(stands.failure());
      }
    } else {
      answers[i] = answer_for(*known);
    }
    KnownClaim* still = known_.find(key);
    if (still != nullptr && still->path() != question.path) still = nullptr;
    if (still != nullptr) note_release_request(*still, own, answers[i]);
    if (still != nullptr && claims[i].lease > question.session->timeout()) {
      failure = too_long(sessions_.address(), claims[i].lease, question.session->timeout());
    }
  }
  if (failure) co_return *std::move(failure);
  co_return answers;
}

}  // namespace holdfast::zookeeper
