#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that what comments cite and documents link is there.

A comment may cite a document of resources/docs ("formats.md"), with a numbered section
("formats.md section 8", "formats.md 8", "formats.md sections 3 and 4"): the document must have a
heading of that number. Links in Markdown files must lead to a file, and to a heading where they name
one.

Usage: cited_documents.py [FOLDER_OF_SOURCES]; exit status 1 with a line a finding.
"""
import pathlib
import re
import sys

SOURCES = {".h", ".cpp", ".cu", ".cuh", ".py", ".sh", ".cmake", ".txt"}
FOLDERS = ["app", "core", "datasets", "resources", "tests", "widgets"]
ELSEWHERE = {"README.md", "CHANGELOG.md"}
CITED = re.compile(
    r"\b(?P<name>[A-Za-z][\w-]*\.md)\b"
    r"(?:,? sections?)? ?(?P<numbers>\d+(?:\.\d+)*[a-z]?(?:(?:, | and )\d+(?:\.\d+)*[a-z]?)*)?")


def anchor(heading):
    text = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return text.replace(" ", "-")


def headings_of(path):
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.S | re.M)
    return re.findall(r"^#+ +(.+?) *$", text, flags=re.M)


def comments_of(path):
    """(line, text) of each run of comment lines, joined."""
    mark = re.compile(r"(?:^|\s)//[/!]?<?(.*)" if path.suffix in {".h", ".cpp", ".cu", ".cuh"} else r"(?:^|\s)#(.*)")
    found, last = [], -1
    for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1):
        comment = mark.search(line)
        if not comment:
            continue
        if last == number - 1:
            found[-1][1] += " " + comment.group(1).strip()
        else:
            found.append([number, comment.group(1).strip()])
        last = number
    return found


def main():
    top = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    docs = {path.name: headings_of(path) for path in (top / "resources/docs").glob("*.md")}
    numbers = {name: {re.match(r"[\d.]*\d[a-z]?|", h).group() for h in headings}
               for name, headings in docs.items()}
    wrong = []
    for folder in FOLDERS:
        for path in sorted((top / folder).rglob("*")):
            if path.suffix not in SOURCES or not path.is_file() or "fixtures" in path.parts:
                continue
            for line, text in comments_of(path):
                for cited in CITED.finditer(text):
                    name, where = cited["name"], f"{path.relative_to(top)}:{line}"
                    if name in ELSEWHERE:
                        continue
                    if name not in docs:
                        wrong.append(f"{where}: there is no document {name}")
                        continue
                    for number in re.split(r", | and ", cited["numbers"] or ""):
                        if number and number not in numbers[name]:
                            wrong.append(f"{where}: {name} has no section {number}")
    pages = [*(top / "resources/docs").glob("*.md"), top / "README.md", top / "tests/README.md"]
    for page in sorted(p for p in pages if p.exists()):
        text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.S | re.M)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, section = link.partition("#")
            target = page.parent / name if name else page
            where = f"{page.relative_to(top)}: the link to {link}"
            if not target.exists():
                wrong.append(f"{where} leads nowhere")
            elif section and section not in {anchor(h) for h in headings_of(target)}:
                wrong.append(f"{where} names no heading there")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
