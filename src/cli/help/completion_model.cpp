#include "cli/help/completion_model.hpp"

namespace holdfast::cli {
namespace {

using Source = Candidates::Source;

/// `-u,--url` as two.
std::vector<std::string> split_names(const std::string& names) {
  const std::size_t comma = names.find(',');
  if (comma == std::string::npos) return {names};
  return {names.substr(0, comma), names.substr(comma + 1)};
}

CompletedFlag flag_of(const Parameter& parameter) {
  CompletedFlag flag = {
      .names = split_names(parameter.names), .placeholder = parameter.placeholder, .help = parameter.help};
  if (!parameter.choices.empty()) {
    flag.candidates = {.source = Source::words, .words = parameter.choices};
  } else if (parameter.placeholder == "FILE") {
    flag.candidates = {.source = Source::files};
  }
  return flag;
}

Candidates candidates_of(const Parameter& operand, std::string_view subcommand,
                         const std::vector<std::string>& subcommands) {
  if (!operand.choices.empty()) return {.source = Source::words, .words = operand.choices};
  if (operand.names == "SUBCOMMAND") return {.source = Source::words, .words = subcommands};
  const bool names_a_lock = operand.names == "NAME" || operand.names == "PREFIX";
  if (names_a_lock && subcommand != "value") return {.source = Source::lock_names};  // values are not listed
  return {};
}

}  // namespace

CompletionModel completion_model(const std::vector<CommandLine::Description>& subcommands) {
  std::vector<std::string> names;
  names.reserve(subcommands.size());
  for (const auto& subcommand : subcommands) names.emplace_back(subcommand.entry.name);

  CompletionModel model;
  for (const auto& [entry, parameters, takes_command] : subcommands) {
    CompletedCommand command = {
        .name = std::string(entry.name), .summary = std::string(entry.summary), .takes_command = takes_command};
    for (const Parameter& parameter : parameters) {
      if (parameter.kind == Parameter::Kind::operand) {
        command.operands.push_back({.name = parameter.names,
                                    .required = parameter.required,
                                    .candidates = candidates_of(parameter, entry.name, names)});
      } else {
        command.flags.push_back(flag_of(parameter));
      }
    }
    command.flags.push_back({.names = {"-h", "--help"}, .help = "print this help"});
    model.push_back(std::move(command));
  }
  return model;
}

const std::vector<CompletedFlag>& flags_without_subcommand() {
  static const std::vector<CompletedFlag> flags = {{.names = {"-h", "--help"}, .help = "list the subcommands"},
                                                   {.names = {"--version"}, .help = "print the version"}};
  return flags;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> names_of(const std::vector<CompletedFlag>& flags) {
  std::vector<std::string> names;
  for (const CompletedFlag& flag : flags) names.insert(names.end(), flag.names.begin(), flag.names.end());
  return names;
}

}  // namespace holdfast::cli
