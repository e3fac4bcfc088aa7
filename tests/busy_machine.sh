#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Trains beside one busy process a core: with all threads it may take at most three times as long as
# with one. Threads that wait for one another by spinning take ten times as long and more.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cli=$top/build/bin/relascope-cli
work=$(mktemp -d)
busy=()
trap 'kill "${busy[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT

# Each in a session of its own, as another program on a desktop is: within one session the scheduler
# may favour this script's own work.
for _ in $(seq "$(nproc)"); do
  setsid bash -c 'for ((end = SECONDS + 500; SECONDS < end;)); do :; done' &
  busy+=($!)
done

seconds() { # threads
  rm -rf "$work/run"
  "$cli" train quick --steps 60 --seed 0 --set train.evaluate_every=1000 --set data.test_size=1 \
    --threads "$1" --out "$work/run" --json 2>/dev/null |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["seconds"])'
}
one=$(seconds 1)
all=$(seconds "$(nproc)")
echo "60 steps beside $(nproc) busy processes: $one s with one thread, $all s with $(nproc)"
python3 -c "import sys; sys.exit(0 if $all <= 3 * $one else 1)" || {
  echo "training beside busy processes takes more than three times as long with every core"
  exit 1
}
