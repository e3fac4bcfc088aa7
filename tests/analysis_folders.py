#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""An analysis is a folder that nothing outside it names: it registers itself. Prints every #include of a file of
core/analysis/NAME or widgets/analysis/NAME elsewhere that is not among those below, and fails.

usage: analysis_folders.py [ROOT]
"""
import re
import sys
from pathlib import Path

SHARED = {"parts", "pairs"}
# What builds on another analysis, and pages that exist for one.
ALLOWED = {
    "core/analysis/atlas/": {"ablate"},
    "core/analysis/attribute/": {"lens"},
    "core/analysis/dictionary/": {"contrast"},
    "core/analysis/duel/": {"eval"},
    "core/analysis/scan/": {"ablate", "atlas", "contrast", "patch"},
    "core/analysis/verify/": {"contrast", "fitted"},
    "core/analysis/model_measures.cpp": {"eval"},
    "widgets/analysis/atlas/": {"scan"},
    "app/pages/atlas_page.cpp": {"atlas"},
    # The findings of a scan stand above the Workbench.
    "app/main_window.cpp": {"scan"},
    "app/pages/workbench_page.cpp": {"scan"},
    # The command and the request that verify a checkpoint.
    "app/cli/": {"verify"},
    "app/serve/": {"verify"},
}
INCLUDE = re.compile(r'#include "(?:widgets/)?analysis/([a-z_]+)/')


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    names = {path.name for path in (root / "core/analysis").iterdir() if path.is_dir()} - SHARED
    wrong = 0
    for room in ("core", "datasets", "widgets", "app"):
        for path in sorted((root / room).rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            name = path.relative_to(root).as_posix()
            allowed = set().union(*(those for prefix, those in ALLOWED.items() if name.startswith(prefix)))
            for found in set(INCLUDE.findall(path.read_text(encoding="utf-8"))) & names - allowed:
                if not re.match(rf"(core|widgets)/analysis/{found}/", name):
                    print(f"{name} includes a file of the analysis {found}")
                    wrong = 1
    sys.exit(wrong)


main()
