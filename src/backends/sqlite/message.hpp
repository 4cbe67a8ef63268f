#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backends/sqlite/lifelines.hpp"
#include "spi/claims.hpp"

namespace holdfast::sqlite {

/// What one client sends to the mailbox of another. It is a hint: it may be lost, and the database says what is true.
struct Message {
  enum class Kind : std::uint8_t {
    granted = 1,  ///< the waiting claim was granted, with this number; its lease is as it was
    check = 2,    ///< something happened to the claim: ask
    changed = 3,  ///< the register of that name has changed
  };

  Kind kind = Kind::check;
  std::string name = {};
  LockKind line = LockKind::lock;  ///< in which of the name's lines the claim stands
  spi::ClaimId id = {};
  std::int64_t number = 0;
  spi::milliseconds lease = {};

  static constexpr std::size_t max_bytes = 1024;
  std::string encoded() const;
  /// Empty if it is not a message, or one of another version.
  static std::optional<Message> decode(std::string_view bytes);
};

/// A message and the client to whose mailbox it goes.
struct Notice {
  ClientNumber to = 0;
  Message message = {};
};

}  // namespace holdfast::sqlite
