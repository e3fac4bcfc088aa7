#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A disk that fills up while a run continues. The run pauses, says so and continues when there is room; stopped while
# the disk is full, it keeps its checkpoints and resumes to the same bits. Then COUNT (6) stops and kills at random
# moments on a disk that is filled and freed at random. With one process and with two ranks. Needs root for a small
# tmpfs; without it says so and ends with 77.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
count=${1:-6}
cli="$top/build/bin/relascope-cli"
work=$(mktemp -d)
disk="$work/disk"
mkdir "$disk"
if ! mount -t tmpfs -o size=24m tmpfs "$disk" 2>/dev/null; then
  rm -r "$work"
  echo "a small tmpfs cannot be mounted here (not root): not run"
  exit 77
fi
pid= filling=
finish() {
  kill -9 $pid $filling 2>/dev/null || true
  wait 2>/dev/null || true
  umount "$disk" || umount -l "$disk"
  rm -r "$work"
}
trap finish EXIT
small=(quick --set model.d_model=32 --set model.dff=32 --set data.train_size=512 --set data.validation_size=64
  --set train.batch_size=32 --set train.checkpoint_every=20 --set train.evaluate_every=100 --set train.keep_mib=1 --device cpu)

fail() { echo "$*"; tail -n 5 "$work/err"; exit 1; }
wait_for() { # TEXT: in what the run says
  for _ in $(seq 300); do if grep -q "$1" "$work/err"; then return 0; fi; sleep 0.1; done
  fail "the run did not say '$1'"
}
start() { # RANKS STEPS: begins $disk/run or resumes it, in the background
  if [ -f "$disk/run/run.json" ]; then set -- "$1" --resume "$disk/run" --steps "$2"
  else set -- "$1" "${small[@]}" --steps "$2" --out "$disk/run"; fi
  local ranks=$1; shift
  : >"$work/err"
  # A process of its own group, as a shell would start it.
  setsid "$cli" train "$@" --threads 1 $([ "$ranks" = 1 ] || echo --ranks "$ranks") >/dev/null 2>"$work/err" &
  pid=$!
}
newest() { # the step of the newest checkpoint, 0 without any
  find "$disk/run/checkpoints" -path '*/step-*/manifest.json' 2>/dev/null | sed -n 's|.*/step-\([0-9]*\)/.*|\1|p' | sort -n | tail -n 1 | grep . || echo 0
}
fill() { # [FREE]: leaves so many bytes free
  dd if=/dev/zero of="$disk/filler" bs=64K 2>/dev/null || true
  [ $# = 0 ] || truncate -s "-$1" "$disk/filler"
}
stop() { # SIGNAL
  kill -"$1" "$pid"
  local code=0; wait "$pid" 2>/dev/null || code=$?
  [ "$code" = 130 ] || fail "stopped with $1, it ended with $code"
}
# Whatever was reported is there: checkpoints that match their checksums, the newest not older than the newest one that
# events.jsonl names. Prints its step.
check() {
  python3 - "$disk/run" <<'PY'
import json, os, re, sys, zlib
run = sys.argv[1]
json.load(open(f"{run}/run.json"))
reported = -1
if os.path.exists(f"{run}/events.jsonl"):
    for line in open(f"{run}/events.jsonl", errors="replace"):
        found = re.search(r'"text":"checkpoint at step (\d+)"', line)
        if found and line.endswith("\n"): reported = int(found[1])
newest = -1
for name in os.listdir(f"{run}/checkpoints"):
    folder = f"{run}/checkpoints/{name}"
    if not re.fullmatch(r"step-\d+", name) or not os.path.exists(f"{folder}/manifest.json"): continue
    for file, facts in json.load(open(f"{folder}/manifest.json"))["files"].items():
        data = open(f"{folder}/{file}", "rb").read()
        assert len(data) == facts["bytes"] and zlib.crc32(data) == facts["crc32"], f"{folder}/{file} is damaged"
    newest = max(newest, int(name[5:]))
assert newest >= reported, f"a checkpoint of step {reported} was reported, and the newest is {newest}"
print(newest)
PY
}
losses() { python3 -c 'import json,sys
for line in open(sys.argv[1] + "/metrics.jsonl"):
    p = json.loads(line); print(p["split"], p["step"], p["loss"])' "$1"; }
finish_and_compare() { # RANKS STEPS WHAT
  rm -f "$disk/filler"
  start "$1" "$2"
  wait "$pid" || fail "$3: it could not be resumed"
  [ -z "$(find "$disk/run" -name '*.tmp-*')" ] || fail "$3: temporary files are left"
  [ -f "$work/whole-$1-$2" ] || {
    mv "$disk/run" "$work/run"
    start "$1" "$2"
    wait "$pid" || fail "the run that is never stopped"
    losses "$disk/run" >"$work/whole-$1-$2"
    rm -rf "$disk/run"; mv "$work/run" "$disk/run"
  }
  losses "$disk/run" >"$work/losses"
  cmp -s "$work/losses" "$work/whole-$1-$2" || fail "$3: $(diff "$work/losses" "$work/whole-$1-$2" | head -n 3)"
  rm -rf "$disk/run"
}

# It pauses, keeps its checkpoint, continues.
start 1 1000000
for _ in $(seq 300); do [ -f "$disk/run/checkpoints/step-20/manifest.json" ] && break; sleep 0.1; done
fill
wait_for "paused:"
kill -0 "$pid" || fail "the run died"
check >/dev/null
rm "$disk/filler"
wait_for "training continues"
stop INT
rm -rf "$disk/run"
echo "paused, kept its checkpoint, continued"

# Stopped while the disk is full, and while less than a checkpoint is free.
for ranks in 1 2; do
  for free in 0 600000; do
    signal=INT; [ "$free" = 0 ] || signal=TERM
    for again in new resumed; do
      began=$(newest)
      start "$ranks" 700
      for _ in $(seq 600); do [ "$(newest)" -ge $((began + 40)) ] && break; sleep 0.05; done
      fill "$free"
      wait_for "paused:"
      before=$(check)
      stop "$signal"
      [ -f "$disk/run/run.json" ] || fail "$ranks ranks, $again, $free bytes free: the run is gone"
      [ "$(check)" -ge "$before" ] || fail "$ranks ranks, $again, $free bytes free: a checkpoint is gone"
      rm "$disk/filler"
    done
    finish_and_compare "$ranks" 700 "$ranks ranks, $free bytes free"
  done
done
echo "stopped while full and while short, with one process and two ranks: all was kept"

# At random.
churn() { while :; do
  dd if=/dev/zero of="$disk/filler" bs=64K 2>/dev/null || true
  sleep "0.$((RANDOM % 40 + 5))"; rm -f "$disk/filler"; sleep "0.$((RANDOM % 60 + 5))"
done; }
steps=$((count > 6 ? count * 60 + 600 : 700))
for ranks in 1 2; do
  last=-1
  churn & filling=$!
  for ((i = 1; i <= (ranks == 1 ? count - count / 3 : count / 3); i++)); do
    start "$ranks" "$steps"
    sleep "0.$((RANDOM % 90 + 10))"; [ $((RANDOM % 2)) = 0 ] || sleep 1
    signals=(INT TERM KILL)
    signal=${signals[$((RANDOM % 3))]}
    kill -"$signal" "$pid" 2>/dev/null || true
    code=0; wait "$pid" 2>/dev/null || code=$?
    # 1: it could not begin on the full disk, or a signal met it before it listened for signals.
    case $code in 0 | 1 | 130 | 137 | 143) ;; *) fail "$signal $i with $ranks ranks: it ended with $code" ;; esac
    [ -f "$disk/run/run.json" ] || { [ "$last" -lt 0 ] || fail "$signal $i with $ranks ranks: the run is gone"; rm -rf "$disk/run"; continue; }
    now=$(check) || fail "$signal $i with $ranks ranks"
    [ "$now" -ge "$last" ] || fail "$signal $i with $ranks ranks: the newest checkpoint is of step $now, and was of $last"
    last=$now
  done
  kill "$filling"; wait "$filling" 2>/dev/null || true; filling=
  finish_and_compare "$ranks" "$steps" "random stops with $ranks ranks"
done
echo "$count stops and kills at random: no checkpoint was lost, the losses are those of runs never stopped, bit for bit"
