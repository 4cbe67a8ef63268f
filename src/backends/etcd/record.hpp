#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/status.hpp"
#include "spi/claims.hpp"

namespace holdfast::etcd {

/// The value of a claim's key: who claims what, and why. Other programs leave it empty.
struct Record {
  std::string id = {};  ///< the claim's id as hexadecimal() writes it
  spi::Mode mode = {};
  bool keeps = false;            ///< permits: it was granted before the total was lowered
  spi::milliseconds lease = {};  ///< as the store granted it
  std::chrono::system_clock::time_point since = {};
  ClientIdentity client = {};
  std::string reason = {};
  std::optional<ReleaseRequest> asked_to_release = {};

  static Record of(const spi::ClaimRequest& request, spi::milliseconds lease);
  /// A claim that Holdfast did not write excludes everybody.
  static Record parse(std::string_view text);
  std::string text() const;
};

}  // namespace holdfast::etcd
