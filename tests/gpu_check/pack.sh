#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Collects all that run.sh needs on a machine with an NVIDIA GPU into the folder .gpu of this checkout: the
# programs of build/bin, the shared libraries that a bare machine lacks, the English text and the published
# Python package. Git ignores the folder. The golden cases are those of the checkout, which goes along.
#
#     bash tests/gpu_check/pack.sh        # after a build with tests and nvcc (bash tests/run.sh)
set -euo pipefail
tools=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$tools/../.."
most_mib=30 # of .gpu; the tracked files come on top
package=dual-attention==0.0.7

fail() { echo "pack.sh: $*" >&2; exit 1; }
for program in relascope-cli relascope-bench core_tests; do
    [[ -x build/bin/$program ]] || fail "build/bin/$program is missing; build with the tests first (bash tests/run.sh)"
done
for library in librelascope_cuda.so librelascope_cuda_graphs.so; do
    [[ -f build/bin/$library ]] ||
        fail "build/bin/$library is missing; RELASCOPE_CUDA=ON bash app/setup.sh installs nvcc, then build again"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf .gpu
mkdir -p .gpu "$work/bin" "$work/lib" "$work/all" "$work/share/relascope"

for file in relascope-cli relascope-bench core_tests librelascope_cuda.so librelascope_cuda_graphs.so; do
    strip -o "$work/bin/$file" "build/bin/$file"
done

# What the GPU machine has of its own: LibTorch with CUDA's libraries, the C and C++ runtime, the driver.
own='^(libtorch|libc10|libcu(da|pti|blas|sparse|fft|rand|dnn|solver|file)|libnv|libnccl|libgomp|libshm|libstdc\+\+|libgcc_s|ld-linux|linux-vdso|libc\.so|libm\.so|libdl\.so|libpthread\.so|librt\.so|libresolv\.so|libutil\.so)'
ldd build/bin/{relascope-cli,relascope-bench,core_tests} |
    awk '$2 == "=>" && $3 ~ /^\// {print $1, $3}' | sort -u | grep -Ev "$own" >"$work/libraries" || true
# These are linked, but no check calls them: a library with their names alone takes their place, and those that
# only they need are left out.
unused='^(libcurl|liblapack|libblas|libGLX)\.so'
cp -L $(awk '{print $2}' "$work/libraries" | sort -u) "$work/all/"
stub() { # NAME: what the others take from it, as functions that end the program
    { nm -D --undefined-only --with-symbol-versions "$work"/bin/* "$work"/lib/* 2>/dev/null || true; } | awk '{print $NF}' | sort -u >"$work/wanted"
    nm -D --defined-only --with-symbol-versions "$work/all/$1" | awk '{print $NF}' | sed 's/@@/@/' | sort -u >"$work/given"
    comm -12 "$work/wanted" "$work/given" >"$work/taken"
    sed 's/@.*//; s/.*/void &(void) { __builtin_trap(); }/' "$work/taken" >"$work/stub.c"
    sed -n 's/.*@//p' "$work/taken" | sort -u | while read -r version; do
        echo "$version { global: $(sed -n "s/@$version\$/;/p" "$work/taken" | tr '\n' ' ') };"
    done >"$work/stub.map"
    local script=()
    [[ -s $work/stub.map ]] && script=("-Wl,--version-script=$work/stub.map")
    gcc -shared -fPIC -nostdlib -w -Wl,-soname,"$1" "${script[@]}" -x c "$work/stub.c" -o "$work/lib/$1"
}
add() { # NAME: the library, or a stub of it later, and what it needs
    [[ -e $work/lib/$1 || ! -e $work/all/$1 ]] && return 0
    cp "$work/all/$1" "$work/lib/$1"
    [[ $1 =~ $unused ]] && { : >"$work/lib/$1"; return 0; }
    local needed
    for needed in $(needs "$work/all/$1"); do add "$needed"; done
}
needs() { readelf -d "$@" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u; }
for needed in $(needs "$work"/bin/{relascope-cli,relascope-bench,core_tests}); do add "$needed"; done
for library in "$work"/lib/*; do [[ -s $library ]] || stub "$(basename "$library")"; done
strip --strip-unneeded "$work"/lib/*

text=build/share/relascope/jargon.txt.gz
[[ -f $text ]] && cp -L "$text" "$work/share/relascope/"
tar -C "$work" -c bin lib share | xz -T2 -6 >.gpu/programs.tar.xz

cp "$tools"/{run.sh,curves.py,package.py,summary.py,README.md} .gpu/
python3 -m pip download -q --no-deps --only-binary=:all: -d .gpu "$package" ||
    echo "pack.sh: $package could not be downloaded; the comparison with it will be skipped" >&2
{
    echo "commit=$(git rev-parse HEAD)$(git diff --quiet HEAD 2>/dev/null || echo ' with changes')"
    # Compiled into core_tests as the place of its fixtures.
    echo "checkout=$(strings -n 12 build/bin/core_tests | sed -n 's|^\(/.*\)/tests/fixtures.*|\1|p' | head -1)"
    torch=$(readelf -d build/bin/relascope-cli | sed -n 's/.*R[A-Z]*PATH.*\[\([^]:]*\).*/\1/p' | head -1)
    sed -n "s/^__version__ = '\(.*\)'/torch=\1/p; s/^git_version = '\(.*\)'/torch_commit=\1/p" "$torch/../version.py"
} >.gpu/build.txt

kib=$(du -sk .gpu | cut -f1)
tree=$(git ls-files -co --exclude-standard -z | xargs -0 du -ck 2>/dev/null | awk '$2 == "total" {sum += $1} END {print sum}')
echo "packed .gpu: $((kib / 1024)) MiB; with the checkout's files $(((kib + tree) / 1024)) MiB travel"
((kib < most_mib * 1024)) || fail ".gpu is larger than $most_mib MiB"
((kib + tree < 62 * 1024)) || echo "pack.sh: that is much for a transfer; move other untracked files out of the checkout" >&2
