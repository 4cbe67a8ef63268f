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

void prove(Standing& standing, const Step& step) {
  if (standing.answer.standing != ClaimAnswer::Standing::absent) standing.answer.armed_at = step.sent;
}

}  // namespace

void SqliteClaims::acquire(const ClaimRequest& request, Done<ClaimAnswer> done) {
  acquiring(request).start(std::move(done));
}

Operation<ClaimAnswer> SqliteClaims::acquiring(ClaimRequest request) {
  auto standing = co_await access_.transact(Access::write, spi::patience(request.lease), [&](Step& step) {
    auto found = step.store.acquire(request, access_.member()->enroll(step.store, request.client.get()));
    if (found.ok()) prove(found.value(), step);
    return found;
  });
  if (!standing.ok()) co_return std::move(standing.failure());
  if (Membership* member = access_.member()) member->note(request.name, request.kind(), request.id, standing.value());
  co_return std::move(standing.value().answer);
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
  auto standings = co_await access_.transact(Access::write, patience, [&](Step& step) {
    std::vector<Standing> found;
    found.reserve(claims.size());
    for (const ClaimRef& claim : claims) prove(found.emplace_back(step.store.renew(claim)), step);
    return Result(std::move(found));
  });
  if (!standings.ok()) co_return std::move(standings.failure());
  std::vector<ClaimAnswer> answers;
  answers.reserve(claims.size());
  for (std::size_t i = 0; i < claims.size(); ++i) {
    Standing& standing = standings.value()[i];
    if (Membership* member = access_.member()) member->note(claims[i].name, claims[i].kind, claims[i].id, standing);
    answers.push_back(std::move(standing.answer));
  }
  co_return answers;
}

void SqliteClaims::downgrade(const ClaimRef& claim, Done<ClaimAnswer> done) {
  downgrading(claim).start(std::move(done));
}

Operation<ClaimAnswer> SqliteClaims::downgrading(ClaimRef claim) {
  auto standing = co_await access_.transact(Access::write, spi::patience(claim.lease),
                                            [&](Step& step) { return step.store.downgrade(claim); });
  if (!standing.ok()) co_return std::move(standing.failure());
  co_return std::move(standing.value().answer);
}

}  // namespace holdfast::sqlite
