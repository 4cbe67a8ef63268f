#include "cli/command.hpp"

#include <array>

namespace holdfast::cli {

std::span<const CommandEntry* const> all_commands() {
  static constexpr std::array commands{&run_entry, &ls_entry, &show_entry, &version_entry, &help_entry};
  return commands;
}

}  // namespace holdfast::cli
