#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The real window, under a real X server, opened and closed by Ctrl+Q, exit code 0. It loads neither LibTorch nor OpenCV.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export HOME="$home" XDG_CONFIG_HOME="$home/config" RELASCOPE_RUNS="$home/runs" QT_QPA_PLATFORM=xcb QT_XCB_GL_INTEGRATION=none
export XDG_RUNTIME_DIR="$home/run"
mkdir -m 700 "$home/run"
cat >"$home/session" <<S
set -e
"$top/build/bin/relascope" --theme light 2>"$home/err" & pid=\$!
for _ in \$(seq 150); do window=\$(xdotool search --onlyvisible --pid \$pid --name Relascope 2>/dev/null | sed -n 1p) && [ -n "\$window" ] && break; sleep 0.2; done
[ -n "\$window" ] || { echo "no window appeared"; cat "$home/err"; kill \$pid; exit 1; }
sleep 2
xdotool windowfocus --sync "\$window" 2>/dev/null || true
grep -E "libtorch|libc10|libopencv|libcuda" /proc/\$pid/maps && { echo "the window has loaded a library of what computes"; exit 1; }
# The key may close the window at once, and with its last client the X server: xdotool then complains.
xdotool key ctrl+q 2>/dev/null || true
sleep 1
if kill -0 \$pid 2>/dev/null; then xdotool key --window "\$window" ctrl+q 2>/dev/null || true; fi
for _ in \$(seq 100); do kill -0 \$pid 2>/dev/null || break; sleep 0.2; done
kill -0 \$pid 2>/dev/null && { echo "Ctrl+Q did not close the window"; kill -9 \$pid; exit 1; }
wait \$pid
S
code=0
xvfb-run -a -s "-noreset -screen 0 1600x1000x24" bash "$home/session" || code=$?
[ "$code" = 0 ] || { echo "the window ended with $code"; cat "$home/err"; exit 1; }
echo "the window opened and closed, exit code 0"
