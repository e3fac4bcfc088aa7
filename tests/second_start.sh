#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Starting the program twice, under a real X server: the second start hands its files over and ends; a window that
# hangs, was killed, or belongs to another display is no obstacle.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export HOME="$home" XDG_CONFIG_HOME="$home/config" XDG_RUNTIME_DIR="$home/run"
export RELASCOPE_RUNS="$home/runs" QT_QPA_PLATFORM=xcb QT_XCB_GL_INTEGRATION=none
unset WAYLAND_DISPLAY XDG_ACTIVATION_TOKEN DESKTOP_STARTUP_ID RELASCOPE_STUDIES
mkdir -m 700 "$home/run"
program="$top/build/bin/relascope"
for name in one two; do
  "$top/build/bin/relascope-cli" train quick --set model.d_model=16 --set model.dff=16 --set data.train_size=64 \
    --set data.validation_size=32 --set data.test_size=16 --set train.batch_size=16 --steps 4 --device cpu --threads 1 \
    --out "$home/$name run" >/dev/null 2>&1
done
cat >"$home/session" <<S
set -euo pipefail
cd "$home"
fail() { echo "\$1"; cat "$home"/err*; for p in \$pids; do kill -9 \$p 2>/dev/null || true; done; exit 1; }
pids=""
start() { local name=\$1; shift; "$program" "\$@" 2>"$home/err.\$name" & pid=\$!; pids="\$pids \$pid"; }
windows() { xdotool search --onlyvisible --name '^Relascope$' 2>/dev/null | wc -l; }
await() { for _ in \$(seq 150); do [ "\$(windows)" = "\$1" ] && return 0; sleep 0.2; done; fail "line \${BASH_LINENO[0]}: \$(windows) windows instead of \$1"; }
second() { timeout 60 "$program" "\$@" 2>"$home/err2"; }

start first --theme light; first=\$pid; await 1
ls "$home"/run/*.socket >/dev/null || fail "the first window does not listen"
# Without files, with a file of the current folder, and with URLs, as file managers give them.
second || fail "a start without files: \$?"
second "one run" "file://$home/two%20run" || fail "a start with files: \$?"
[ "\$(windows)" = 1 ] || fail "a second window was opened"
start other --new-instance; other=\$pid; await 2
kill -9 \$other; wait \$other 2>/dev/null || true; await 1

# A window that hangs: the second start says so and opens its own.
kill -STOP \$first
start hung "one run"; hung=\$pid; await 2
grep -q "does not answer" "$home/err.hung" || fail "nothing was said about the window that hangs"
kill -CONT \$first
kill -9 \$hung; wait \$hung 2>/dev/null || true; await 1
kill -TERM \$first
code=0; wait \$first || code=\$?
[ \$code = 130 ] || fail "the first window ended with \$code"
grep -q "one run" "$home/config/Relascope/Relascope.conf" && grep -q "two run" "$home/config/Relascope/Relascope.conf" ||
  fail "the first window has not opened the runs"

# After kill -9 the next start is a window that listens again.
start killed; await 1
kill -9 \$pid; wait \$pid 2>/dev/null || true; await 0
ls "$home"/run/*.socket >/dev/null || fail "a killed window leaves its socket"
# So is an empty lock of the settings, which Qt would wait for.
: >"$home/config/Relascope/Relascope.conf.lock"
start next; next=\$pid; await 1
second "one run" || fail "after a kill: \$?"
kill -TERM \$next; wait \$next || true

# A display that is not there is an error, not a crash.
code=0; DISPLAY=:4711 second || code=\$?
[ \$code = 1 ] || fail "without a display: \$code"
S
code=0
xvfb-run -a -s "-noreset -screen 0 1600x1000x24" bash "$home/session" || code=$?
[ "$code" = 0 ] || { echo "failed with $code"; exit 1; }

# Without any display there is one sentence, and nothing is trained; the same without a home.
mkdir "$home/empty"
cd "$home/empty"
none() { # none TEXT ENVIRONMENT... -- ARGUMENTS...
  local text=$1; shift
  code=0
  env -u DISPLAY -u QT_QPA_PLATFORM -u RELASCOPE_RUNS "$@" >"$home/said" 2>&1 || code=$?
  [ "$code" = 1 ] && [ "$(wc -l <"$home/said")" = 1 ] && grep -q "$text" "$home/said" ||
    { echo "without $text: $code"; cat "$home/said"; exit 1; }
}
none "no display" timeout 60 "$program"
none "no display" timeout 60 "$program" train quick
none "no display\|qt6-wayland" WAYLAND_DISPLAY=none timeout 60 "$program"
none "HOME is not set" -u HOME QT_QPA_PLATFORM=offscreen timeout 60 "$program"
none "HOME is not set" -u HOME timeout 60 "$top/build/bin/relascope-cli" train quick --steps 2
[ -z "$(ls -A)" ] || { echo "something was put into the current folder"; exit 1; }
echo "a second start hands its files over"
