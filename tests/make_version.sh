#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes what a released version leaves behind, for tests/versions.py: a run of three steps with kept weights and captures, its
# checkpoint in two forms, a study of two models, and a view of a map of the run.
# usage: make_version.sh RELASCOPE_CLI OUT        for example make_version.sh build/bin/relascope-cli tests/fixtures/versions/0.8
set -euo pipefail
cli=$1 out=$2
small=(--set data.train_size=32 --set data.validation_size=16 --set data.test_size=16 --set train.batch_size=8
  --set model.d_model=16 --set model.dff=16 --threads 1)
rm -rf "$out"
mkdir -p "$out"
"$cli" train relational-games-same --model dat "${small[@]}" --set train.checkpoint_every=3 --set train.capture_every=3 \
  --set train.capture_samples=1 --steps 3 --device cpu --out "$out/run" >/dev/null
"$cli" convert "$out/run/checkpoints/step-3" "$out/checkpoint.safetensors" >/dev/null
"$cli" convert "$out/run/checkpoints/step-3" "$out/checkpoint.pt" >/dev/null
"$cli" study relational-games-same --models dat,transformer --sizes 32 --seeds 1 --quiet "${small[@]}" --set train.steps=1 \
  --set train.capture_samples=0 --out "$out/study" >/dev/null
find "$out" -name .lock -delete
# What a resumed run measures is compared with what this version measures.
cp -r "$out/run" "$out/on"
"$cli" train --resume "$out/on" --steps 5 --threads 1 >/dev/null
cp "$out/on/metrics.jsonl" "$out/resumed.jsonl"
rm -rf "$out/on"
cat > "$out/map.relaview" <<'VIEW'
{
 "format": "relascope-view/1",
 "title": "A relation",
 "command": "inspect",
 "subjects": [{"path": "run"}],
 "options": {"sample": 1, "layer": 1, "kind": "relation", "index": 1, "source": 3}
}
VIEW
