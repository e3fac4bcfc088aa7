#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A room defines names in its own namespace only; of other rooms it may declare classes ahead.

core/types, which every room sees, is `relascope` itself; the sources that define its functions are in core. Prints the
lines that open a namespace of another room and define something there, and fails.

usage: room_namespaces.py [ROOT]
"""
import re
import sys
from pathlib import Path

NAMESPACES = {
    "core/types": {"relascope", "relascope::core"},
    "core/wire": {"relascope", "relascope::wire"},
    "core": {"relascope::core", "relascope"},
    "datasets": {"relascope::datasets"},
    "widgets": {"relascope::widgets"},
    "app/serve": {"relascope::serve"},
    "app/cli": {"relascope::cli"},
    "app": {"relascope::app"},
}
BLOCK = re.compile(r"^namespace (relascope[\w:]*) \{\n(.*?)^\}  // namespace \1$", re.M | re.S)
DECLARATION = re.compile(r"\s*(?:(?:class|struct|enum class) \w+(?: : [\w:]+)?;\s*)+")


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    wrong = 0
    for room in ("core", "datasets", "widgets", "app"):
        for path in sorted((root / room).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".cu", ".cuh"):
                continue
            name = path.relative_to(root).as_posix()
            text = path.read_text(encoding="utf-8")
            own = next(spaces for prefix, spaces in NAMESPACES.items() if name.startswith(prefix + "/"))
            for block in BLOCK.finditer(text):
                inside = block[1] in own or any(
                    block[1].startswith(space + "::") for space in own if space != "relascope")
                if not inside and not DECLARATION.fullmatch(block[2]):
                    line = text.count("\n", 0, block.start()) + 1
                    print(f"{name}:{line}: defines names in {block[1]}")
                    wrong += 1
            opened = len(re.findall(r"^namespace relascope[\w:]* \{", text, re.M))
            if opened != len(BLOCK.findall(text)):
                print(f"{name}: a namespace is not closed by '}}  // namespace NAME' at the line's start")
                wrong += 1
    return 1 if wrong else 0


sys.exit(main())
