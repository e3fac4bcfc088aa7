#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# kill -9 at random moments of a run, COUNT times (50): every time --resume must work, metrics must be whole
# and nothing but the last second may be lost; the losses at the end must be those of a run never killed.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
count=${1:-50}
cli="$top/build/bin/relascope-cli"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
small=(quick --set model.d_model=32 --set model.dff=32 --set data.train_size=512 --set data.validation_size=64
  --set train.batch_size=32 --set train.checkpoint_every=7 --device cpu --threads 1)
steps=$((count * 300 + 320))

"$cli" train "${small[@]}" --steps "$steps" --out "$work/whole" >/dev/null 2>&1

start() { # starts or resumes in the background
  if [ -f "$work/run/run.json" ]; then "$cli" train --resume "$work/run" --threads 1 >/dev/null 2>"$work/err" &
  else rm -rf "$work/run"; "$cli" train "${small[@]}" --steps "$steps" --out "$work/run" >/dev/null 2>"$work/err" & fi
  pid=$!
}
last=0
for ((i = 1; i <= count; i++)); do
  start
  sleep "$((RANDOM % 2)).$((RANDOM % 70 + 30))"
  if kill -9 "$pid" 2>/dev/null; then :; fi
  code=0; wait "$pid" 2>/dev/null || code=$?
  if [ "$code" != 137 ] && [ "$code" != 0 ]; then echo "kill $i: resume failed: $(cat "$work/err")"; exit 1; fi
  [ -f "$work/run/run.json" ] || continue
  step=$(python3 - "$work/run" "$last" <<'PY'
import json, os, sys
run, last = sys.argv[1], int(sys.argv[2])
json.load(open(f"{run}/run.json"))
newest = 0
for name in os.listdir(f"{run}/checkpoints"):
    # A name that does not end with the step is of one that was being written.
    if name[5:].isdigit() and os.path.exists(f"{run}/checkpoints/{name}/manifest.json"):
        newest = max(newest, int(name[5:]))
assert newest >= last, f"the checkpoint went back from {last} to {newest}"
text = open(f"{run}/metrics.jsonl", "rb").read() if os.path.exists(f"{run}/metrics.jsonl") else b""
lines = text.split(b"\n")
points = [json.loads(line) for line in lines[:-1]]
steps = [p["step"] for p in points if p["split"] == "train"]
assert steps == list(range(1, len(steps) + 1)), "a metric point is missing or doubled"
assert not steps or steps[-1] >= newest, f"metrics end at {steps[-1]}, before the checkpoint {newest}"
print(newest)
PY
  )
  last=$step
done
echo "killed $count times, the last whole checkpoint is step $last of $steps"
"$cli" train --resume "$work/run" --threads 1 >/dev/null 2>&1
python3 - "$work" <<'PY'
import json, sys
def losses(run):
    return [(p["split"], p["step"], p["loss"]) for p in map(json.loads, open(f"{sys.argv[1]}/{run}/metrics.jsonl"))]
whole, killed = losses("whole"), losses("run")
if whole != killed:
    differing = [pair for pair in zip(whole, killed) if pair[0] != pair[1]][:3]
    sys.exit(f"{len(whole)} points of the run never killed, {len(killed)} of this one; first that differ: {differing}")
print(f"{len(killed)} points, equal to the run never killed, bit for bit")
PY
