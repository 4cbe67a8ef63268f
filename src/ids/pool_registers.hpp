#pragma once

#include <cstdint>
#include <optional>

#include "holdfast/client.hpp"
#include "holdfast/move_only_function.hpp"
#include "holdfast/name.hpp"
#include "holdfast/register.hpp"
#include "holdfast/store_clock.hpp"
#include "ids/worker_lease.hpp"

namespace holdfast::ids {

/// The registers of a pool of worker numbers: `id/POOL`, and `id/POOL/N` for each number. Does what WorkerLease says.
class PoolRegisters {
 public:
  /// Throws Errc::invalid_argument if the pool's name is too long.
  PoolRegisters(Client& client, const LockName& pool);

  /// Reads all of it at once. `done` is called exactly once, on one of the client's threads or inside this call.
  void look(const WorkerLease::Look& what, MoveOnlyFunction<void(WorkerLease::Looked)> done);
  void write(const WorkerLease::Write& what, MoveOnlyFunction<void(Reply<Written>)> done);

 private:
  Register register_of(std::optional<std::uint32_t> number) const;

  Register pool_;
  StoreClock clock_;
};

}  // namespace holdfast::ids
