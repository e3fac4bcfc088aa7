#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names the path by which an object of `base` reaches LibTorch; there must be none.

`base` is what a program without LibTorch links: options, run folders, metrics, captures, texts, tokenizers, headers
of checkpoints, plans and results of studies. Its objects may use one another, the standard library and the small
libraries they read files with, but nothing that is defined in `core`, whose objects use LibTorch.

usage: torch_free.py BUILD_FOLDER
"""
import collections
import re
import subprocess
import sys

build = sys.argv[1]
base = [f"{build}/core/libbase.a", f"{build}/core/liboption_table_objects.a", f"{build}/datasets/libdata_kinds.a",
        f"{build}/core/libgpt2_ranks.a"]
core = [f"{build}/core/libcore_objects.a"]
torch = re.compile(r"^_ZNK?(5torch|2at|3c10|10caffe2)|^_ZN?K?St.*(5torch|2at6Tensor|3c10)|^_ZT[IVS]N(5torch|2at|3c10)")


def symbols(library):
    """{object: (defined, undefined)} of an archive."""
    text = subprocess.run(["nm", "-A", "--no-demangle", library], check=True, capture_output=True, text=True).stdout
    objects = collections.defaultdict(lambda: (set(), set()))
    for line in text.splitlines():
        place, _, rest = line.partition(".o:")
        kind, name = rest.split()[-2:]
        defined, undefined = objects[place.rsplit(":", 1)[-1] + ".o"]
        (undefined if kind == "U" else defined).add(name)
    return objects


def all_symbols(libraries):
    return {key: value for library in libraries for key, value in symbols(library).items()}


own, other = all_symbols(base), all_symbols(core)
if not own or not other:
    sys.exit("no objects were found in " + build)
defined = set().union(*(d for d, _ in own.values()))
where = {name: obj for obj, (names, _) in other.items() for name in names if name not in defined}


def readable(name):
    return subprocess.run(["c++filt", name], capture_output=True, text=True).stdout.strip()


def path_to_torch(start):
    """[(object, symbol), ...] from an object of core to a symbol of LibTorch."""
    queue, seen = collections.deque([(start, [])]), {start}
    while queue:
        obj, path = queue.popleft()
        for name in sorted(other[obj][1]):
            if torch.match(name):
                return path + [(obj, readable(name))]
            following = where.get(name)
            if following and following not in seen:
                seen.add(following)
                queue.append((following, path + [(obj, readable(name))]))
    return []


bad = 0
for obj, (_, undefined) in sorted(own.items()):
    for name in sorted(undefined - defined):
        if torch.match(name):
            bad += 1
            print(f"{obj} uses {readable(name)}")
        elif name in where:
            bad += 1
            print(f"{obj} uses {readable(name)} of {where[name]}")
            for step, used in path_to_torch(where[name])[:6]:
                print(f"    {step} uses {used}")
print(f"base: {len(own)} objects, {'none reaches LibTorch' if not bad else f'{bad} uses of core or LibTorch'}")
sys.exit(bool(bad))
