#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the parsing library's
class App;
}

namespace holdfast::cli {

/// What a subcommand takes on its command line. Keeps the parsing library, which is slow to compile, in one file.
/// References must stay valid until the command line was parsed.
class Parameters {
 public:
  explicit Parameters(CLI::App& app) : app_(app) {}

  void required(std::string_view name, std::string_view help, std::string& value);
  void optional(std::string_view name, std::string_view help, std::string& value);
  /// `flags` is `--long`, or `-s,--long`.
  void flag(std::string_view flags, std::string_view help, bool& value);
  void text(std::string_view flags, std::string_view placeholder, std::string_view help, std::string& value);
  void duration(std::string_view flag, std::string_view help, std::optional<std::chrono::milliseconds>& value);
  /// Two flags that cannot be given together.
  void exclusive(std::string_view flag, std::string_view other);
  /// `-u,--url URL`, for every subcommand that uses a store.
  void url(std::optional<std::string>& value);
  /// `-- CMD [ARG...]`: everything behind the first `--`, untouched. At least one word is required.
  void command(std::vector<std::string>& words);

  /// Where command() wants the words behind `--`; null if it was not called.
  std::vector<std::string>* command_words() const { return words_; }

 private:
  void value(std::string_view flags, std::string_view placeholder, std::string_view help,
             const std::function<void(const std::string&)>& take);

  CLI::App& app_;
  std::vector<std::string>* words_ = nullptr;
};

/// The tool's whole command line: finds the subcommand and fills in its parameters.
class CommandLine {
 public:
  CommandLine();
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// The subcommand that was asked for, ready to execute; null when help was asked for and printed. It belongs to this
  /// object. Throws UsageError, which never repeats a password.
  Command* parse(std::vector<std::string> arguments);

  /// The help of one subcommand, or of the tool when `name` is empty. Throws UsageError for an unknown name.
  std::string help(std::string_view name) const;

 private:
  struct Definition;

  Definition& definition_of(std::string_view name) const;

  std::vector<std::unique_ptr<Definition>> definitions_;
};

}  // namespace holdfast::cli
