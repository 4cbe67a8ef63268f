#include "cli/command.hpp"

#include <array>

namespace holdfast::cli {

std::span<const CommandEntry* const> all_commands() {
  static constexpr std::array commands{&run_entry,   &elect_entry, &ls_entry,         &show_entry,    &watch_entry,
                                       &top_entry,   &break_entry, &leader_entry,     &value_entry,   &id_entry,
                                       &bench_entry, &demo_entry,  &completion_entry, &version_entry, &help_entry};
  return commands;
}

}  // namespace holdfast::cli
