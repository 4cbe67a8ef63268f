#!/usr/bin/env bash
# snippets.sh <root> <work folder> <compiler and its options>: every C++ example of the README, of docs/ and of the
# public headers compiles. A document that begins with <!-- prelude: NAME --> is compiled behind that file instead of
# prelude.hpp, which declares what the examples take for granted. One translation unit for each of these files.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$1 work=$2
shift 2

cd "$root"
rm -rf "$work"
mkdir -p "$work"
number=0
for document in README.md docs/*.md docs/decisions/*.md include/holdfast/*.hpp include/holdfast/ids/*.hpp; do
  [[ -e $document ]] || continue
  number=$((number + 1))
  prelude=$(sed -n '1s/^<!-- prelude: \(.*\) -->$/\1/p' "$document")
  if [[ $document == include/holdfast/ids/* ]]; then
    prelude=ids_prelude.hpp
  fi
  awk -v document="$document" -v number="$number" -f "$here/blocks.awk" "$document" \
    >>"$work/${prelude:-prelude.hpp}.cpp"
done

status=0
for unit in "$work"/*.cpp; do
  prelude=$(basename "$unit" .cpp)
  "$@" -fsyntax-only -include "$here/$prelude" "$unit" || status=1
done

sed -n 's|^// \(.*: [1-9][0-9]*\)$|\1|p' "$work"/*.cpp
if ! grep -q '^// README.md: ' "$work"/*.cpp || ! grep -q '^struct Block' "$work"/*.cpp; then
  echo "there must be examples: is <root> right?"
  status=1
fi
exit "$status"
