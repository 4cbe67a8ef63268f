#pragma once

#include <memory>
#include <span>
#include <string_view>

namespace holdfast::cli {

class Parameters;

/// One subcommand of the tool. Not thread-safe: used once, by main().
class Command {
 public:
  Command() = default;
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// Says what it takes on its command line. The values are filled in before execute().
  virtual void define(Parameters& parameters) = 0;
  /// Does it, and returns the exit code. May throw UsageError and holdfast::Error, which main() reports.
  virtual int execute() = 0;
};

/// How a subcommand is listed, and how it is made.
struct CommandEntry {
  std::string_view name;
  std::string_view summary;  ///< one line, for the list of subcommands
  std::string_view details;  ///< under the flags in its own help: examples first
  std::unique_ptr<Command> (*make)();
};

/// Each is defined in the file of its name.
extern const CommandEntry run_entry;
extern const CommandEntry elect_entry;
extern const CommandEntry ls_entry;
extern const CommandEntry show_entry;
extern const CommandEntry watch_entry;
extern const CommandEntry top_entry;
extern const CommandEntry break_entry;
extern const CommandEntry leader_entry;
extern const CommandEntry value_entry;
extern const CommandEntry id_entry;
extern const CommandEntry bench_entry;
extern const CommandEntry demo_entry;
extern const CommandEntry completion_entry;
extern const CommandEntry version_entry;
extern const CommandEntry help_entry;

/// All of them, in the order of the help.
std::span<const CommandEntry* const> all_commands();

}  // namespace holdfast::cli
