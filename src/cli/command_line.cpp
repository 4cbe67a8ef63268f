#include "cli/command_line.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <charconv>

#include "cli/exit_code.hpp"
#include "cli/secrets.hpp"
#include "cli/text/duration.hpp"
#include "cli/text/output.hpp"
#include "cli/text/suggestion.hpp"

namespace holdfast::cli {
namespace {

/// Help in the tool's own words: operands first, as in every example.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string ending = {}) : ending_(std::move(ending)) {
    label("Positionals", "Operands");
    label("REQUIRED", "");
    column_width(24);
  }

  std::string make_usage(const CLI::App* app, std::string tool) const override {
    std::string usage = "Usage: " + tool;
    for (const CLI::Option* operand : app->get_options([](const CLI::Option* o) { return o->get_positional(); })) {
      usage += operand->get_required() ? " " + operand->get_name() : " [" + operand->get_name() + "]";
    }
    return usage + " [FLAGS]" + ending_ + "\n";
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_name().empty() ? "" : " " + option->get_type_name();
  }
  std::string make_option_usage(const CLI::Option* option) const override { return option->get_name(); }

 private:
  std::string ending_;
};

/// What the parser could not place, without secrets: a URL behind a mistyped flag ends up here.
std::string unexpected(const std::vector<std::string>& extras) {
  std::string text;
  for (const std::string& extra : extras) {
    const bool is_flag = extra.starts_with('-');
    text +=
        (text.empty() ? "" : ", ") + in_quotes(is_flag ? extra.substr(0, extra.find('=')) : without_password(extra));
  }
  return text;
}

/// Of `-s,--long`.
std::string long_name_of(const Parameter& parameter) { return parameter.names.substr(parameter.names.find("--")); }

bool asks_for_help(const std::string& argument) { return argument == "-h" || argument == "--help"; }

/// The parser's words for a value that is missing, or one too many, are for programmers.
std::string mismatch(const std::string& what) { return what.substr(0, what.find(':')) + " takes exactly one value"; }

}  // namespace

/// One subcommand. Each has a parser of its own, so that a lock may be called like a subcommand: `holdfast show run`.
struct CommandLine::Definition {
  explicit Definition(const CommandEntry& command_entry)
      : entry(command_entry),
        app(std::string(entry.summary) + ".", "holdfast " + std::string(entry.name)),
        command(entry.make()),
        parameters(app) {
    app.formatter(std::make_shared<HelpFormatter>());
    app.option_defaults()->group("Flags");
    app.set_help_flag("-h,--help", "print this help");
    app.footer(std::string(entry.details));
    command->define(parameters);
  }

  void parse(std::vector<std::string> arguments) {
    if (parameters.command_words() != nullptr) take_command(arguments);
    const std::string see = "; see 'holdfast help " + std::string(entry.name) + "'";
    try {
      std::reverse(arguments.begin(), arguments.end());  // the order that this overload of parse() wants
      app.parse(std::move(arguments));
    } catch (const CLI::ExtrasError&) {
      throw UsageError("unexpected " + unexpected(app.remaining()) + meant_by(app.remaining()) + see);
    } catch (const CLI::ArgumentMismatch& error) {
      throw UsageError(mismatch(error.what()) + see);
    } catch (const CLI::ParseError& error) {
      throw UsageError(error.what() + see);
    }
  }

  /// The flag that was meant by the first one that does not exist.
  std::string meant_by(const std::vector<std::string>& extras) const {
    std::vector<std::string> known = {"--help"};
    for (const Parameter& parameter : parameters.all()) {
      if (parameter.kind != Parameter::Kind::operand) known.push_back(long_name_of(parameter));
    }
    for (const std::string& extra : extras) {
      if (extra.starts_with("--")) return suggestion(extra.substr(0, extra.find('=')), known);
    }
    return {};
  }

  /// Cuts the words behind the first `--` off `arguments` and gives them to the subcommand.
  void take_command(std::vector<std::string>& arguments) const {
    const std::string form = "'holdfast " + std::string(entry.name) + " NAME [FLAGS] -- CMD [ARG...]'";
    const auto separator = std::find(arguments.begin(), arguments.end(), "--");
    if (separator == arguments.end()) throw UsageError("the command is missing; put it after '--': " + form);
    if (separator + 1 == arguments.end()) throw UsageError("no command follows '--'; write " + form);
    parameters.command_words()->assign(separator + 1, arguments.end());
    arguments.erase(separator, arguments.end());
  }

