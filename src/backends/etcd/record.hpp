#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/status.hpp"
#include "spi/claims.hpp"

namespace holdfast::etcd {

/// What a claim's key holds: who claims what and why. Other clients of etcd leave it empty.
struct Record {
  std::string id = {};  ///< the claim's, as it is written
  spi::Mode mode = {};
  bool keeps = false;            ///< permits that were granted before the total was lowered
  spi::milliseconds lease = {};  ///< as the store gave it
  std::chrono::system_clock::time_point since = {};
  ClientIdentity client = {};
  std::string reason = {};
  std::optional<ReleaseRequest> asked_to_release = {};

  static Record of(const spi::ClaimRequest& request, spi::milliseconds lease);
  /// A claim that is not ours excludes everybody.
  static Record parse(std::string_view text);
  std::string text() const;
};

}  // namespace holdfast::etcd
