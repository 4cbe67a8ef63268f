#pragma once

#include <string>
#include <vector>

#include "cli/command_line.hpp"

namespace holdfast::cli {

/// What a shell needs to know to complete the tool's command lines, without anything about a certain shell.

/// What is offered for a value or an operand.
struct Candidates {
  enum class Source { nothing, words, files, lock_names };

  Source source = Source::nothing;
  std::vector<std::string> words = {};
};

struct CompletedFlag {
  std::vector<std::string> names = {};  ///< `-u`, `--url`
  std::string placeholder = {};         ///< what its value is called; empty if it takes none
  std::string help = {};
  Candidates candidates = {};

  bool takes_value() const { return !placeholder.empty(); }
};

struct CompletedOperand {
  std::string name = {};
  bool required = false;
  Candidates candidates = {};
};

struct CompletedCommand {
  std::string name = {};
  std::string summary = {};
  std::vector<CompletedFlag> flags = {};  ///< with `--help`
  std::vector<CompletedOperand> operands = {};
  bool takes_command = false;  ///< everything behind `--` is somebody else's command line
};

using CompletionModel = std::vector<CompletedCommand>;

CompletionModel completion_model(const std::vector<CommandLine::Description>& subcommands);

/// Flags that stand in the place of a subcommand.
const std::vector<CompletedFlag>& flags_without_subcommand();

/// Words with blanks between them.
std::string joined(const std::vector<std::string>& words);
/// The names of all flags.
std::vector<std::string> names_of(const std::vector<CompletedFlag>& flags);

}  // namespace holdfast::cli
