#include "cli/help/completion_script.hpp"

namespace holdfast::cli {
namespace {

using Source = Candidates::Source;

/// All but the table. The words behind `--` are somebody else's command line: they are completed as if they stood
/// alone. `_holdfast_arguments` is made from the definitions.
constexpr std::string_view functions = R"zsh(
# The names of locks, of the store that was typed. A backslash stands for a character that cannot be shown.
_holdfast_names() {
  local -a store names
  local flag
  for flag in -u --url --password-file; do
    if (( ${+opt_args[$flag]} )); then
      store+=($flag ${(Q)opt_args[$flag]})
    fi
  done
  names=(${(f)"$(timeout 2 $_holdfast_tool ls --names $store 2>/dev/null)"})
  names=(${names:#*\\*})
  _wanted locks expl lock compadd -a names
}

_holdfast() {
  local _holdfast_tool=${(Q)words[1]} curcontext=$curcontext context state state_descr line expl
  typeset -A opt_args
  local dashes=${words[(i)--]}
  if (( dashes < CURRENT )) && _holdfast_runs_a_command $words[2]; then
    shift $dashes words
    (( CURRENT -= dashes ))
    _normal
    return
  fi
  if (( CURRENT == 2 )); then
    _holdfast_subcommands
    return
  fi
  shift words
  (( CURRENT-- ))
  _holdfast_arguments
}

if [[ $funcstack[1] == _holdfast ]]; then
  _holdfast "$@"
else
  compdef _holdfast holdfast
fi
)zsh";

std::string quoted(const std::string& text) {
  std::string shown = "'";
  for (const char character : text) {
    if (character == '\'') {
      shown += "'\\''";
    } else {
      shown += character;
    }
  }
  return shown + "'";
}

/// Help between brackets, as _arguments wants it.
std::string in_brackets(const std::string& help) {
  std::string text = "[";
  for (const char character : help) {
    if (character == '[' || character == ']' || character == '\\') text += '\\';
    text += character;
  }
  return text + "]";
}

std::string action(const Candidates& candidates) {
  switch (candidates.source) {
    case Source::words: return "'(" + joined(candidates.words) + ")'";
    case Source::files: return "_files";
    case Source::lock_names: return "_holdfast_names";
    case Source::nothing: break;
  }
  return "' '";
}

/// `'(-u --url)'{-u,--url=}'[help]:URL: '`, in the language of _arguments. A flag is offered once.
std::string specification(const CompletedFlag& flag) {
  std::string names;
  for (const std::string& name : flag.names) {
    names += (names.empty() ? "" : ",") + name + (flag.takes_value() && name.starts_with("--") ? "=" : "");
  }
  std::string text = flag.names.size() > 1 ? "'(" + joined(flag.names) + ")'{" + names + "}" : names;
  text += quoted(in_brackets(flag.help));
  if (flag.takes_value()) text += quoted(":" + flag.placeholder + ":") + action(flag.candidates);
  return text;
}

std::string specification(const CompletedOperand& operand, std::size_t position) {
  return quoted(std::to_string(position) + (operand.required ? ":" : "::") + operand.name + ":") +
         action(operand.candidates);
}

std::string arguments(const CompletionModel& model) {
  std::string text = "\n_holdfast_arguments() {\n  case $words[1] in\n";
  for (const CompletedCommand& command : model) {
    text += "    " + command.name + ")\n      _arguments";
    std::size_t position = 0;
    for (const CompletedOperand& operand : command.operands) {
      text += " \\\n        " + specification(operand, ++position);
    }
    for (const CompletedFlag& flag : command.flags) text += " \\\n        " + specification(flag);
    text += "\n      ;;\n";
  }
  return text + "  esac\n}\n";
}

std::string subcommands(const CompletionModel& model) {
  std::string text = "\n_holdfast_subcommands() {\n  local -a subcommands flags\n  subcommands=(\n";
  for (const CompletedCommand& command : model) text += "    " + quoted(command.name + ":" + command.summary) + "\n";
  text += "  )\n  flags=(\n";
  for (const CompletedFlag& flag : flags_without_subcommand()) {
    for (const std::string& name : flag.names) text += "    " + quoted(name + ":" + flag.help) + "\n";
  }
  return text + "  )\n  _describe -t subcommands subcommand subcommands\n  _describe -o -t flags flag flags\n}\n";
}

std::string runs_a_command(const CompletionModel& model) {
  std::string names;
  for (const CompletedCommand& command : model) {
    if (command.takes_command) names += (names.empty() ? "" : "|") + command.name;
  }
  return "\n_holdfast_runs_a_command() {\n  [[ $1 == (" + names + ") ]]\n}\n";
}

}  // namespace

std::string zsh_completion(const CompletionModel& model) {
  return "#compdef holdfast\n# Completion of holdfast in zsh: source <(holdfast completion zsh)\n" +
         runs_a_command(model) + subcommands(model) + arguments(model) + std::string(functions);
}

}  // namespace holdfast::cli
