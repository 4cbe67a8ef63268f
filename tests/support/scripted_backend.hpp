#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spi/backend.hpp"

namespace holdfast::test {

/// A store of which the test plays every part: requests are kept until the test answers them.
class ScriptedBackend final : public spi::Backend, private spi::Claims {
 public:
  explicit ScriptedBackend(StoreTraits traits = {.store = "scripted"}) : traits_(std::move(traits)) {}

  struct Acquire {
    spi::ClaimId id;
    spi::milliseconds lease;
    spi::WhenBusy when_busy;
    std::optional<spi::ClaimId> replaces;
    spi::Mode mode;
    spi::milliseconds lock_delay;
    spi::Done<spi::ClaimAnswer> done;
  };
  struct Release {
    spi::ClaimId id;
    spi::Done<bool> done;
  };
  struct Renew {
    std::vector<spi::ClaimId> ids;
    std::vector<spi::milliseconds> leases;
    spi::Done<std::vector<spi::ClaimAnswer>> done;
  };

  struct Downgrade {
    spi::ClaimId id;
    spi::Done<spi::ClaimAnswer> done;
  };

  std::deque<Acquire> acquires;
  std::deque<Release> releases;
  std::deque<Renew> renews;
  std::deque<Downgrade> downgrades;
  bool closed = false;
  base::Duration keeps_releases_for = {};

  /// The oldest unanswered request of a kind. Throws if there is none.
  Acquire next_acquire() { return take(acquires); }
  Release next_release() { return take(releases); }
  Renew next_renew() { return take(renews); }
  Downgrade next_downgrade() { return take(downgrades); }

  spi::Claims& claims() override { return *this; }
  spi::Registers& registers() override { throw std::logic_error("no registers"); }
  spi::Administration& administration() override { throw std::logic_error("no administration"); }
  StoreTraits traits() const override { return traits_; }
  base::Duration release_may_wait() const override { return keeps_releases_for; }
  void close(spi::Done<> done) override {
    closed = true;
    done(spi::Nothing{});
  }

 private:
  void acquire(const spi::ClaimRequest& request, spi::Done<spi::ClaimAnswer> done) override {
    acquires.push_back({request.id, request.lease, request.when_busy, request.replaces, request.mode,
                        request.lock_delay, std::move(done)});
  }
  void release(const spi::ClaimRef& claim, spi::Done<bool> done) override {
    releases.push_back({claim.id, std::move(done)});
  }
  void renew(std::span<const spi::ClaimRef> claims, spi::Done<std::vector<spi::ClaimAnswer>> done) override {
    Renew renew{{}, {}, std::move(done)};
    for (const spi::ClaimRef& claim : claims) {
      renew.ids.push_back(claim.id);
      renew.leases.push_back(claim.lease);
    }
    renews.push_back(std::move(renew));
  }
  void downgrade(const spi::ClaimRef& claim, spi::Done<spi::ClaimAnswer> done) override {
    downgrades.push_back({claim.id, std::move(done)});
  }

  template <class T>
  static T take(std::deque<T>& requests) {
    T first = std::move(requests.at(0));
    requests.pop_front();
    return first;
  }

  const StoreTraits traits_;
};

}  // namespace holdfast::test
