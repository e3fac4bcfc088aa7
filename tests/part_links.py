#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that each part of core uses only the parts that core/CMakeLists.txt gives it, and LibTorch only where it may.

The linker alone does not show it: a static library also takes a symbol from whatever another part has brought. Where
a part that must do without LibTorch uses a part that needs it, the path by which the object reaches LibTorch is named.

usage: part_links.py BUILD_FOLDER
"""
import collections
import re
import subprocess
import sys

build = sys.argv[1]
TORCH = re.compile(r"^_ZNK?(5torch|2at|3c10|10caffe2)|^_ZN?K?St.*(5torch|2at6Tensor|3c10)|^_ZT[IVS]N(5torch|2at|3c10)")
# Libraries of sources that are compiled apart and belong to a part all the same.
BESIDE = {"options": ["core/liboption_table_objects.a", "datasets/libdata_kinds.a"], "text": ["core/libgpt2_ranks.a"]}


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


def readable(name):
    return subprocess.run(["c++filt", name], capture_output=True, text=True).stdout.strip()


uses, with_torch, objects, defined = {}, set(), {}, {}
for line in open(f"{build}/core/parts.txt", encoding="utf-8").read().splitlines():
    part, _, rest = line.partition(":")
    words = rest.split()
    if "torch" in words:
        with_torch.add(part)
    uses[part] = {part, *(used for other in words if other != "torch" for used in uses[other])}
    objects[part] = {}
    for library in [f"core/libcore_{part}.a", *BESIDE.get(part, [])]:
        objects[part].update(symbols(f"{build}/{library}"))
    defined[part] = set().union(*(names for names, _ in objects[part].values()))
if not objects or not all(objects.values()):
    sys.exit("no objects of core were found in " + build)
where = {name: (part, obj) for part in objects for obj, (names, _) in objects[part].items() for name in names}


def path_to_torch(start):
    """[(object, symbol), ...] from an object to a symbol of LibTorch."""
    queue, seen = collections.deque([(start, [])]), {start}
    while queue:
        (part, obj), path = queue.popleft()
        for name in sorted(objects[part][obj][1]):
            if TORCH.match(name):
                return path + [(obj, readable(name))]
            following = where.get(name)
            if following and following not in seen:
                seen.add(following)
                queue.append((following, path + [(obj, readable(name))]))
    return []


bad = 0
for part in objects:
    allowed = set().union(*(defined[used] for used in uses[part]))
    for obj, (_, undefined) in sorted(objects[part].items()):
        for name in sorted(undefined - allowed):
            torch = TORCH.match(name)
            if (torch and part not in with_torch) or (not torch and name in where):
                bad += 1
                owner = "LibTorch" if torch else where[name][0]
                print(f"{part}: {obj} uses {readable(name)} of {owner}")
                if part not in with_torch and not torch and owner in with_torch:
                    for step, used in path_to_torch(where[name])[:6]:
                        print(f"    {step} uses {used}")
print(f"core: {len(objects)} parts, {sum(map(len, objects.values()))} objects, "
      + (f"{bad} uses of a part that is not theirs" if bad else "each uses its own parts alone")
      + f"; without LibTorch: {', '.join(part for part in objects if part not in with_torch)}")
sys.exit(bool(bad))
