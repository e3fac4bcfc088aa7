#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# kill -9 of the real window at random moments of a run that it began, COUNT times (4): the run goes on to its end with
# the losses of one that was never watched, bit for bit, and no session is left behind.
set -euo pipefail
[ "${1:-}" = shown ] || exec xvfb-run -a -s "-noreset -screen 0 1600x1000x24" bash "$0" shown "$@"
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
count=${2:-4}
bin="$top/build/bin"
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export HOME="$home" XDG_CONFIG_HOME="$home/config" XDG_RUNTIME_DIR="$home/run"
export RELASCOPE_RUNS="$home/runs" QT_QPA_PLATFORM=xcb QT_XCB_GL_INTEGRATION=none
mkdir -m 700 "$home/run"
# The window leaves one core to itself.
threads=$(($(nproc) > 1 ? $(nproc) - 1 : 1))
small=(quick --set model.d_model=32 --set model.dff=32 --set data.train_size=512 --set data.validation_size=64
  --set train.batch_size=32 --steps 300 --device cpu)
"$bin/relascope-cli" train "${small[@]}" --threads "$threads" --out "$home/never" >/dev/null 2>&1

run="$home/runs/quick-dat-s0"
ours() { # processes of this test that are of a kind
  local pid found=0
  for pid in $(pgrep -f "relascope-cli $1" || true); do
    if tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx "HOME=$home"; then found=1; fi
  done
  return $((1 - found))
}
begins() { for _ in $(seq 300); do if ours "$1"; then return 0; fi; sleep 0.1; done; return 1; }
# Seen to be gone twice: while the program replaces itself (core/startup/openmp_wait.cpp) its command line and
# environment are empty.
ends() { for _ in $(seq 600); do ours "$1" || { sleep 0.2; ours "$1" || return 0; }; sleep 0.1; done; return 1; }
for ((i = 1; i <= count; i++)); do
  rm -rf "$home/runs"
  "$bin/relascope" train "${small[@]}" --new-instance 2>"$home/err" & window=$!
  begins "train --start" || { echo "the window began no run"; cat "$home/err"; kill -9 $window; exit 1; }
  sleep "0.$((RANDOM % 9))"
  kill -9 $window
  wait $window 2>/dev/null || true
  ends "train --start" || { echo "kill $i: the run has not ended"; exit 1; }
  ends "session" || { echo "kill $i: a session is left"; exit 1; }
  python3 - "$home/never" "$run" <<'PY' || { echo "kill $i"; exit 1; }
import json, sys
def losses(run):
  return [(p["split"], p["step"], p["loss"]) for p in map(json.loads, open(f"{run}/metrics.jsonl"))]
state = json.load(open(f"{sys.argv[2]}/run.json"))["state"]
never, killed = losses(sys.argv[1]), losses(sys.argv[2])
if state != "done" or never != killed:
  sys.exit(f"{state}, {len(killed)} points of {len(never)}: {[p for p in zip(never, killed) if p[0] != p[1]][:2]}")
PY
done
echo "killed $count windows; their runs went on, bit for bit as without one"
