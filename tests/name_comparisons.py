#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparisons of strings with known names outside the files that describe what is named.

A kind of data, a task or a metric is described in one place (datasets/kinds, core/types/metric.h), a preset
and its models in resources/presets, an architecture in core/model/FAMILY; other code asks the description. This finds == "NAME", != "NAME" and
.is("NAME") with such a name. There must be none.

usage: name_comparisons.py ROOT
"""
import json
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
sources = [p for room in ("core", "datasets", "widgets", "app") for p in sorted((root / room).rglob("*"))
           if p.suffix in (".h", ".cpp")]


def names(pattern, *files):
    return {name for file in files for name in re.findall(pattern, file.read_text(), re.S)}


kind_files = sorted((root / "datasets/kinds").glob("*_kind.cpp"))
data = names(r'\bk\.name = "([^"]+)"', *kind_files)
for file in kind_files:  # k.tasks = {{"order", "Pairwise order", "help", ...}, ...};
    for block in re.findall(r"k\.tasks = \{\s*(\{.*?\})\};", file.read_text(), re.S):
        data |= set(re.findall(r'\{\s*"([a-z0-9_-]+)",\s*"[^"]+",\s*"', block))
metrics = names(r'\{Metric::\w+, "([^"]+)"', root / "core/types/metric.h")
# In the descriptors: a.name = "X", or the last arguments of a function that makes several.
architectures = names(r'"((?:[A-Z][a-z]*\d?[A-Za-z\d]*|ESBN))"', *sorted((root / "core/model").glob("*/*.cpp"))) & names(
    r'RegisterModel::of<[^>]*>\(\s*"(\w+)"', *sorted((root / "core/model").glob("*/*.cpp")))
presets, variants = set(), set()
for file in (root / "resources/presets").glob("*.json"):
    text = json.loads(file.read_text())
    variants |= {m["name"] for m in text.get("models", [])}
    for preset in text["presets"]:
        presets.add(preset["name"])
        variants |= {m["name"] for m in preset.get("models", [])}

# Words that mean something else where they are compared: the left side of the comparison says so.
other_meanings = re.compile(r"(image_norm|ra_type|\bsplit|\bkey)$")
own = {"data": ("datasets/kinds/",), "metrics": ("core/types/metric.h",),
       "architectures": ("core/model/",), "presets": ("datasets/kinds/",), "variants": ()}
known = {"data": data, "metrics": metrics, "architectures": architectures, "presets": presets,
         "variants": variants - presets}
if min(map(len, known.values())) == 0:
    sys.exit("no names were found: " + ", ".join(k for k, v in known.items() if not v))

comparison = re.compile(r'([\w.\]>-]*(?:\(\))?)\s*(?:==|!=)\s*(?:QLatin1String\(|QStringLiteral\()?"([^"]*)"'
                        r'|"([^"]*)"\s*(?:==|!=)|\.is\("([^"]*)"\)')
found = {group: [] for group in known}
for path in sources:
    place = path.relative_to(root).as_posix()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for left, a, b, c in comparison.findall(line.split("//")[0]):
            if other_meanings.search(left.strip()):
                continue
            for group, words in known.items():
                if (a or b or c) in words and not place.startswith(own[group] or ("\0",)):
                    found[group].append(f"{place}:{number}: {line.strip()}")

bad = [line for lines in found.values() for line in lines]
for line in bad:
    print(line)
print("comparisons with names: " + ", ".join(f"{group} {len(lines)}" for group, lines in found.items()))
sys.exit(bool(bad))
