#!/usr/bin/env bash
# transcripts.sh DOCUMENT TOOL FOLDER: replays the shell sessions of a document and compares what they print with what the
# document shows. A session is a ```console block behind a line `<!-- transcript -->`; its lines that begin with `$ ` are
# typed, in one shell, in an empty folder with an empty store. Numbers inside a line may differ, this host is web1, and
# columns may be wider.
set -euo pipefail
document=$1 tool=$2 folder=$3

rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/here"
ln -s "$tool" "$folder/bin/holdfast"

awk -v folder="$folder" '
  /^<!-- transcript -->$/ { wanted = 1; next }
  wanted && /^```console$/ { file = folder "/" ++count ".shown"; wanted = 0; printf "" >file; next }
  file && /^```$/ { close(file); file = ""; next }
  file { print >file }
' "$document"

# Types the lines one after the other; `$?` is what the one before has left.
replay() {
  local line status=0
  set +e
  trap 'jobs -p | xargs --no-run-if-empty kill 2>/dev/null' EXIT
  while IFS= read -r line <&3; do
    [[ $line == '$ '* ]] || continue
    printf '%s\n' "$line"
    (exit "$status")
    eval "${line#'$ '}" 2>&1 </dev/null
    status=$?
  done
}

# normalize FILE: what may differ is made equal, into FILE.normal.
normalize() {
  sed -E -e "s/\b$(hostname)\b/web1/g" -e 's/ +/ /g' -e 's/[0-9a-f]{32}/ID/g' \
    -e '/^[0-9]+$/b' -e 's/[0-9]+(\.[0-9]+)?(ms|s|m|h)?\b/N/g' -e 's/N N/N/g' "$1" >"$1.normal"
}

sessions=0
different=0
for shown in "$folder"/*.shown; do
  [[ -e $shown ]] || break
  sessions=$((sessions + 1))
  (
    cd "$folder/here"
    export PATH="$folder/bin:$PATH" HOLDFAST_URL="sqlite:${shown%.shown}.db"
    replay 3<"$shown"
  ) >"${shown%.shown}.seen" || true
  normalize "$shown"
  normalize "${shown%.shown}.seen"
  diff --unified "$shown.normal" "${shown%.shown}.seen.normal" || different=1
done
echo "$sessions sessions of $document replayed"
((sessions > 0 && different == 0))
