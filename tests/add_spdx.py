#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Adds the SPDX line to sources that lack it; does nothing to the others.

Usage: add_spdx.py [--check] [FILE...]; without files all sources of the tree. --check changes
nothing and prints the files that lack the line; exit status 1 when there are any.
"""
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
LINE = "SPDX-License-Identifier: GPL-3.0-or-later"
SLASHES, HASHES = {".h", ".cpp", ".cu", ".cuh"}, {".py", ".sh", ".cmake"}


def mark_of(path):
    """How the file begins a comment; empty for one that is no source."""
    if path.suffix in SLASHES:
        return "// "
    return "# " if path.suffix in HASHES or path.name == "CMakeLists.txt" else ""


def sources():
    found = [TOP / "CMakeLists.txt"]
    for folder in ["app", "core", "datasets", "resources", "tests", "widgets"]:
        found += (TOP / folder).rglob("*")
    return [path for path in sorted(found)
            if path.is_file() and mark_of(path) and not {"fixtures", "corpus"} & set(path.parts)]


def has_line(text):
    return any(LINE in line for line in text.split("\n")[:3])


def with_line(path, text):
    lines = text.split("\n")
    lines.insert(1 if lines[0].startswith("#!") else 0, mark_of(path) + LINE)
    return "\n".join(lines)


def main():
    words = sys.argv[1:]
    check = "--check" in words
    files = [pathlib.Path(w).resolve() for w in words if w != "--check"] or sources()
    lacking = [path for path in files if not has_line(path.read_text())]
    for path in lacking:
        if check:
            print(f"{path.relative_to(TOP)}: lacks {LINE}")
        else:
            path.write_text(with_line(path, path.read_text()))
    if not check:
        print(f"{len(files)} sources, {len(lacking)} lines added")
    return 1 if check and lacking else 0


if __name__ == "__main__":
    sys.exit(main())
