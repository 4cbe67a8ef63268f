#pragma once

#include <string>
#include <vector>

#include "faults/store.hpp"
#include "support/proxy.hpp"

namespace holdfast::faults {

/// A store that is one server of its own, behind a proxy; with an operator who sees its claims and can end them.
class OneServerStore : public Store {
 public:
  std::uint64_t do_harm(Sabotage sabotage, std::chrono::milliseconds length) override;

  virtual test::Proxy& proxy() = 0;
  /// That of the server itself.
  virtual std::string direct_url() const = 0;

  /// Everybody's claims, holders and waiters; of a name, the oldest first.
  virtual std::vector<std::string> claims() const = 0;
  virtual std::vector<std::string> claims_of(const std::string& name) const = 0;
  virtual void delete_claim(const std::string& claim) = 0;
  /// The lease or session on which the claim lives.
  virtual void end_lease_of(const std::string& claim) = 0;

 protected:
  virtual void kill() = 0;
  virtual void start() = 0;
  virtual void pause() = 0;
  virtual void resume() = 0;
  /// Deletes all claims, or ends all leases; how many.
  virtual std::uint64_t forget() = 0;
  virtual std::uint64_t end_leases() = 0;

 private:
  std::uint64_t restart(std::chrono::milliseconds length);
  std::uint64_t lose_replies();
};

}  // namespace holdfast::faults
