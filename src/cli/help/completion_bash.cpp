#include "cli/help/completion_script.hpp"

namespace holdfast::cli {
namespace {

using Source = Candidates::Source;

/// All but the tables. bash gives COMP_WORDS split at `:` and `=`, too, and replaces only what comes behind the last of
/// them; so the words are put together first, and the replies cut at the end.
///
/// | variable                 | is                                                          |
/// |--------------------------|-------------------------------------------------------------|
/// | words, cur               | the words up to the cursor; the last of them                |
/// | flags, valued, runs      | of this subcommand: all flags; those with a value; has `--` |
/// | origin, choices          | where candidates come from: words, files, names             |
/// | store                    | the flags that name the store, as they were typed           |
constexpr std::string_view functions = R"bash(
# Puts together what bash has split at ':' and '='.
_holdfast_words() {
  local rest=$COMP_LINE trimmed i
  words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    trimmed=${rest#"${rest%%[![:space:]]*}"}
    if ((i > 0)) && [[ $trimmed == "$rest" ]]; then
      words[-1]+=${COMP_WORDS[i]}
    else
      words+=("${COMP_WORDS[i]}")
    fi
    rest=${trimmed#"${COMP_WORDS[i]}"}
  done
}

# _holdfast_offer PREFIX WORD...: those that begin with what was typed, quoted where the shell needs it.
_holdfast_offer() {
  local prefix=$1 word
  for word in "${@:2}"; do
    printf -v word %q "$word"
    if [[ $prefix$word == "$cur"* ]]; then
      COMPREPLY+=("$prefix$word")
    fi
  done
}

# The names of locks, of the store that was typed. A backslash stands for a character that cannot be shown.
_holdfast_offer_names() {
  local names=() name
  if [[ ${store[*]} == *[\'\"\\\$\`]* ]]; then
    return
  fi
  while IFS= read -r name; do
    if [[ $name != *\\* ]]; then
      names+=("$name")
    fi
  done < <(timeout 2 "$tool" ls --names "${store[@]}" 2>/dev/null)
  _holdfast_offer '' "${names[@]}"
}

# _holdfast_offer_from PREFIX: what `origin` and `choices` say.
_holdfast_offer_from() {
  local prefix=$1 file
  case $origin in
    words) _holdfast_offer "$prefix" "${choices[@]}" ;;
    names) _holdfast_offer_names ;;
    files)
      compopt -o filenames 2>/dev/null
      while IFS= read -r file; do
        COMPREPLY+=("$prefix$file")
      done < <(compgen -f -- "${cur#"$prefix"}")
      ;;
  esac
}

# The command behind '--', as if it stood alone.
_holdfast_command() {
  local i
  for ((i = 0; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then
      break
    fi
  done
  if declare -F _command_offset >/dev/null; then
    _command_offset $((i + 1))
    return
  fi
  compopt -o filenames 2>/dev/null
  if ((i + 1 == COMP_CWORD)); then
    mapfile -t COMPREPLY < <(compgen -c -- "$cur")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  fi
}

# bash replaces only what comes behind the last ':' or '=' that was typed.
_holdfast_cut_replies() {
  local breaks=${COMP_WORDBREAKS//[!:=]/} kept
  if [[ $breaks ]]; then
    kept=${cur%"${cur##*["$breaks"]}"}
    COMPREPLY=("${COMPREPLY[@]#"$kept"}")
  fi
}

_holdfast_arguments() {
  local subcommand=${words[1]} flags=() valued=() runs=() origin choices=() store=()
  local position=1 flag='' word
  _holdfast_takes "$subcommand"
  for word in "${words[@]:2:${#words[@]}-3}"; do
    if [[ $word == "${runs[*]}" ]]; then
      _holdfast_command
      return
    elif [[ $flag ]]; then
      case $flag in
        -u | --url | --password-file) store+=("$flag" "$word") ;;
      esac
      flag=''
    elif [[ $word == -* ]]; then
      case $word in
        --url=* | --password-file=*) store+=("$word") ;;
      esac
      if [[ " ${valued[*]} " == *" $word "* ]]; then
        flag=$word
      fi
    else
      ((position++))
    fi
  done

  if [[ $flag ]]; then
    _holdfast_origin "$subcommand" "$flag"
    _holdfast_offer_from ''
  elif [[ $cur == --*=* ]]; then
    _holdfast_origin "$subcommand" "${cur%%=*}"
    _holdfast_offer_from "${cur%%=*}="
  elif [[ $cur == -* ]]; then
    _holdfast_offer '' "${flags[@]}" "${runs[@]}"
  else
    _holdfast_origin "$subcommand" "$position"
    _holdfast_offer_from ''
    if [[ $origin == end ]]; then
      _holdfast_offer '' "${flags[@]}" "${runs[@]}"
    fi
  fi
  _holdfast_cut_replies
}

_holdfast() {
  local tool=$1 words cur IFS=$' \t\n'
  _holdfast_words
  cur=${words[-1]}
  COMPREPLY=()
  if ((${#words[@]} > 2)); then
    _holdfast_arguments
  else
    _holdfast_subcommands
  fi
}

complete -F _holdfast holdfast
)bash";

std::string assignment(const std::string& variable, const std::vector<std::string>& words) {
  return words.empty() ? "" : "      " + variable + "=(" + joined(words) + ")\n";
}

std::string subcommands(const CompletionModel& model) {
  std::vector<std::string> words;
  words.reserve(model.size());
  for (const CompletedCommand& command : model) words.push_back(command.name);
  return "\n_holdfast_subcommands() {\n  _holdfast_offer '' " + joined(words) + "\n  if [[ $cur == -* ]]; then\n" +
         "    _holdfast_offer '' " + joined(names_of(flags_without_subcommand())) + "\n  fi\n}\n";
}

/// What each subcommand takes.
std::string takes(const CompletionModel& model) {
  std::string text = "\n_holdfast_takes() {\n  flags=() valued=() runs=()\n  case $1 in\n";
  for (const CompletedCommand& command : model) {
    std::vector<CompletedFlag> valued = command.flags;
    std::erase_if(valued, [](const CompletedFlag& flag) { return !flag.takes_value(); });
    text += "    " + command.name + ")\n";
    text += assignment("flags", names_of(command.flags)) + assignment("valued", names_of(valued));
    if (command.takes_command) text += assignment("runs", {"--"});
    text += "      ;;\n";
  }
  return text + "  esac\n}\n";
}

std::string origin(const std::string& pattern, const Candidates& candidates) {
  const std::string begin = "    " + pattern + ") origin=";
  switch (candidates.source) {
    case Source::words: return begin + "words choices=(" + joined(candidates.words) + ") ;;\n";
    case Source::files: return begin + "files ;;\n";
    case Source::lock_names: return begin + "names ;;\n";
    case Source::nothing: break;
  }
  return begin + "nothing ;;\n";
}

/// Where the candidates for each flag's value and each operand come from.
std::string origins(const CompletionModel& model) {
  std::string text = "\n_holdfast_origin() {\n  origin=end choices=()\n  case $1:$2 in\n";
  for (const CompletedCommand& command : model) {
    std::size_t position = 0;
    for (const CompletedOperand& operand : command.operands) {
      text += origin(command.name + ":" + std::to_string(++position), operand.candidates);
    }
    for (const CompletedFlag& flag : command.flags) {
      for (const std::string& name : flag.names) {
        if (flag.takes_value()) text += origin(command.name + ":" + name, flag.candidates);
      }
    }
  }
  return text + "  esac\n}\n";
}

}  // namespace

std::string bash_completion(const CompletionModel& model) {
  return "# Completion of holdfast in bash: source <(holdfast completion bash)\n" + subcommands(model) + takes(model) +
         origins(model) + std::string(functions);
}

}  // namespace holdfast::cli
