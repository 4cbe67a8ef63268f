#!/usr/bin/env bash
# cases.sh <root>: every name in the tables of docs/guarantees.md that say where a promise is checked exists in tests/.
set -euo pipefail

cd "$1"
status=0
total=0
while IFS= read -r name; do
  total=$((total + 1))
  if ! grep --recursive --quiet --word-regexp --fixed-strings --include='*.[ch]pp' -- "$name" tests; then
    echo "docs/guarantees.md names $name, which is nowhere in tests/"
    status=1
  fi
done < <(awk -F '`' '/^<!-- cases -->$/ { on = 1 } /^<!-- end of cases -->$/ { on = 0 }
  on { for (i = 2; i <= NF; i += 2) print $i }' docs/guarantees.md | sort -u)

echo "$total names"
if ((total == 0)); then
  echo "there must be some: is <root> right?"
  status=1
fi
exit "$status"
