#!/usr/bin/env bash
# wrapper.sh SOURCE_DIR FOLDER: `./holdfast`, the wrapper that builds the tool, in a checkout where somebody else has left
# links under the names that it writes. What they lead to stays as it is. FOLDER is made anew.
set -euo pipefail

wrapper=$1/holdfast
folder=$2
failed=0

fail() {
  echo "wrapper.sh: $1" >&2
  failed=1
}

# A checkout whose build is quick: the tool is a script that says its arguments.
new_checkout() {
  rm -rf "$folder"
  mkdir -p "$folder"/{checkout/script,bin,checkout/src}
  cp "$wrapper" "$folder/checkout/holdfast"
  printf '#!/bin/sh\n' >"$folder/checkout/script/setup"
  cat >"$folder/bin/cmake" <<CMAKE
#!/bin/sh
if [ "\$1" = --build ]; then
  printf '#!/bin/sh\necho "tool: \$*"\n' >"$folder/checkout/build/tool/holdfast"
  chmod +x "$folder/checkout/build/tool/holdfast"
  echo built
fi
CMAKE
  chmod +x "$folder/checkout/script/setup" "$folder/bin/cmake"
  echo precious >"$folder/victim"
  mkdir -p "$folder/checkout/build"
}

call() {
  PATH="$folder/bin:$PATH" "$folder/checkout/holdfast" hello 2>"$folder/errors"
}

new_checkout
mkdir "$folder/checkout/build/tool"
for name in build.log built.next; do
  ln -s "$folder/victim" "$folder/checkout/build/tool/$name"
done
[[ $(call) == 'tool: hello' ]] || fail "it did not run the tool: $(cat "$folder/errors")"
[[ $(cat "$folder/victim") == precious ]] || fail 'it wrote through a planted link'
[[ -f $folder/checkout/build/tool/build.log && ! -L $folder/checkout/build/tool/build.log ]] ||
  fail 'its log is no file of its own'
[[ $(cat "$folder/checkout/build/tool/build.log") == *built* ]] || fail 'its log does not have what the build said'

# What others may write to, they may have replaced.
expect_refusal() {
  local code=0 output
  output=$(call) || code=$?
  ((code == 77)) || fail "where others may write to $1 it ended with $code"
  [[ -z $output ]] || fail "it ran the tool although others may write to $1"
  [[ $(cat "$folder/errors") == *"others may write to "*"$1"* ]] || fail "it does not say what is wrong with $1"
}

new_checkout
(umask 002 && call >/dev/null) || fail 'it did not build the tool'
(umask 002 && [[ $(call) == 'tool: hello' ]]) || fail 'it refuses what it has built itself where the umask is 002'
for mode in o+w g+w; do
  for file in tool tool/holdfast; do
    chmod "$mode" "$folder/checkout/build/$file"
    expect_refusal "$file"
    chmod go-w "$folder/checkout/build/$file"
  done
done
if ((EUID == 0)); then
  for file in tool tool/holdfast; do
    chown 54321 "$folder/checkout/build/$file"
    expect_refusal "$file"
    chown 0 "$folder/checkout/build/$file"
  done
  chown 54321 "$folder/checkout/holdfast" "$folder/checkout/build/tool/holdfast"
  [[ $(call) == 'tool: hello' ]] || fail 'it does not trust the owner of the wrapper itself'
fi

new_checkout
mkdir -m 777 "$folder/checkout/build/tool"
expect_refusal tool

new_checkout
mkdir "$folder/elsewhere"
ln -s "$folder/elsewhere" "$folder/checkout/build/tool"
code=0
call >/dev/null || code=$?
((code == 77)) || fail "where build/tool is a link it ended with $code"
[[ -z $(ls -A "$folder/elsewhere") ]] || fail 'it wrote into a directory that a link leads to'

exit "$failed"
