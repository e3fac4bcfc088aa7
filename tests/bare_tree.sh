#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs the two packages into a bare Debian 12 tree and uses them there as a stranger would: trains the quick preset,
# looks at the window under Xvfb, opens a checkpoint, by its type as a file manager does, removes both; runs stay. For a release: needs root, debootstrap and
# the network, and takes some minutes.
#   tests/bare_tree.sh FOLDER_OF_PACKAGES OUT [BARE]      pictures go to OUT; BARE is a tree of debootstrap to copy
#   tests/bare_tree.sh --wheel FOLDER_OF_WHEELS OUT [BARE]   the wheels in their place, with python3-venv and nothing else of
#       ours: what a sentence of the program says is missing is installed. In place of downloading, SITE is a site-packages whose
#       torch and nvidia are copied (1.3 GB), and OTHERS a folder with the wheels of PySide6-Essentials, shiboken6 and NumPy.
set -euo pipefail
kind=deb
if [ "$1" = --wheel ]; then kind=whl; shift; fi
packages=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
mirror=${MIRROR:-http://deb.debian.org/debian}
tree=$(mktemp -d "${TMPDIR:-/tmp}/relascope-bare-XXXXXX")
cleanup() {
  umount "$tree/proc" "$tree/dev/shm" 2>/dev/null || true
  rm -rf --one-file-system "$tree"
}
chmod 755 "$tree"  # the root of everybody there
trap cleanup EXIT
say() { printf 'bare tree: %s\n' "$*"; }

if [ -n "${3:-}" ]; then cp -a "$3/." "$tree"; else debootstrap --variant=minbase bookworm "$tree" "$mirror" >/dev/null; fi
say "made: $(du -sm "$tree" | cut -f1) MB"
cp /etc/resolv.conf "$tree/etc/resolv.conf"
cp "$packages"/relascope*."$kind" "$tree/tmp/"
mount -t proc proc "$tree/proc"
mkdir -p "$tree/dev/shm" && mount -t tmpfs tmpfs "$tree/dev/shm"
inside() { chroot "$tree" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
person() { inside su -s /bin/bash - person -c "export LC_ALL=C.UTF-8; $1"; }
as_person=(inside useradd -m person)

install() { inside bash -c "apt-get install -y -qq --no-install-recommends $* >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }"; }

use_wheels() {
  local begin site said
  install python3-venv
  "${as_person[@]}"
  person 'python3 -m venv app'
  site=$(echo "$tree"/home/person/app/lib/python3*/site-packages)
  if [ -n "${SITE:-}" ]; then
    cp -a "$SITE"/torch "$SITE"/torch-*.dist-info "$SITE"/nvidia "$site/"
  else
    person 'app/bin/pip install -q --no-deps torch==2.11.0 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85'
  fi
  if [ -n "${OTHERS:-}" ]; then
    cp -r "$OTHERS" "$tree/home/person/others"
  else
    person 'app/bin/pip download -q --no-deps -d others "PySide6-Essentials>=6.5,<7" numpy && app/bin/pip download -q -d others "shiboken6==$(ls others | sed -n "s/^pyside6_essentials-\([^-]*\).*/\1/p")"'
  fi
  begin=$SECONDS
  person 'app/bin/pip install -q --no-deps others/*.whl /tmp/relascope*.whl'
  say "wheels installed in $((SECONDS - begin)) s"
  person 'app/bin/relascope-cli --version && app/bin/relascope-cli devices'
  person 'app/bin/relascope-cli train quick --out runs/quick 2>/dev/null | tail -n 2'
  if inside dpkg-query -W -f='${Package}\n' | grep -qE '^(libgl1|libqt6|libopencv)'; then say "libGL, Qt or OpenCV came along"; exit 1; fi
  install xvfb xauth
  # The sentence names the packages, for each kind of display.
  for display in offscreen xcb; do
    said=$(person "QT_QPA_PLATFORM=$display app/bin/relascope --version 2>&1" || true)
    case $said in *"sudo apt install "*) said=${said#*sudo apt install }; said=${said%% (Debian*}; say "$display needs $said"; install $said ;; esac
  done
  begin=$SECONDS
  person "xvfb-run -a -s '-screen 0 1440x900x24' app/bin/relascope --screenshot wheel.png --size 1200x800 --run runs/quick"
  say "window painted in $((SECONDS - begin)) s"
  cp "$tree/home/person/wheel.png" "$out/"
  person 'app/bin/python -c "import relascope; print(len(relascope.analyse(\"runs/quick\", \"spread\", examples=20)[\"heads\"]), \"heads\")"'
  person 'app/bin/pip uninstall -q -y relascope-app relascope'
  [ -s "$tree/home/person/runs/quick/run.json" ] || { say "the run is gone"; exit 1; }
  say "removed; the run stays"
}

begin=$SECONDS
inside apt-get update -qq
if [ "$kind" = whl ]; then use_wheels; exit 0; fi
inside bash -c 'apt-get install -y -qq --no-install-recommends /tmp/relascope-cli_*.deb >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }'
say "relascope-cli installed in $((SECONDS - begin)) s, tree now $(du -smx "$tree" | cut -f1) MB"
if inside dpkg-query -W -f='${Package}\n' | grep -q '^libqt6'; then say "Qt came with relascope-cli"; exit 1; fi
"${as_person[@]}"
person 'relascope-cli --version && relascope-cli devices'
begin=$SECONDS
person 'relascope-cli train quick --out runs/quick 2>/dev/null | tail -n 4'
say "quick trained in $((SECONDS - begin)) s"
person 'relascope-cli convert runs/quick/checkpoints/$(ls runs/quick/checkpoints | sort | head -n 1) quick.pt && relascope-cli info quick.pt | head -n 5' ||
  person 'ls -R runs/quick | head -n 30'

begin=$SECONDS
inside bash -c 'apt-get install -y -qq --no-install-recommends /tmp/relascope_*.deb >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }'
say "relascope installed in $((SECONDS - begin)) s, tree now $(du -smx "$tree" | cut -f1) MB"
inside bash -c 'apt-get install -y -qq --no-install-recommends xvfb xauth xdotool netpbm procps >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }'
inside bash -c 'apt-get install -y -qq --no-install-recommends libglib2.0-bin shared-mime-info desktop-file-utils >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }'
person 'relascope-cli convert quick.pt quick.safetensors'
person 'for file in quick.pt quick.safetensors runs/quick/run.json runs/quick; do gio info -a standard::content-type $file | tail -n 1; done'
# Pictures are of the screen's memory: xwd leaves windows black whose visual is not the screen's.
look() { # NAME, what the window is started with, what is opened then as by a double click
  person "cat > look.sh <<'SCRIPT'
relascope $2 & window=\$!
for i in \$(seq 100); do xdotool search --name Relascope >/dev/null 2>&1 && break; sleep 0.2; done
sleep 8
if [ -n '${3:-}' ]; then gio open '${3:-}'; sleep 5; fi
echo \"windows: \$(pgrep -c -x relascope)\"
xwdtopnm Xvfb_screen0 2>/dev/null | pnmtopng > $1.png 2>/dev/null
kill -INT \$window
wait \$window
echo \"window $1: exit status \$?\"
SCRIPT
RELASCOPE_RUNS=\$HOME/runs xvfb-run -a -s \"-noreset -screen 0 1440x900x24 -fbdir \$HOME\" bash look.sh"
  cp "$tree/home/person/$1.png" "$out/"
}
look run runs/quick
look checkpoint quick.pt
look double-click "" quick.safetensors
look double-click-run quick.pt runs/quick/run.json

# A crash says one line; the next start is also the first after an update.
person "cat > crash.sh <<'SCRIPT'
relascope 2>said & window=\$!
sleep 8
kill -SEGV \$window
wait \$window
grep 'relascope: crashed: invalid memory access' said
sed -i 's/^version=.*/version=0.5.0/' .config/Relascope/Relascope.conf
relascope & window=\$!
sleep 8
xwdtopnm Xvfb_screen0 2>/dev/null | pnmtopng > after-crash.png 2>/dev/null
kill -INT \$window
SCRIPT
RELASCOPE_RUNS=\$HOME/runs xvfb-run -a -s \"-noreset -screen 0 1440x900x24 -fbdir \$HOME\" bash crash.sh"
cp "$tree/home/person/after-crash.png" "$out/"

# The numbers of the run, and the manual.
inside bash -c 'apt-get install -y -qq --no-install-recommends python3-numpy man-db >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }'
person 'relascope-cli export runs/quick --csv quick.csv && wc -l quick.csv'
person 'python3 -c "
import sys
sys.path.insert(0, \"/usr/share/relascope/python\")
import relascope
print(relascope.read(\"runs/quick\"))"'
person 'man relascope-cli | head -n 5'
inside bash -c 'apt-get purge -y -qq relascope relascope-cli >/dev/null 2>&1'
left=$(inside find / -xdev \( -path /proc -o -path /home -o -path /tmp -o -path /var/cache/apt -o -path /var/log -o -path /var/lib/apt \) -prune -o -iname '*relascope*' -print)
[ -z "$left" ] || { say "left behind: $left"; exit 1; }
[ -s "$tree/home/person/runs/quick/run.json" ] || { say "the run is gone"; exit 1; }
say "removed; the run stays"
