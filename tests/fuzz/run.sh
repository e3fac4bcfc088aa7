#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds the fuzz targets (preset fuzz, clang) and runs each for SECONDS seconds (60) from its corpus.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
seconds=${1:-60}
. "$top/app/setup.sh"
need_packages "${build_packages[@]}" clang-14 libclang-rt-14-dev
need_torch
need_texts
configure_preset fuzz "$top/build/fuzz"
cmake --build "$top/build/fuzz" --target fuzz
for name in frame served results hypothesis safetensors kept_weights edits npz csv pictures torch_archive torch_state config tokenizer tokenizer_json text_reader model_folder; do
  mkdir -p "$top/build/fuzz/corpus/$name"
  say "fuzzing $name for $seconds s"
  "$top/build/fuzz/bin/fuzz_$name" -max_total_time="$seconds" -max_len=65536 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    "$top/build/fuzz/corpus/$name" "$top/tests/fuzz/corpus/$name" 2>&1 | tail -n 12
done
say "no findings"
