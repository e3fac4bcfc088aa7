#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs clang-tidy (see .clang-tidy) on source files of a configured build folder.

GCC's precompiled headers are none for clang, so it gets compile commands of its own, in
BUILD/tidy/compile_commands.json, that include the same headers as text. What clang 14 does not
compile (structured bindings in captures of lambdas) is no finding: GCC has compiled it.

Usage: tidy.py [--build FOLDER] [--jobs N] [--since COMMIT] [FILE...]; without files all of them, with
--since the files changed since then, of which only the changed lines count. Files that are not
compiled there (headers, other presets) are left out; headers are checked with what includes them.
A file takes 5 to 40 seconds. Exit status 1 with clang-tidy's findings; 77 when nothing was checked.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
ROOMS = ["app", "core", "datasets", "tests", "widgets"]


def each_source(entries):
    """The entries with those of a unity build taken apart: one for each source that it includes."""
    for entry in entries:
        if not re.search(r"/Unity/unity_\d+_cxx\.cxx$", entry["file"]):
            yield entry
            continue
        for source in re.findall(r'^#include "(.*)"', pathlib.Path(entry["file"]).read_text(), re.M):
            yield {**entry, "file": source, "command": entry["command"].replace(entry["file"], source)}


def commands_for_clang(build):
    """{source: entry}, written to BUILD/tidy as well."""
    folder = build / "tidy"
    folder.mkdir(exist_ok=True)
    entries = {}
    for entry in each_source(json.loads((build / "compile_commands.json").read_text())):
        source = pathlib.Path(entry["file"]).resolve()
        if not any(source.is_relative_to(TOP / room) for room in ROOMS):
            continue  # generated
        command = re.sub(r"^.*?ccache\S* ", "", entry["command"])
        for header in re.findall(r"-include (\S+cmake_pch\.hxx)", command):
            copy = folder / (hashlib.sha1(header.encode()).hexdigest()[:12] + ".hxx")
            copy.write_text(pathlib.Path(header).read_text())
            command = command.replace(f"-include {header}", f"-include {copy}")
        command = command.replace(" -Winvalid-pch", "") + " -Wno-unknown-warning-option"
        entries[source] = {"directory": entry["directory"], "command": command, "file": str(source)}
    (folder / "compile_commands.json").write_text(json.dumps(list(entries.values())))
    return entries


def changed_lines(commit):
    """{file: [[first, last], ...]} of what differs from the commit, new files included."""
    def git(*words):
        return subprocess.run(["git", *words], cwd=TOP, capture_output=True, text=True, check=True).stdout
    lines, file = {}, None
    for line in git("diff", "-U0", "--no-renames", commit, "--", *ROOMS).split("\n"):
        if line.startswith("+++ "):
            file = line[6:] if line.startswith("+++ b/") else None
        elif file and (hunk := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))? @@", line)):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            if count:
                lines.setdefault(file, []).append([first, first + count - 1])
    for file in git("ls-files", "--others", "--exclude-standard", "--", *ROOMS).split():
        lines[file] = [[1, 1000000]]
    return {f: ranges for f, ranges in lines.items() if f.endswith((".h", ".cpp"))}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=TOP / "build", type=pathlib.Path)
    parser.add_argument("--jobs", default=os.cpu_count(), type=int)
    parser.add_argument("--since", metavar="COMMIT")
    parser.add_argument("--most", default=0, type=int, help="check nothing when more files changed")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    tool = shutil.which("clang-tidy") or shutil.which("clang-tidy-14")
    if not tool or not (arguments.build / "compile_commands.json").exists():
        print("clang-tidy or build/compile_commands.json is missing: not checked")
        return 77
    known = commands_for_clang(arguments.build.resolve())
    options = ["--quiet", "--warnings-as-errors=*"]
    if arguments.since:
        changed = changed_lines(arguments.since)
        options.append("--line-filter=" + json.dumps([{"name": f, "lines": r} for f, r in changed.items()]))
        wanted = [TOP / f for f in changed]
    else:
        wanted = [p.resolve() for p in arguments.files] or sorted(known)
    files = [f for f in wanted if f in known]
    if arguments.most and len(files) > arguments.most:
        print(f"clang-tidy: {len(files)} files changed, too many to check here; build the target tidy")
        return 77

    def check(file):
        done = subprocess.run([tool, "-p", arguments.build / "tidy", *options, file],
                              capture_output=True, text=True)
        blocks = re.split(r"^(?=\S+?:\d+:\d+: (?:error|warning): )", done.stdout, flags=re.M)
        return "".join(b for b in blocks if re.match(r"\S+?:\d+:", b) and "[clang-diagnostic-error]" not in b)

    bad = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for findings in pool.map(check, files):
            if findings:
                bad += 1
                print(findings.strip().replace(f"{TOP}/", ""), flush=True)
    print(f"clang-tidy: {len(files)} files, {bad} with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
