#pragma once

#include <filesystem>
#include <vector>

#include "cli/demo/event.hpp"
#include "holdfast/file_fence.hpp"

namespace holdfast::cli::demo {

/// What the lock protects: the way to the customer's phone. A file of the messages that went out, and a fence that
/// keeps late senders out. Any number of processes use it at the same time.
class PhoneGateway {
 public:
  /// REQUIRES: the folder exists.
  explicit PhoneGateway(const std::filesystem::path& folder);

  /// Takes a message from anybody.
  void send(HostId sender);
  /// False, and nothing goes out, if a larger token has sent before.
  [[nodiscard]] bool send(HostId sender, Token token);

  /// Who sent the messages that went out, in their order.
  std::vector<HostId> senders() const;

 private:
  std::filesystem::path messages_;
  FileFence fence_;
};

}  // namespace holdfast::cli::demo
