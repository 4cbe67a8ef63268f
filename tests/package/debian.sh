#!/usr/bin/env bash
# debian.sh <source> <folder> <module>...: installs the packages that script/package has made, three and one for each
# module, uses them as strangers do, and removes them again. Needs root, or sudo. Refuses to touch a machine that has a
# package of one of these names.
set -euo pipefail

source=$1 folder=$2
modules=("${@:3}")
names=(holdfast libholdfast0 libholdfast-dev "${modules[@]/#/libholdfast-}")

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || fail "installing packages needs root, or sudo"
  as_root=(sudo)
fi

apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes -o DPkg::Lock::Timeout=600 "$@" </dev/null
}

for name in "${names[@]}"; do
  if dpkg-query --show --showformat '${db:Status-Status}' "$name" 2>/dev/null | grep -qvx not-installed; then
    fail "a package '$name' is on this machine already; remove it first ('apt-get purge $name')"
  fi
done

packages=("$source"/build/package/*.deb)
((${#packages[@]} == ${#names[@]})) ||
  fail "script/package should have made ${#names[@]} packages, not ${#packages[@]}: ${packages[*]}"
rm -rf "$folder"
mkdir -p "$folder"

# What is in them, before anything is touched.
version=$(dpkg-deb --field "${packages[0]}" Version)
for file in "${packages[@]}"; do
  name=$(dpkg-deb --field "$file" Package)
  [[ " ${names[*]} " == *" $name "* ]] || fail "$file is a package of another name: $name"
  dpkg-deb --fsys-tarfile "$file" | tar --list >"$folder/$name.files"
  grep -qx "./usr/share/doc/$name/copyright" "$folder/$name.files" || fail "$name has no copyright"
  if [[ $name != libholdfast0 ]]; then
    [[ $(dpkg-deb --field "$file" Depends) == *"libholdfast0 (= $version)"* ]] || fail "$name works with any libholdfast0"
  fi
done
grep -qx ./usr/share/man/man1/holdfast.1.gz "$folder/holdfast.files" || fail "there is no compressed manual page"

remove() {
  apt purge "${names[@]}" >>"$folder/apt.log" 2>&1
}
trap remove EXIT
apt install "${packages[@]}" >"$folder/apt.log" 2>&1 || { cat "$folder/apt.log"; fail "apt-get install"; }

# The tool.
[[ $(holdfast version) == "holdfast $version"* ]] || fail "holdfast version says: $(holdfast version)"
[[ $(holdfast run x -u "sqlite:$folder/locks.db" -- echo hi) == hi ]] || fail "holdfast run does not run"
! readelf --dynamic "$(command -v holdfast)" | grep -E 'RPATH|RUNPATH' || fail "the tool looks for libraries elsewhere"
libraries=$(ldd "$(command -v holdfast)")
grep -q 'libholdfast\.so.* => /\(usr/\)\?lib/' <<<"$libraries" || fail "the tool does not use the library: $libraries"
if ! grep -rqsE '^path-exclude=/usr/share/man' /etc/dpkg/dpkg.cfg /etc/dpkg/dpkg.cfg.d; then
  man -w holdfast >/dev/null || fail "man does not find the page"
fi

! grep -q grpc <<<"$libraries" || fail "the tool loads gRPC whatever store it uses: $libraries"
refusal=$(holdfast ls -u etcd://127.0.0.1:1 2>&1) && fail "holdfast ls lists what is in no etcd"
[[ $refusal != *libholdfast-etcd* && $refusal == *127.0.0.1:1* ]] || fail "the module for etcd is not found: $refusal"

# Completion, loaded as bash-completion does it: on demand, by the command's name.
offered=$(bash --norc -c '
  source /usr/share/bash-completion/bash_completion
  _completion_loader holdfast || (($? == 124))
  COMP_LINE="holdfast sho" COMP_POINT=12 COMP_WORDS=(holdfast sho) COMP_CWORD=1
  _holdfast holdfast
  echo "${COMPREPLY[@]}"')
[[ $offered == show ]] || fail "bash completes 'holdfast sho' to: $offered"
[[ -e /usr/share/zsh/vendor-completions/_holdfast ]] || fail "zsh has no completion"
[[ -e /usr/share/fish/vendor_completions.d/holdfast.fish ]] || fail "fish has no completion"

# The library, for programs to be built with it.
consumer=$source/tests/package/consumer
cmake -G Ninja -S "$consumer" -B "$folder/find_package" >"$folder/cmake.log"
cmake --build "$folder/find_package" >>"$folder/cmake.log" || { cat "$folder/cmake.log"; fail "find_package"; }
[[ $("$folder/find_package/hello") == hello ]] || fail "the program that was built by CMake"
grep -q '^holdfast_DIR:PATH=/usr/lib/' "$folder/find_package/CMakeCache.txt" || fail "find_package found another one"
read -ra flags <<<"$(env --unset=PKG_CONFIG_PATH pkg-config --cflags --libs holdfast)"
g++ -std=c++20 "$consumer/hello.cpp" -o "$folder/hello" "${flags[@]}"
[[ $("$folder/hello") == hello ]] || fail "the program that was built with pkg-config"

# Nothing stays.
trap - EXIT
remove || { cat "$folder/apt.log"; fail "apt-get purge"; }
while IFS= read -r path; do
  if [[ $path != */ && -e /${path#./} ]]; then
    fail "/${path#./} is still there"
  fi
done < <(cat "$folder"/*.files)
for leftover in /usr/include/holdfast /usr/share/doc/{holdfast,libholdfast0,libholdfast-etcd,libholdfast-dev} /usr/lib/*/holdfast /usr/lib/*/cmake/holdfast; do
  [[ ! -e $leftover ]] || fail "$leftover is still there"
done
