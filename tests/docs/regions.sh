#!/usr/bin/env bash
# regions.sh <root>: what documents show as cut from a file stands in that file, and README.md begins with such a block.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$1"
status=0
for document in README.md docs/*.md; do
  [[ -e $document ]] || continue
  awk -v document="$document" -f "$here/regions.awk" "$document" || status=1
done

before=$(grep --before-context=1 --max-count=1 '^```cpp' README.md | head --lines=1)
if [[ $before != '<!-- from: examples/'*' -->' ]]; then
  echo "README.md: the first example must be cut from a program in examples/ that the tests run"
  status=1
fi
exit "$status"
