#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a build from scratch costs: CPU seconds of compiling and linking by target, and the largest compiler process.

    build_time.py [--jobs N] [--keep FOLDER] [-DNAME=VALUE ...] [TARGET ...]

Builds TARGETs (all) in a folder of its own, without ccache, and prints a line for each target, the most expensive first,
then the ten most expensive files. Needs what app/setup.sh installs. CMake calls the same file as a launcher:

    build_time.py --launch LOG COMMAND ARGUMENT ..."""
import argparse, collections, os, pathlib, re, resource, shutil, subprocess, sys, tempfile, time


def launch(log, command):
    code = subprocess.call(command)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = command[command.index("-o") + 1] if "-o" in command else "?"
    with open(log, "a") as file:
        file.write(f"{used.ru_utime + used.ru_stime:.3f}\t{used.ru_maxrss // 1024}\t{output}\n")
    return code


def main():
    if sys.argv[1:2] == ["--launch"]:
        return launch(sys.argv[2], sys.argv[3:])
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--keep")
    parser.add_argument("targets", nargs="*")
    arguments, options = parser.parse_known_args()
    top = pathlib.Path(__file__).resolve().parents[2]
    folder = pathlib.Path(arguments.keep or tempfile.mkdtemp(prefix="relascope-build-"))
    folder.mkdir(exist_ok=True)
    log = folder / "costs.txt"
    try:
        launcher = f"{sys.executable};{pathlib.Path(__file__).resolve()};--launch;{log}"
        subprocess.check_call(["cmake", "-S", top, "-B", folder, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}",
                               f"-DCMAKE_CXX_LINKER_LAUNCHER={launcher}", *options], stdout=subprocess.DEVNULL)
        began = time.monotonic()
        subprocess.check_call(["ninja", "-C", folder, "-j", arguments.jobs, *arguments.targets], stdout=subprocess.DEVNULL)
        wall = time.monotonic() - began
        by_target, files, largest = collections.Counter(), [], 0
        for line in log.read_text().splitlines():
            seconds, mib, output = line.split("\t")
            found = re.search(r"CMakeFiles/([^/]+)\.dir/", output)
            by_target[found[1] if found else "linking"] += float(seconds)
            files.append((float(seconds), output))
            largest = max(largest, int(mib))
        for target, seconds in by_target.most_common():
            print(f"{seconds:8.0f} s  {target}")
        print(f"{sum(by_target.values()):8.0f} s of CPU in {len(files)} commands, {wall:.0f} s with {arguments.jobs} jobs; "
              f"the largest process had {largest} MiB\n")
        for seconds, output in sorted(files, reverse=True)[:10]:
            print(f"{seconds:8.1f} s  {output}")
    finally:
        if not arguments.keep:
            shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
