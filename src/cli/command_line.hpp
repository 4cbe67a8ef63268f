#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "cli/store.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the parsing library's
class App;
}

namespace holdfast::cli {

/// One thing that a subcommand takes, as help, man page and completions show it.
struct Parameter {
  enum class Kind { operand, flag, value };

  Kind kind = Kind::operand;
  std::string names = {};        ///< `--long` or `-s,--long`; of an operand, what it is called: `NAME`
  std::string placeholder = {};  ///< of a value: `DUR`
  std::string help = {};
  std::vector<std::string> choices = {};  ///< if it takes only these
  bool required = false;
};

/// What a subcommand takes on its command line. Keeps the parsing library, which is slow to compile, in one file.
/// References must stay valid until the command line was parsed.
class Parameters {
 public:
  using Choices = std::vector<std::string>;

  explicit Parameters(CLI::App& app) : app_(app) {}

  void required(std::string_view name, std::string_view help, std::string& value, Choices choices = {});
  void optional(std::string_view name, std::string_view help, std::string& value, Choices choices = {});
  void optional(std::string_view name, std::string_view help, std::optional<std::string>& value);
  /// `flags` is `--long`, or `-s,--long`.
  void flag(std::string_view flags, std::string_view help, bool& value);
  void text(std::string_view flags, std::string_view placeholder, std::string_view help, std::string& value);
  void text(std::string_view flags, std::string_view placeholder, std::string_view help,
            std::optional<std::string>& value);
  void choice(std::string_view flag, const Choices& choices, std::string_view help, std::string& value);
  void duration(std::string_view flag, std::string_view help, std::optional<std::chrono::milliseconds>& value);
  /// A whole number from `least` to `most`.
  void number(std::string_view flag, std::string_view help, int least, int most, std::optional<int>& value);
  /// Two flags that cannot be given together.
  void exclusive(std::string_view flag, std::string_view other);
  /// `-u,--url URL` and `--password-file FILE`, for every subcommand that uses a store.
  void store(StoreFlags& flags);
  /// `-- CMD [ARG...]`: everything behind the first `--`, untouched. At least one word is required.
  void command(std::vector<std::string>& words);

  /// Where command() wants the words behind `--`; null if it was not called.
  std::vector<std::string>* command_words() const { return words_; }
  /// All of them, in the order in which they were defined.
  const std::vector<Parameter>& all() const { return all_; }

 private:
  void value(Parameter parameter, const std::function<void(const std::string&)>& take);

  CLI::App& app_;
  std::vector<Parameter> all_;
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

  /// A subcommand and all that it takes, for the man page and for completions.
  struct Description {
    const CommandEntry& entry;
    const std::vector<Parameter>& parameters;
    bool takes_command;
  };
  /// All of them, in the order of the help. Valid as long as *this.
  std::vector<Description> descriptions() const;

 private:
  struct Definition;

  Definition& definition_of(const CommandEntry& entry) const;
  Definition& definition_of(std::string_view name) const;

  /// Made when they are asked for: most calls need one, and a parser takes its time.
  mutable std::map<const CommandEntry*, std::unique_ptr<Definition>> definitions_;
};

}  // namespace holdfast::cli
