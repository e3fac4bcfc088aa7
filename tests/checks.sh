#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What the linker and the compiler cannot see: who includes whom, names defined twice, documents that are cited but not
# there, formatting, and (where clang-tidy is installed) the lines changed since main. RELASCOPE_TIDY=0 skips the last.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$top"
bad=0
forbid() { # words, pattern, folders
  local found
  found=$(grep -rnE "$2" --include='*.h' --include='*.cpp' --include='*.cu*' "${@:3}" || true)
  if [ -n "$found" ]; then echo "$1:"; echo "$found"; bad=1; fi
}
forbid "Qt or OpenCV in core" '#include *<(Q[A-Z]|opencv2)' core app/serve
forbid "torch in the window's rooms" '#include *<(torch|ATen|c10)' widgets app core/wire
forbid "Qt in datasets, sessions or the command line" '#include *<Q[A-Z]' datasets app/serve app/cli
forbid "LibTorch's own readers on files" 'torch::(load|save|pickle_load|jit::load)' core datasets app
forbid "blocking connections" 'BlockingQueuedConnection' app widgets
if ! twice=$(python3 tests/defined_twice.py .); then echo "defined twice:"; echo "$twice"; bad=1; fi
if ! strayed=$(python3 tests/room_namespaces.py .); then echo "namespaces:"; echo "$strayed"; bad=1; fi
if ! named=$(python3 tests/analysis_folders.py .); then echo "folders of analyses:"; echo "$named"; bad=1; fi
if ! compared=$(python3 tests/name_comparisons.py .); then bad=1; fi
echo "$compared"
[ "$bad" = 0 ] && echo "rooms: in order"
if ! cited=$(python3 tests/cited_documents.py .); then echo "documents:"; echo "$cited"; bad=1; else echo "documents: in order"; fi

if ! lacking=$(python3 tests/add_spdx.py --check); then echo "licence:"; echo "$lacking"; bad=1; else echo "licence: in order"; fi
# A test that writes into the current folder leaves names that no checkout should have.
if odd=$(git ls-files -z | tr '\0' '\n' | LC_ALL=C grep -av '^[A-Za-z0-9._/+-]*$'); then echo "names of files:"; echo "$odd" | cat -v; bad=1; fi

. app/setup.sh
formatter=$(clang_format_path)
formatted=(app core datasets tests widgets)
if [ -z "$formatter" ]; then
  echo "formatting: not checked (clang-format ${clang_format_version%%.*} is not installed; bash app/setup.sh installs it)"
elif ! find "${formatted[@]}" \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0 | xargs -0 -n 40 -P 2 "$formatter" --dry-run -Werror; then
  echo "formatting: run clang-format -i on these files"; bad=1
else
  echo "formatting: in order"
fi

base=$(git rev-parse -q --verify main 2>/dev/null || git rev-parse -q --verify HEAD 2>/dev/null || true)
if [ -n "$base" ] && [ "${RELASCOPE_TIDY:-1}" != 0 ]; then
  code=0; python3 tests/tidy.py --since "$base" --jobs 2 --most 12 || code=$?
  [ "$code" = 1 ] && bad=1
fi
exit "$bad"
