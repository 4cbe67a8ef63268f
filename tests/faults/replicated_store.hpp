#pragma once

#include <cstddef>
#include <string>

#include "faults/store.hpp"

namespace holdfast::faults {

/// Three servers of which two must agree, and whose links can be cut.
class ReplicatedStore : public Store {
 public:
  static constexpr std::size_t size = 3;

  std::uint64_t do_harm(Sabotage sabotage, std::chrono::milliseconds length) override;

  /// Of some servers, by number.
  virtual std::string url_of(const std::vector<std::size_t>& servers) const = 0;
  std::string url() const override { return url_of({0, 1, 2}); }

  /// Which one leads; `size` if none does. `silent` is not asked: it stands still, or is the last to know.
  virtual std::size_t leader_beside(std::size_t silent) const = 0;
  std::size_t leader() const { return leader_beside(size); }
  virtual void kill(std::size_t server) = 0;
  /// All that were killed.
  virtual void start_missing() = 0;
  virtual void pause(std::size_t server) = 0;
  virtual void resume(std::size_t server) = 0;
  /// It and the others do not hear of each other; its clients reach it.
  virtual void cut_off(std::size_t server) = 0;
  virtual void rejoin(std::size_t server) = 0;

  /// Returns when another one leads than `old`, which must not be asked; or says that this does not happen.
  bool is_replaced(std::size_t old) const;
};

}  // namespace holdfast::faults
