#!/usr/bin/env bash
# install.sh <build> <prefix> <module>...: installs what a build folder has of the library, and its modules, into an
# empty prefix, without the tool.
set -euo pipefail

build=$1 prefix=$2
rm -rf "$prefix"
for component in runtime development "${@:3}"; do
  cmake --install "$build" --prefix "$prefix" --component "$component"
done
