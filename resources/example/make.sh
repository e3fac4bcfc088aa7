#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes resources/example/run, the finished run of the quick preset that a first start opens: its last weights, three kept
# steps (before, while and after the relation is learned), curves and captures, below 4 MB. What is left out, the
# optimizer's state, only resuming would need. To be made anew when the quick preset or the format of runs changes.
# usage: make.sh [RELASCOPE_CLI]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cli=${1:-$here/../../build/bin/relascope-cli}
run=$here/run
rm -rf "$run"
# Within 40 MiB weights are kept compressed; those of steps 0, 70 and 279 stand alone.
"$cli" train quick --seed 1 --threads 2 --out "$run" --set train.keep_mib=40
sed -i 's/"keep_mib": 40/"keep_mib": 256/; s/"message": ""/"message": "comes with Relascope"/' "$run/run.json"
printf '{\n  "name": "Example run",\n  "tags": [],\n  "hidden": false\n}\n' > "$run/labels.json"
find "$run/weights" -type f ! -name step-0.safetensors ! -name step-70.safetensors ! -name step-279.safetensors -delete
find "$run/checkpoints" -mindepth 1 -maxdepth 1 ! -name step-384 -exec rm -r {} +
rm -f "$run/checkpoints/step-384/optimizer.safetensors" "$run/.lock"
python3 - "$run/checkpoints/step-384/manifest.json" <<'END'
import json, sys
manifest = json.load(open(sys.argv[1]))
del manifest["files"]["optimizer.safetensors"]
json.dump(manifest, open(sys.argv[1], "w"), indent=2)
END
du -sb "$run"