  const CommandEntry& entry;
  CLI::App app;
  std::unique_ptr<Command> command;
  Parameters parameters;
};

namespace {

std::string joined(const std::vector<std::string>& words, const char* separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

void check_choice(const std::string& name, const std::vector<std::string>& choices, const std::string& value) {
  if (choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end()) return;
  throw UsageError(name + ": " + in_quotes(value) + " is not one of " + joined(choices, ", "));
}

template <class Text>
CLI::Option* add_operand(CLI::App& app, const Parameter& parameter, Text& value) {
  const auto take = [parameter, &value](const std::string& text) {
    check_choice(parameter.names, parameter.choices, text);
    value = text;
  };
  return app.add_option_function<std::string>(parameter.names, take, parameter.help)->type_name("");
}

}  // namespace

void Parameters::required(std::string_view name, std::string_view help, std::string& value, Choices choices) {
  all_.push_back(
      {.names = std::string(name), .help = std::string(help), .choices = std::move(choices), .required = true});
  add_operand(app_, all_.back(), value)->required();
}

void Parameters::optional(std::string_view name, std::string_view help, std::string& value, Choices choices) {
  all_.push_back({.names = std::string(name), .help = std::string(help), .choices = std::move(choices)});
  add_operand(app_, all_.back(), value);
}

void Parameters::optional(std::string_view name, std::string_view help, std::optional<std::string>& value) {
  all_.push_back({.names = std::string(name), .help = std::string(help)});
  add_operand(app_, all_.back(), value);
}

void Parameters::flag(std::string_view flags, std::string_view help, bool& value) {
  all_.push_back({.kind = Parameter::Kind::flag, .names = std::string(flags), .help = std::string(help)});
  app_.add_flag(all_.back().names, value, all_.back().help);
}

void Parameters::value(Parameter parameter, const std::function<void(const std::string&)>& take) {
  parameter.kind = Parameter::Kind::value;
  all_.push_back(std::move(parameter));
  const Parameter& added = all_.back();
  app_.add_option_function(added.names, take, added.help)->type_name(added.placeholder);
}

void Parameters::text(std::string_view flags, std::string_view placeholder, std::string_view help, std::string& value) {
  this->value({.names = std::string(flags), .placeholder = std::string(placeholder), .help = std::string(help)},
              [&value](const std::string& text) { value = text; });
}

void Parameters::text(std::string_view flags, std::string_view placeholder, std::string_view help,
                      std::optional<std::string>& value) {
  this->value({.names = std::string(flags), .placeholder = std::string(placeholder), .help = std::string(help)},
              [&value](const std::string& text) { value = text; });
}

void Parameters::choice(std::string_view flag, const Choices& choices, std::string_view help, std::string& value) {
  const std::string placeholder = joined(choices, "|");
  const auto take = [name = std::string(flag), choices, &value](const std::string& text) {
    check_choice(name, choices, text);
    value = text;
  };
  this->value({.names = std::string(flag), .placeholder = placeholder, .help = std::string(help), .choices = choices},
              take);
}

void Parameters::duration(std::string_view flag, std::string_view help,
                          std::optional<std::chrono::milliseconds>& value) {
  this->value({.names = std::string(flag), .placeholder = "DUR", .help = std::string(help)},
              [name = std::string(flag), &value](const std::string& text) {
                try {
                  value = parse_duration(text);
                } catch (const UsageError& error) {
                  throw UsageError(name + ": " + error.what());
                }
              });
}

void Parameters::number(std::string_view flag, std::string_view help, int least, int most, std::optional<int>& value) {
  this->value({.names = std::string(flag), .placeholder = "N", .help = std::string(help)},
              [=, name = std::string(flag), &value](const std::string& text) {
                int parsed = 0;
                const char* const end = text.data() + text.size();
                const auto [rest, error] = std::from_chars(text.data(), end, parsed);
                if (error != std::errc() || rest != end || parsed < least || parsed > most) {
                  throw UsageError(name + ": " + in_quotes(text) + " is not a whole number from " +
                                   std::to_string(least) + " to " + std::to_string(most));
                }
                value = parsed;
              });
}

void Parameters::exclusive(std::string_view flag, std::string_view other) {
  app_.get_option(std::string(flag))->excludes(app_.get_option(std::string(other)));
}

void Parameters::store(StoreFlags& flags) {
  text("-u,--url", "URL", "the store (default: $HOLDFAST_URL, or this user's embedded store)", flags.url);
  text("--password-file", "FILE", "a file with the store's password (default: the URL's, or $HOLDFAST_PASSWORD)",
       flags.password_file);
}

void Parameters::command(std::vector<std::string>& words) {
  words_ = &words;
  app_.formatter(std::make_shared<HelpFormatter>(" -- CMD [ARG...]"));
}

CommandLine::CommandLine() = default;
CommandLine::~CommandLine() = default;

CommandLine::Definition& CommandLine::definition_of(const CommandEntry& entry) const {
  std::unique_ptr<Definition>& definition = definitions_[&entry];
  if (!definition) definition = std::make_unique<Definition>(entry);
  return *definition;
}

CommandLine::Definition& CommandLine::definition_of(std::string_view name) const {
  for (const CommandEntry* const entry : all_commands()) {
    if (entry->name == name) return definition_of(*entry);
  }
  if (name.starts_with('-')) {
    throw UsageError("only --url and --password-file may stand before the subcommand, not " +
                     in_quotes(name.substr(0, name.find('='))) + "; 'holdfast help' lists the subcommands");
  }
  std::vector<std::string> known;
  for (const CommandEntry* const entry : all_commands()) known.emplace_back(entry->name);
  throw UsageError("there is no subcommand " + in_quotes(without_password(name)) + suggestion(name, known) +
                   "; 'holdfast help' lists them");
}

std::string CommandLine::help(std::string_view name) const {
  if (!name.empty()) return definition_of(name).app.help();
  std::string text =
      "Locks for a fleet of processes, by name.\nUsage: holdfast [-u URL] SUBCOMMAND ...\n\nSubcommands:\n";
  for (const CommandEntry* const entry : all_commands()) {
    constexpr std::size_t column = 12;
    std::string line = "  " + std::string(entry->name);
    line.append(column + 2 - line.size(), ' ');
    text += line + std::string(entry->summary) + "\n";
  }
  return text + "\n'holdfast help SUBCOMMAND' says more, with examples.\n";
}

std::vector<CommandLine::Description> CommandLine::descriptions() const {
  std::vector<Description> all;
  for (const CommandEntry* const entry : all_commands()) {
    const Parameters& parameters = definition_of(*entry).parameters;
    all.push_back({*entry, parameters.all(), parameters.command_words() != nullptr});
  }
  return all;
}

namespace {

/// The flags of the store, which nearly all subcommands share, may stand before the subcommand. Cuts them off.
std::vector<std::string> take_leading_flags(std::vector<std::string>& arguments) {
  const auto is_shared = [](const std::string& argument) {
    return argument == "-u" || argument == "--url" || argument == "--password-file";
  };
  const auto has_value = [](const std::string& argument) {
    return argument.starts_with("--url=") || argument.starts_with("--password-file=") ||
           (argument.starts_with("-u") && argument.size() > 2);
  };
  auto end = arguments.begin();
  while (end != arguments.end() && (is_shared(*end) || has_value(*end))) {
    if (is_shared(*end) && end + 1 == arguments.end()) throw UsageError(*end + " takes exactly one value");
    end += is_shared(*end) ? 2 : 1;
  }
  std::vector<std::string> flags(arguments.begin(), end);
  arguments.erase(arguments.begin(), end);
  return flags;
}

}  // namespace

Command* CommandLine::parse(std::vector<std::string> arguments) {
  const std::vector<std::string> leading = take_leading_flags(arguments);
  if (arguments.empty()) throw UsageError("no subcommand was given; 'holdfast help' lists them");
  if (arguments.front() == "--version" || arguments.front() == "-V") arguments.front() = "version";
  if (asks_for_help(arguments.front())) arguments.front() = help_entry.name;
  Definition& chosen = definition_of(arguments.front());
  arguments.erase(arguments.begin());
  // Help is about no store; whoever has put one into an alias gets it all the same.
  if (&chosen.entry != &help_entry) arguments.insert(arguments.begin(), leading.begin(), leading.end());

  const auto end_of_flags = std::find(arguments.begin(), arguments.end(), "--");
  if (std::any_of(arguments.begin(), end_of_flags, asks_for_help)) {
    print(help(chosen.entry.name));
    return nullptr;
  }
  chosen.parse(std::move(arguments));
  return chosen.command.get();
}

}  // namespace holdfast::cli
