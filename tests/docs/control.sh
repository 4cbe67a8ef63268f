#!/usr/bin/env bash
# control.sh <work folder> <compiler and its options>: the checks of this folder find what they are for. Each case
# writes a small tree that is right but for one mistake; the check must pass without the mistake, and name it with it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$1
shift
compile=("$@")
status=0

# A tree in which everything is right.
plant() {
  rm -rf "$work"
  mkdir -p "$work/docs/decisions" "$work/examples" "$work/include/holdfast" "$work/tests"
  printf '%s\n' 'int main() {' '  int answer = 42;' '' '  return answer;' '}' >"$work/examples/one.cpp"
  cat >"$work/README.md" <<'MARKDOWN'
# One

<!-- from: examples/one.cpp -->
```cpp
int answer = 42;
```

[More](docs/README.md#two-words), `[not a link](nowhere)`.

<!-- a comment -->
```cpp
int answer = 43;
```
MARKDOWN
  printf '%s\n' '# Index' '## Two words' '[page](page.md) [first](decisions/0001.md) [g](guarantees.md)' \
    >"$work/docs/README.md"
  cat >"$work/docs/guarantees.md" <<'MARKDOWN'
`Elsewhere`
<!-- cases -->
| 1 | `Works` |
<!-- end of cases -->
MARKDOWN
  printf '%s\n' 'TEST(It, Works) {}' >"$work/tests/it_test.cpp"
  printf '%s\n' '# Page' '```' '[code](is-no-link)' '```' >"$work/docs/page.md"
  printf '%s\n' '# First' >"$work/docs/decisions/0001.md"
  printf '%s\n' '#pragma once' '///' '///     holdfast::LockName name = "a";' 'class A;' >"$work/include/holdfast/a.hpp"
}

check() {
  case $1 in
    snippets) "$here/snippets.sh" "$work" "$work/units" "${compile[@]}" ;;
    *) "$here/$1.sh" "$work" ;;
  esac
}

# passes CHECK
passes() {
  plant
  if ! output=$(check "$1" 2>&1); then
    printf '%s finds a mistake where there is none:\n%s\n' "$1" "$output"
    status=1
  fi
}

# finds CHECK TEXT FILE SED-COMMAND: after that change of FILE, CHECK fails and says TEXT.
finds() {
  plant
  sed -i "$4" "$work/$3"
  if output=$(check "$1" 2>&1); then
    printf '%s does not find the mistake made by: %s %s\n' "$1" "$3" "$4"
    status=1
  elif [[ $output != *"$2"* ]]; then
    printf '%s fails without saying "%s", but:\n%s\n' "$1" "$2" "$output"
    status=1
  fi
}

passes snippets
finds snippets 'README.md:12:' README.md '12s/int answer/integer answer/'
finds snippets 'a.hpp:3:' include/holdfast/a.hpp 's/LockName/LokName/'
finds snippets 'write the reason' README.md 's/^<!-- a comment/<!-- compile: no/'
finds snippets 'docs/page.md:3:' docs/page.md '2s/$/cpp/'
finds snippets 'in the first column' docs/page.md '2s/^/  /'

passes regions
finds regions 'README.md:5: the block is not in' README.md 's/42/44/'
finds regions 'README.md:5: the block is not in' examples/one.cpp 's/^  int/  const int/'
finds regions 'there is no file' README.md 's|examples/one|examples/two|'
finds regions 'the first example must be cut' README.md '/^<!-- from/d'

passes links
finds links 'README.md:8: there is no docs/INDEX.md' README.md 's/README.md#/INDEX.md#/'
finds links 'has no heading for #too-words' README.md 's/two-words/too-words/'
finds links 'docs/README.md does not lead to page.md' docs/README.md 's/page.md/README.md/'

passes cases
finds cases 'names Worked' docs/guarantees.md 's/Works/Worked/'
finds cases 'names Works,' tests/it_test.cpp 's/Works/WorksNot/'
finds cases 'there must be some' docs/guarantees.md '/cases/d'

exit "$status"
