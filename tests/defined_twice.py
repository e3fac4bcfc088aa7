#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds names that a program would define twice (the one-definition rule).

The linker merges classes and inline functions of one name without a word, even when their bodies
differ: the wrong destructor then stands in a vtable. Every class, struct, enum and function at
namespace scope (unnamed namespaces and static functions left out) may be defined in one file only.

Usage: defined_twice.py [FOLDER_OF_SOURCES]; exit status 1 with a line a name.
"""
import collections
import pathlib
import re
import sys

ROOMS = ["app", "core", "datasets", "widgets"]


def plain(text):
    """The code without comments, strings, characters and preprocessor lines."""
    text = re.sub(r'R"(\w*)\(.*?\)\1"', '""', text, flags=re.S)
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"(?<=\d)'(?=\d)", "", text)
    text = re.sub(r'"(\\.|[^"\\\n])*"|\'(\\.|[^\'\\\n])*\'|//[^\n]*', '""', text)
    text = re.sub(r"\btemplate\s*<[^<>]*>", "template <>", text)  # its "class T" defines nothing
    return re.sub(r"^[ \t]*#(\\\n|[^\n])*", "", text, flags=re.M)


OPEN = re.compile(
    r"(?P<namespace>\b(?:inline\s+)?namespace\s*(?P<spaces>[\w:]*)\s*\{)"
    r"|(?P<type>\b(?:class|struct|enum(?:\s+class)?)\s+(?P<name>[\w:]+)[^;{}()=]*\{)"
    r"|(?P<function>\b(?P<called>(?!m_)[a-z]\w*)\s*\((?P<takes>[^;{}()]*)\)\s*(?:noexcept\s*)?\{)"
    r"|(?P<brace>[{}])")


def parameter_types(text):
    """"const std::string& a, int b = 3" -> "const std::string&, int"."""
    types = [re.sub(r"\s*=.*", "", one).strip() for one in text.split(",") if one.strip()]
    return ", ".join(re.sub(r"(?<=[&*>\s])\w+$", "", one).replace(" ", "") for one in types)


def definitions_of(text):
    """Qualified names of the types and functions defined at the scope of named namespaces."""
    scopes = []  # the name of a namespace, "" for an unnamed one, None for any other braces
    for match in OPEN.finditer(plain(text)):
        if match["namespace"]:
            scopes.append(match["spaces"])
        elif match["type"]:
            if all(scopes):  # templates define one name for all their arguments
                before = text_before(match)
                if not before.rstrip().endswith(">"):
                    yield "::".join(scopes + [match["name"]])
            scopes.append(None)
        elif match["function"]:
            line = text_before(match).rsplit("\n", 1)[-1]
            if all(scopes) and scopes and not line.rstrip().endswith("::") and \
                    not re.search(r"\bstatic\b|>\s*$|^template", line):
                yield "::".join(scopes + [match["called"]]) + \
                    f"({parameter_types(match['takes'])})"
            scopes.append(None)
        elif match["brace"] == "{":
            scopes.append(None)
        elif scopes:
            scopes.pop()


def text_before(match):
    return match.string[max(0, match.start() - 200):match.start()]


def main():
    sources = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    places = collections.defaultdict(set)
    for room in ROOMS:
        for path in sorted((sources / room).rglob("*")):
            if path.suffix in (".h", ".cpp", ".cu", ".cuh"):
                for name in definitions_of(path.read_text()):
                    places[name].add(str(path.relative_to(sources)))
    bad = [f"{name} is defined in {', '.join(sorted(files))}"
           for name, files in sorted(places.items()) if len(files) > 1]
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


sys.exit(main())
