#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A disk that fills up while a run continues: the run pauses, says so, keeps its last checkpoint, and continues when
# there is room. Needs root for a small tmpfs; without it says so and ends with 77.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cli="$top/build/bin/relascope-cli"
disk=$(mktemp -d)
if ! mount -t tmpfs -o size=6m tmpfs "$disk" 2>/dev/null; then
  rmdir "$disk"
  echo "a small tmpfs cannot be mounted here (not root): not run"
  exit 77
fi
pid=
trap 'kill -9 $pid 2>/dev/null || true; umount "$disk"; rmdir "$disk"' EXIT
"$cli" train quick --set model.d_model=32 --set data.train_size=512 --set train.batch_size=32 --set train.checkpoint_every=20 \
  --set data.validation_size=64 --epochs 100000 --device cpu --threads 1 --out "$disk/run" >/dev/null 2>"$disk.err" &
pid=$!
for _ in $(seq 200); do [ -f "$disk/run/checkpoints/step-20/manifest.json" ] && break; sleep 0.1; done
dd if=/dev/zero of="$disk/filler" bs=1M count=8 2>/dev/null || true
for _ in $(seq 200); do grep -q "paused:" "$disk.err" && break; sleep 0.1; done
grep "paused:" "$disk.err" || { echo "the run did not pause"; cat "$disk.err"; exit 1; }
kill -0 "$pid" || { echo "the run died"; exit 1; }
newest=$(ls "$disk/run/checkpoints" | sed 's/step-//' | sort -n | tail -1)
[ -f "$disk/run/checkpoints/step-$newest/manifest.json" ] || [ "$(ls -d "$disk"/run/checkpoints/*/manifest.json | wc -l)" -ge 1 ] ||
  { echo "no checkpoint is intact"; exit 1; }
rm "$disk/filler"
for _ in $(seq 200); do grep -q "training continues" "$disk.err" && break; sleep 0.1; done
grep "training continues" "$disk.err" || { echo "the run did not continue"; exit 1; }
kill -INT "$pid"
code=0; wait "$pid" || code=$?
rm -f "$disk.err"
[ "$code" = 130 ] || { echo "ended with $code"; exit 1; }
[ -z "$(find "$disk/run" -name '*.tmp-*')" ] || { echo "temporary files are left"; exit 1; }
echo "paused, kept its checkpoint, continued"
