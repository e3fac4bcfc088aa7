#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what is missing, builds Relascope and opens its window. Without a display it trains the quick preset
# and writes its learning curve and relation pictures.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$top/app/setup.sh"
build_programs
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  exec "$top/build/bin/relascope" "$@"
fi
out="$top/build/quick"
say "no display: training the quick preset, pictures go to build/quick"
rm -rf "$out"
"$top/build/bin/relascope-cli" train quick --out "$out/run"
"$top/build/bin/relascope-cli" inspect "$out/run" --sample 1 --layer 2 --kind relation --source 5 --out "$out/relation.png"
"$top/build/bin/relascope" --screenshot "$out/window.png" --size 1440x900 --run "$out/run"
say "wrote build/quick/relation.png and build/quick/window.png (curves and relations)"
