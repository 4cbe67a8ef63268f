#!/usr/bin/env bash
# pkg-config.sh <compiler> <prefix> <source> <folder>: builds and runs <source> with what pkg-config says, nothing else.
set -euo pipefail

compiler=$1 prefix=$2 source=$3 folder=$4

pc_file=$(find "$prefix" -name holdfast.pc)
export PKG_CONFIG_PATH=${pc_file%/*}
read -ra flags <<<"$(pkg-config --cflags --libs holdfast)"
libdir=$(pkg-config --variable=libdir holdfast)

mkdir -p "$folder"
"$compiler" -std=c++20 "$source" -o "$folder/hello" "${flags[@]}" -Wl,-rpath,"$libdir"
output=$("$folder/hello")
if [[ $output != hello ]]; then
  echo "should print hello but printed: $output" >&2
  exit 1
fi
