#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "cli/demo/host.hpp"

namespace holdfast::cli::demo {

/// What the hosts know of the world.
struct World {
  std::string url = {};   ///< of the store; may hold a password
  std::string lock = {};  ///< its name
  std::chrono::milliseconds lease = {};
  std::filesystem::path gateway = {};  ///< the folder of the PhoneGateway
};

/// The job of a host, in three ways. Each is what a user's program would do, except that it tells what it does and
/// waits for a cue before it sends.
void send_without_lock(const HostLink& link, const World& world);
void send_once_per_hour(const HostLink& link, const World& world);
/// Looks at its hold, sends without looking again, and then looks again.
void send_under_lock(const HostLink& link, const World& world);

}  // namespace holdfast::cli::demo
