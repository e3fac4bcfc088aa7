#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what is missing, builds everything (with and without the window) and runs every test.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$top/app/setup.sh"
need_packages "${build_packages[@]}" "${window_packages[@]}" "${test_packages[@]}"
need_torch
need_nvcc exactly # the kernels are compiled for every architecture, also where no GPU is
need_texts
need_clang_format
need_tensorboard
need_mcp_client
need_watch_python
need_notebook
need_wheel_tools || true
need_pyside
# One folder for both: what is built without the window is not built again with it.
say "building the command line without the window"
configure_preset release "$top/build" -DRELASCOPE_GUI=OFF -DRELASCOPE_TESTS=ON -DRELASCOPE_CUDA="${RELASCOPE_CUDA:-AUTO}"
cmake --build "$top/build" --target relascope-cli
say "building the window and the tests"
configure_preset release "$top/build" -DRELASCOPE_GUI=ON -DRELASCOPE_TESTS=ON
cmake --build "$top/build"
say "running the tests"
bash "$top/tests/checks.sh"
"$top/build/bin/core_tests" --gtest_list_tests --gtest_filter="Cuda*" | sed -n 1p # all of it is read: a closed pipe would end this script
cd "$top/build"
ctest --output-on-failure -j 2
