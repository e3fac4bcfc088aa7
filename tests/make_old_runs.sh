#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes run folders with the command line of an earlier version, for tests/core/old_runs_test.cpp: of each architecture
# family one that has taken two steps of four, and the losses of the two that the same program takes after them.
# usage: make_old_runs.sh RELASCOPE_CLI OUT        for example make_old_runs.sh ~/relascope-0.4/build/bin/relascope-cli
#        tests/fixtures/runs/0.4; presets that the version does not know are left out
set -euo pipefail
cli=$1 out=$2
mkdir -p "$out"
text=$(mktemp --suffix=.txt)
trap 'rm -f "$text"' EXIT
for i in $(seq 400); do echo "The model of a state machine is a state machine of the model $i."; done > "$text"
small="data.train_size=32 data.validation_size=16 data.test_size=16 train.batch_size=8 train.checkpoint_every=2
  train.capture_every=2 train.capture_samples=1 model.d_model=16 model.dff=16"
make_run() { # name, preset, variant, KEY=VALUE ...
  local name=$1 preset=$2 variant=$3 settings=()
  shift 3
  for setting in $small "$@"; do settings+=(--set "$setting"); done
  rm -rf "$out/$name" "$out/$name.on"
  if ! "$cli" train "$preset" --model "$variant" "${settings[@]}" --steps 2 --device cpu --threads 1 \
      --out "$out/$name" > "$out/log" 2>&1; then
    echo "$name: left out: $(tail -n 1 "$out/log")"
    rm -rf "$out/$name"
    return
  fi
  cp -r "$out/$name" "$out/$name.on"
  "$cli" train --resume "$out/$name.on" --steps 4 --threads 1 > /dev/null
  cp "$out/$name.on/metrics.jsonl" "$out/$name/resumed.jsonl"
  rm -rf "$out/$name.on" "$out/$name/.lock"
  echo "$name: made"
}
make_run vision relational-games-same dat
make_run image-abstractor relational-games-same abstractor
make_run predinet relational-games-same predinet
make_run corelnet relational-games-same corelnet
make_run language text dat data.context=16 model.max_block_size=16 model.n_layers=1 model.n_relations=4 \
  data.path="$text" data.tokenizer=characters
make_run mathematics math-expand dat model.n_layers_enc=1 model.n_layers_dec=1 train.capture_samples=0
make_run sorting sort-argsort abstractor data.length=4 data.longest=4 model.key_dim=8
make_run pairs pairwise-order abstractor
make_run set set transformer
make_run inner-products inner-product-relations asymmetric
make_run select select-relate relational
make_run recovery symbol-recovery robust-regression
rm -f "$out/log"
# The text was a temporary file of this machine.
[ ! -d "$out/language" ] || sed -i "s#$text#text.txt#g" "$out/language/run.json"
