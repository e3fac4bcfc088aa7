#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# kill -9 at random moments of a study, COUNT times (10), then two workers at once: every cell is done, once.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
count=${1:-10}
cli="$top/build/bin/relascope-cli"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cli" study pairwise-order --models abstractor,mlp,transformer --sizes 200,1000 --seeds 3 \
  --set train.epochs=40 --set train.early_stopping.metric=none --show --out "$work/study" >/dev/null
for ((i = 1; i <= count; i++)); do
  "$cli" study --threads 1 --quiet --out "$work/study" >/dev/null 2>&1 &
  pid=$!
  sleep "$((1 + RANDOM % 2)).$((RANDOM % 90 + 10))"
  kill -9 "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
  "$cli" study --show --json --out "$work/study" >"$work/state.json"
done
for worker in 1 2; do "$cli" study --threads 1 --quiet --out "$work/study" >/dev/null 2>&1 & done
wait
"$cli" study --threads 1 --json --out "$work/study" 2>/dev/null >"$work/state.json"
python3 - "$work" <<'PY'
import json, os, sys
state = json.load(open(f"{sys.argv[1]}/state.json"))
assert all(cell["state"] == "done" for cell in state["cells"]), [c["state"] for c in state["cells"]]
folders = [f for f in os.listdir(f"{sys.argv[1]}/study/runs") if os.path.isdir(f"{sys.argv[1]}/study/runs/{f}")]
assert sorted(folders) == sorted(cell["name"] for cell in state["cells"]), folders
for cell in state["cells"]:
    lines = open(cell["run"] + "/metrics.jsonl").read().split("\n")[:-1]
    steps = [p["step"] for p in map(json.loads, lines) if p["split"] == "train"]
    assert steps == list(range(1, len(steps) + 1)), f"{cell['name']}: a point is missing or doubled"
print(f"{len(folders)} cells, each done once; every step measured once")
PY
echo "killed $count times, then finished by two workers"
