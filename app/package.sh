#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds Relascope and makes its packages in build/packages. Installs what is missing to build, as app/run.sh does.
#   bash app/package.sh           two Debian packages: relascope-cli (the command line, without Qt) and relascope (the window)
#   bash app/package.sh --wheel   two wheels for pip: relascope_app (the programs) and relascope (the package for Python)
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$top/app/setup.sh"
packages="$top/build/packages"

build_for_all() { # the packages are for other machines, too: kernels for every GPU
  [ -f "$top/build/build.ninja" ] && cmake -DRELASCOPE_CUDA_ARCHITECTURES=ALL "$top/build" >/dev/null
  RELASCOPE_CUDA_ARCHITECTURES=ALL build_programs
}

make_debian_packages() {
  need_packages dpkg-dev file help2man
  build_for_all
  say "making the packages (half a minute: LibTorch is compressed)"
  mkdir -p "$packages"
  rm -f "$packages"/relascope*.deb
  (cd "$top/build" && cpack -G DEB >"$packages/cpack.log" 2>&1) || { cat "$packages/cpack.log"; exit 1; }
  rm -rf "$packages/_CPack_Packages"
  (cd "$packages" && ls -sh relascope*.deb)
  say "to install them: sudo apt install $packages/*.deb"
}

make_wheels() {
  local tag wheel tools="$top/.venv/share/relascope/wheel-tools"
  build_for_all
  need_wheel_tools
  export PATH="$tools/bin:$PATH" PYTHONPATH="$tools${PYTHONPATH:+:$PYTHONPATH}"
  say "making the wheels"
  python3 "$top/app/install/make_wheel.py" "$top/build" "$packages"
  wheel=$(echo "$packages"/relascope_app-*.whl)
  tag=${wheel##*-none-} tag=${tag%.whl}
  # It says what the symbols of all files ask for; LibTorch and Qt, which it also names, come with their own packages.
  auditwheel show "$wheel" | tr -s '\n ' ' ' >"$packages/auditwheel.log"
  grep -q "constrains the platform tag to \"$tag\"" "$packages/auditwheel.log" || { cat "$packages/auditwheel.log"; say "auditwheel names another tag than $tag"; exit 1; }
  say "to publish a release:"
  echo "pipx install twine"
  echo "twine check --strict $packages/relascope*.whl"
  echo "twine upload $packages/relascope*.whl"
}

case "${1:-}" in
  "") make_debian_packages ;;
  --wheel) make_wheels ;;
  *) say "'$1' is not known; package.sh makes Debian packages, package.sh --wheel wheels"; exit 2 ;;
esac
