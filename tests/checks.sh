#!/usr/bin/env bash
# What the linker cannot see of the rules of the house: who includes whom.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$top"
bad=0
forbid() { # words, pattern, folders
  local found
  found=$(grep -rnE "$2" --include='*.h' --include='*.cpp' "${@:3}" || true)
  if [ -n "$found" ]; then echo "$1:"; echo "$found"; bad=1; fi
}
forbid "Qt or OpenCV in core" '#include *<(Q[A-Z]|opencv2)' core
forbid "torch in the window's rooms" '#include *<(torch|ATen|c10)' widgets app
forbid "Qt in datasets or the command line" '#include *<Q[A-Z]' datasets app/cli
forbid "LibTorch's own readers on files" 'torch::(load|save|pickle_load|jit::load)' core datasets app
forbid "blocking connections" 'BlockingQueuedConnection' app widgets
if ! twice=$(python3 tests/defined_twice.py .); then echo "defined twice:"; echo "$twice"; bad=1; fi
if ! compared=$(python3 tests/name_comparisons.py .); then bad=1; fi
echo "$compared"
[ "$bad" = 0 ] && echo "rooms: in order"
exit "$bad"
