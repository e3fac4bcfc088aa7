#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The CPU kernels on processors that this machine is not: one without AVX (Nehalem, 2008), where a run is trained,
# too, and one with AVX2 but without AVX-512 (Haswell, 2013). Kernels are selected when the program starts, so that
# a test within it sees one version of each.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ "$(uname -m)" != x86_64 ]; then echo "skipped: the processor is not an x86-64"; exit 77; fi
if ! command -v qemu-x86_64 >/dev/null; then echo "skipped: qemu-user is not installed"; exit 77; fi
kernels='FusedLayers.*:RowKernels.*:MapFactors.RowsAndCells*'
run() { # processor, tests
  echo "$1:"
  # With the variable set, the program does not start itself anew (core/startup/openmp_wait.cpp) without the emulator.
  qemu-x86_64 -cpu "$1" -E GOMP_SPINCOUNT=1000 "${RELASCOPE_BIN:-build/bin}/core_tests" --gtest_brief=1 \
    --gtest_filter="$2" 2>&1 | grep -v "TCG doesn't support"
}
run Nehalem "$kernels:OnednnLinear.*:TiledAttention.Serves*:Train.ResumesBitForBit"
run Haswell "$kernels"
