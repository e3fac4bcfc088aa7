#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets a virtual environment import the light set of PyTorch in .venv, which lacks most of NVIDIA's libraries (3.5 GB): each
that is missing becomes an empty library with its name and the symbols and versions that PyTorch asks for. None of them is
called on a CPU, and one that is called ends the program.

usage: light_torch.py SITE_PACKAGES_WITH_TORCH ENVIRONMENT        needs gcc and binutils
"""
import collections
import os
import pathlib
import re
import subprocess
import sys


def said(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def missing_from(torch, there):
    """{library: {version: symbols}} of what the libraries in a folder need and `there` does not have; a symbol without a
    version, which any library may hold, has the version ""."""
    needed = collections.defaultdict(lambda: collections.defaultdict(set))
    for path in sorted(each for each in torch.iterdir() if ".so" in each.name and "nvrtc" not in each.name):  # that one asks for the driver
        headers, owners, library = said("objdump", "-p", path), {}, ""
        missing = {name for name in re.findall(r"NEEDED +(\S+)", headers) if re.match("lib(cu|nv|nccl)", name)} - there
        for line in headers.splitlines():
            if found := re.search(r"required from (\S+):", line):
                library = found[1]
            elif found := re.match(r" +0x[0-9a-f]+ 0x[0-9a-f]+ [0-9]+ (\S+)$", line):
                owners[found[1]] = library
        asked = re.findall(r"^ +[Uwv] ([A-Za-z0-9_]+)(?:@(\S+))?$", said("nm", "-D", "--undefined-only", path) if missing else "", re.MULTILINE)
        for library in missing:
            needed[library][""].update(symbol for symbol, version in asked if not version and re.match("cu[A-Za-z]|nv|nccl", symbol))
        for symbol, version in asked:
            if owners.get(version) in missing:
                needed[owners[version]][version].add(symbol)
    return needed


def write_empty(library, versions, folder):
    named = {version: symbols for version, symbols in versions.items() if version}
    symbols = set().union(*(named or versions).values())
    source, script = folder / "empty.c", folder / "empty.map"
    source.write_text("".join(f"void {symbol}(void) {{ __builtin_trap(); }}\n" for symbol in sorted(symbols)))
    script.write_text("".join(f"{version} {{ global: {'; '.join(sorted(each))}; }};\n" for version, each in named.items()))
    subprocess.run(["gcc", "-w", "-shared", "-fPIC", "-nostdlib", "-o", folder / library, f"-Wl,-soname,{library}", source,
                    *([f"-Wl,--version-script={script}"] if named else [])], check=True)
    source.unlink(), script.unlink()


def main(site, environment):
    site, environment = pathlib.Path(site).resolve(), pathlib.Path(environment)
    folder = environment / "empty"
    folder.mkdir(exist_ok=True)
    there = {name for _, _, names in os.walk(site / "nvidia") for name in names} | set(os.listdir(site / "torch/lib"))
    for library, versions in missing_from(site / "torch/lib", there).items():
        write_empty(library, versions, folder)
    # Python reads this when it starts: where PyTorch is, and the libraries, which are then there under their names.
    (own,) = environment.glob("lib/python3*/site-packages")
    (own / "light_torch.pth").write_text(f"{site}\nimport ctypes, glob, sys; list(map(ctypes.CDLL, glob.glob(sys.prefix + '/empty/lib*')))\n")


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) == 3 else sys.exit(__doc__)
