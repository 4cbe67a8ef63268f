#include "cli/help/completion_script.hpp"

namespace holdfast::cli {
namespace {

using Source = Candidates::Source;

/// The conditions that the table of completions uses. `__holdfast_valued` is made from the definitions.
constexpr std::string_view functions = R"fish(
function __holdfast_at_subcommand
    test (count (commandline -opc)) -eq 1
end

# __holdfast_in SUBCOMMAND: in it, and not behind '--'.
function __holdfast_in
    set -l words (commandline -opc)
    test "$words[2]" = $argv[1]; and not contains -- -- $words
end

function __holdfast_behind_dashes
    set -l words (commandline -opc)
    test "$words[2]" = $argv[1]; and contains -- -- $words
end

# __holdfast_operand SUBCOMMAND POSITION [OR_LATER]: the next word is this operand.
function __holdfast_operand
    __holdfast_in $argv[1]; or return
    set -l valued (__holdfast_valued $argv[1])
    set -l position 1
    set -l is_value no
    for word in (commandline -opc)[3..-1]
        if test $is_value = yes
            set is_value no
        else if contains -- $word $valued
            set is_value yes
        else if not string match -q -- '-*' $word
            set position (math $position + 1)
        end
    end
    test $is_value = no; or return
    test $position -eq $argv[2]
end

# The names of locks, of the store that was typed. A backslash stands for a character that cannot be shown.
function __holdfast_names
    set -l words (commandline -opc)
    set -l store
    set -l flag
    for word in $words[3..-1]
        if test -n "$flag"
            set -a store $flag $word
            set flag
        else if contains -- $word -u --url --password-file
            set flag $word
        else if string match -q -- '--url=*' $word; or string match -q -- '--password-file=*' $word
            set -a store $word
        end
    end
    timeout 2 $words[1] ls --names $store 2>/dev/null | string match --invert --regex '\\\\'
end

# The command behind '--', as if it stood alone.
function __holdfast_command
    set -l words (commandline -opc) (commandline -ct)
    set -l dashes (contains -i -- -- $words)
    __fish_complete_subcommand --commandline $words[(math $dashes + 1)..-1]
end

complete -c holdfast -f
)fish";

std::string quoted(const std::string& text) {
  std::string shown = "'";
  for (const char character : text) {
    if (character == '\'' || character == '\\') shown += '\\';
    shown += character;
  }
  return shown + "'";
}

std::string completion(const std::string& condition, const std::string& what) {
  return "complete -c holdfast -n " + quoted(condition) + what + "\n";
}

std::string described(const std::string& help) { return " -d " + quoted(help); }

std::string names(const CompletedFlag& flag) {
  std::string text;
  for (const std::string& name : flag.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return text;
}

/// The arguments that offer the candidates.
std::string offer(const Candidates& candidates) {
  switch (candidates.source) {
    case Source::words: return " -a " + quoted(joined(candidates.words));
    case Source::files: return " -F";
    case Source::lock_names: return " -a '(__holdfast_names)'";
    case Source::nothing: break;
  }
  return "";
}

std::string value(const CompletedFlag& flag) {
  if (!flag.takes_value()) return "";
  return (flag.candidates.source == Source::files ? " -r" : " -x") + offer(flag.candidates);
}

std::string valued(const CompletionModel& model) {
  std::string text = "\nfunction __holdfast_valued\n    switch $argv[1]\n";
  for (const CompletedCommand& command : model) {
    std::vector<CompletedFlag> flags = command.flags;
    std::erase_if(flags, [](const CompletedFlag& flag) { return !flag.takes_value(); });
    if (flags.empty()) continue;
    text +=
        "        case " + command.name + "\n            string split ' ' -- " + quoted(joined(names_of(flags))) + "\n";
  }
  return text + "    end\nend\n";
}

std::string of_command(const CompletedCommand& command) {
  std::string text = "\n" + completion("__holdfast_at_subcommand", " -a " + command.name + described(command.summary));
  std::size_t position = 0;
  for (const CompletedOperand& operand : command.operands) {
    ++position;
    if (operand.candidates.source == Source::nothing) continue;
    text += completion("__holdfast_operand " + command.name + " " + std::to_string(position),
                       offer(operand.candidates) + described(operand.name));
  }
  for (const CompletedFlag& flag : command.flags) {
    text += completion("__holdfast_in " + command.name, names(flag) + value(flag) + described(flag.help));
  }
  if (command.takes_command) {
    text += completion("__holdfast_behind_dashes " + command.name, " -a '(__holdfast_command)'");
  }
  return text;
}

}  // namespace

std::string fish_completion(const CompletionModel& model) {
  std::string text =
      "# Completion of holdfast in fish: holdfast completion fish | source\n" + valued(model) + std::string(functions);
  for (const CompletedFlag& flag : flags_without_subcommand()) {
    text += completion("__holdfast_at_subcommand", names(flag) + described(flag.help));
  }
  for (const CompletedCommand& command : model) text += of_command(command);
  return text;
}

}  // namespace holdfast::cli
