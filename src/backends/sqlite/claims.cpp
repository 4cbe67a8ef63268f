#include "backends/sqlite/claims.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sqlite {

using spi::ClaimAnswer;
using spi::ClaimRef;
using spi::ClaimRequest;
using spi::Done;
using spi::Operation;
using spi::Result;

namespace {

void prove(ClaimState& state, const Step& step) {
  if (state.answer.standing != ClaimAnswer::Standing::absent) state.answer.armed_at = step.sent;
}

}  // namespace

void SqliteClaims::acquire(const ClaimRequest& request, Done<ClaimAnswer> done) {
  acquiring(request).start(std::move(done));
}

Operation<ClaimAnswer> SqliteClaims::acquiring(ClaimRequest request) {
  auto state = co_await access_.transact(Access::write, spi::patience(request.lease), [&](Step& step) {
    auto found = step.store.acquire(request, access_.member()->enroll(step.store, request.client.get()));
    if (found.ok()) prove(found.value(), step);
    return found;
  });
  if (!state.ok()) co_return std::move(state.failure());
  if (Membership* member = access_.member()) member->note(request.name, request.kind(), request.id, state.value());
  co_return std::move(state.value().answer);
}

void SqliteClaims::release(const ClaimRef& claim, Done<bool> done) { releasing(claim).start(std::move(done)); }

Operation<bool> SqliteClaims::releasing(ClaimRef claim) {
  auto released = co_await access_.transact(Access::write, spi::patience(claim.lease),
                                            [&](Step& step) { return Result(step.store.release(claim)); });
  if (!released.ok()) co_return std::move(released.failure());
  if (Membership* member = access_.member()) member->note_gone(claim.id);
  co_return released;
}

void SqliteClaims::renew(std::span<const ClaimRef> claims, Done<std::vector<ClaimAnswer>> done) {
  renewing({claims.begin(), claims.end()}).start(std::move(done));
}

Operation<std::vector<ClaimAnswer>> SqliteClaims::renewing(std::vector<ClaimRef> claims) {
  base::Duration patience = spi::longest_patience;
  for (const ClaimRef& claim : claims) patience = std::min(patience, spi::patience(claim.lease));
  auto states = co_await access_.transact(Access::write, patience, [&](Step& step) {
    std::vector<ClaimState> found;
    found.reserve(claims.size());
    for (const ClaimRef& claim : claims) prove(found.emplace_back(step.store.renew(claim)), step);
    return Result(std::move(found));
  });
  if (!states.ok()) co_return std::move(states.failure());
  std::vector<ClaimAnswer> answers;
  answers.reserve(claims.size());
  for (std::size_t i = 0; i < claims.size(); ++i) {
    ClaimState& state = states.value()[i];
    if (Membership* member = access_.member()) member->note(claims[i].name, claims[i].kind, claims[i].id, state);
    answers.push_back(std::move(state.answer));
  }
  co_return answers;
}

void SqliteClaims::downgrade(const ClaimRef& claim, Done<ClaimAnswer> done) {
  downgrading(claim).start(std::move(done));
}

Operation<ClaimAnswer> SqliteClaims::downgrading(ClaimRef claim) {
  auto state = co_await access_.transact(Access::write, spi::patience(claim.lease),
                                         [&](Step& step) { return step.store.downgrade(claim); });
  if (!state.ok()) co_return std::move(state.failure());
  co_return std::move(state.value().answer);
}

}  // namespace holdfast::sqlite
