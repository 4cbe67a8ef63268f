#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "holdfast/status.hpp"
#include "spi/claims.hpp"

namespace holdfast::zookeeper {

/// The data of a claim's node: who claims and why, and whether somebody wants it to be released. Lines of text, so that
/// people can read them with any tool.
struct Record {
  ClientIdentity client = {};
  std::string reason = {};
  std::chrono::milliseconds lease = {};
  std::optional<ReleaseRequest> asked = {};

  std::string text() const;
  /// Of a node that is not ours, its data are taken for the host, because Curator writes its address there.
  static Record from(std::string_view text);
  static bool is_ours(std::string_view text);
};

/// What Curator's Revocable writes into a holder's node, and reads from its own.
constexpr std::string_view revoke_message = "__REVOKE__";

}  // namespace holdfast::zookeeper
