#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Whether app/run.sh compiles CUDA kernels: where a GPU is, or where they are asked for; an nvcc alone is no reason.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/nvcc"
printf '#!/bin/sh\necho "release 13.0, V13.0.88"\n' >"$work/nvcc/nvcc"
chmod +x "$work/nvcc/nvcc"
choice() { # gpu: yes or no, RELASCOPE_CUDA
  (
    . "$top/app/setup.sh"
    PATH="$work/nvcc:$PATH"
    eval "has_gpu() { [ $1 = yes ]; }"
    RELASCOPE_CUDA=$2 cuda_choice
  )
}
expect() { # what, found, wanted
  [ "$2" = "$3" ] || { echo "$1: found $2, wanted $3"; exit 1; }
}
expect "nvcc without a GPU" "$(choice no "")" OFF
expect "a GPU" "$(choice yes "")" AUTO
expect "asked for without a GPU" "$(choice no ON)" ON
expect "left out beside a GPU" "$(choice yes OFF)" OFF
grep -q 'RELASCOPE_CUDA="$(cuda_choice)"' "$top/app/setup.sh" || { echo "app/setup.sh does not build by its choice"; exit 1; }
