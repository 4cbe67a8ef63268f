#pragma once

#include <cstdint>

#include "holdfast/name.hpp"
#include "spi/claims.hpp"

namespace holdfast::memory {

/// Which client a claim belongs to, so that it can be told what happens to it. Chosen by the store's user.
using ClientNumber = std::uint32_t;

/// What a client should be told although it did not ask.
struct Event {
  enum class Kind {
    granted,  ///< the waiting claim `id` was granted; `answer` says the rest (armed_at is Instant::min())
    check,    ///< something happened to the granted claim `id`: its holder should ask
    changed,  ///< the register `name` that the client watched has changed; the watch is over
  };

  ClientNumber client = 0;
  Kind kind = Kind::check;
  LockName name;
  LockKind line = LockKind::lock;  ///< in which of the name's lines the claim stands
  spi::ClaimId id = {};
  spi::ClaimAnswer answer = {};
};

}  // namespace holdfast::memory
