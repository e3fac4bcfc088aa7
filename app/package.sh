#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds Relascope and makes its two Debian packages in build/packages: relascope-cli (the command line, without Qt) and
# relascope (the window). Installs what is missing to build, as app/run.sh does.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$top/app/setup.sh"
need_packages dpkg-dev file help2man
# The packages are for other machines, too: kernels for every GPU.
[ -f "$top/build/build.ninja" ] && cmake -DRELASCOPE_CUDA_ARCHITECTURES=ALL "$top/build" >/dev/null
RELASCOPE_CUDA_ARCHITECTURES=ALL build_programs
say "making the packages (half a minute: LibTorch is compressed)"
mkdir -p "$top/build/packages"
rm -f "$top"/build/packages/relascope*.deb
(cd "$top/build" && cpack -G DEB >"$top/build/packages/cpack.log" 2>&1) || { cat "$top/build/packages/cpack.log"; exit 1; }
rm -rf "$top/build/packages/_CPack_Packages"
(cd "$top/build/packages" && ls -sh relascope*.deb)
say "to install them: sudo apt install $top/build/packages/*.deb"
