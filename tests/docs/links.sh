#!/usr/bin/env bash
# links.sh <root>: every relative link of a Markdown file leads to a file or folder that exists, and to a heading of
# it; the index in docs/README.md leads to every page of docs/.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$1"
status=0
total=0

complain() {
  echo "$1"
  status=1
}

while IFS= read -r document; do
  while IFS=$'\t' read -r line target; do
    total=$((total + 1))
    path=${target%%#*}
    file=$document
    if [[ -n $path ]]; then
      file=$(dirname "$document")/$path
    fi
    if [[ ! -e $file ]]; then
      complain "$document:$line: there is no $path"
    elif [[ $target == *#* ]] && ! awk -f "$here/anchors.awk" "$file" | grep -qxF -- "${target#*#}"; then
      complain "$document:$line: ${path:-this page} has no heading for #${target#*#}"
    fi
  done < <(awk -f "$here/links.awk" "$document")
done < <(find . -name '*.md' -not -path './build/*' -not -path './.*/*' | sed 's|^\./||' | sort)

index=$(awk -f "$here/links.awk" docs/README.md | cut -f 2)
while IFS= read -r page; do
  if [[ $page != README.md ]] && ! grep -qxF -- "$page" <<<"$index"; then
    complain "docs/README.md does not lead to $page"
  fi
done < <(cd docs && find . -name '*.md' | sed 's|^\./||' | sort)

echo "$total links"
if ((total == 0)); then
  complain "there must be some: is <root> right?"
fi
exit "$status"
