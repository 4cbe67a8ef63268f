#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "cli/demo/parts.hpp"
#include "cli/demo/timeline.hpp"
#include "cli/demo/verdict.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli::demo {

/// How fast the story goes.
struct Pace {
  std::chrono::milliseconds lease;  ///< how long the lock outlives a holder that does not renew it
  std::chrono::milliseconds beat;   ///< time to read a line
};

/// The demonstration: four acts, each played by real processes, checked against what really happened, and only then
/// summed up. Throws Failure if an act did not come out as told, and what Stage throws.
class Story {
 public:
  /// `folder` is for the gateways' files. `signals` must outlive *this. REQUIRES: this process has one thread.
  Story(std::string url, std::filesystem::path folder, Pace pace, Look look, const Signals& signals);

  void tell();

 private:
  void without_lock();
  void once_per_hour();
  void holder_is_killed();
  void holder_is_paused();
  void sum_up() const;

  World world_of_act(int number) const;
  /// What happened in an act, checked.
  static ActRecord checked(const std::vector<Event>& events, const World& world,
                           std::string (*objection)(const ActRecord&));

  std::string url_;
  std::string lock_;
  std::filesystem::path folder_;
  Pace pace_;
  Timeline timeline_;
  const Signals& signals_;
  std::chrono::milliseconds takeover_after_kill_ = {};
};

}  // namespace holdfast::cli::demo
