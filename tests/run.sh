#!/usr/bin/env bash
# Installs what is missing, builds everything (with and without the window) and runs every test.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$top/app/setup.sh"
need_packages "${build_packages[@]}" "${window_packages[@]}" "${test_packages[@]}"
need_torch
say "building the programs and the tests"
build_preset release
say "building the command line without the window"
build_preset no-gui --target relascope-cli
say "running the tests"
bash "$top/tests/checks.sh"
cd "$top/build"
ctest --output-on-failure -j 2
