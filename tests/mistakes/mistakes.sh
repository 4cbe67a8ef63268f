#!/usr/bin/env bash
# mistakes.sh <source> <compiler and its options>: the source compiles without its mistakes, and with each of them fails
# and says why.
set -euo pipefail

source=$1
shift
compile=("$@" -fsyntax-only)
status=0

if ! output=$("${compile[@]}" -DMISTAKE=0 "$source" 2>&1); then
  printf 'it does not compile without a mistake:\n%s\n' "$output"
  status=1
fi
found=0
while IFS=: read -r number text; do
  found=$((found + 1))
  text=${text# }
  if output=$("${compile[@]}" -DMISTAKE="$number" "$source" 2>&1); then
    printf 'it compiles with mistake %s\n' "$number"
    status=1
  elif [[ $output != *"$text"* ]]; then
    printf 'mistake %s: the compiler does not say "%s", but:\n%s\n' "$number" "$text" "$output"
    status=1
  fi
done < <(sed -n 's|^// \([0-9][0-9]*: .*\)|\1|p' "$source")
if ((found == 0)); then
  echo "it names no mistake"
  status=1
fi
exit "$status"
