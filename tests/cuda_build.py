#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks what nvcc made of the CUDA kernels: that each was compiled for every architecture, without spills and within
its budget of registers, and that the libraries of CUDA stay out of the programs.

Reads the logs of ptxas, BUILD/core/kernels/*.log. A kernel that is not in the table below needs a line there.

usage: cuda_build.py BUILD_FOLDER         exit status 77 when the kernels were not compiled
       cuda_build.py BUILD_FOLDER --list  prints registers and spills of every kernel and architecture
"""
import collections
import glob
import os
import re
import subprocess
import sys

ARCHITECTURES = [75, 80, 86, 89, 90, 120]
# The compiler that the budgets were set with; another one is asked for the rest only.
COMPILER = "V13.0.88"
# Registers a thread: with 128 threads a block, 64 registers let 8 blocks run at a time, 80 let 6, 128 let 4.
BUDGET = {
    # float and bfloat16
    "decodeParts": 72,
    "decodeCombine": 64,
    # All instances. With 256 threads one block has a multiprocessor to itself, and a thread 255 registers at most.
    "relTensorForward": 255,
    "relTensorRows": 250,
    "relTensorColumns": 255,
    "relTensorDelta": 48,
    "relTensorSum": 40,
}
# Files that start kernels of other files only.
NO_KERNELS = {"rel_tensor"}
# (kernel, architecture): bytes of spill stores that are let pass, and why.
SPILLS = {}
NEEDED = re.compile(r"lib(cudart\.so\.13|stdc\+\+\.so\.6|gcc_s\.so\.1|c\.so\.6|m\.so\.6)$")
CUDA = re.compile(r"cuda|cudart|cublas|cudnn|cufft|curand|cusolver|cusparse|nccl|nvrtc|nvToolsExt|cupti")


def budget_name(kernel):
    return kernel if kernel in BUDGET else kernel.split("<")[0]


build = sys.argv[1]
problems = []


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(library):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", library))


def kernels_of(log):
    """{(kernel, architecture): (registers, bytes of spills)}"""
    text = subprocess.run(["c++filt"], input=open(log, encoding="utf-8").read(), check=True, capture_output=True,
                          text=True).stdout
    found, current, spills = {}, None, 0
    for line in text.splitlines():
        if entry := re.search(r"Compiling entry function '(.*)' for 'sm_(\d+)'", line):
            name = re.sub(r"^void |\(anonymous namespace\)::|relascope::core::kernels::", "", entry[1])
            current = (re.sub(r"\(.*", "", name), int(entry[2]))
        elif spilled := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line):
            spills = max(int(spilled[1]), int(spilled[2]))
        elif used := re.search(r"Used (\d+) registers", line):
            found[current] = (int(used[1]), spills)
    return found


state = open(f"{build}/core/cuda.txt", encoding="utf-8").read().strip()
programs = [path for name in ("relascope-cli", "relascope") if os.path.exists(path := f"{build}/bin/{name}")]
for program in programs:
    for library in needed(program):
        if CUDA.search(library):
            problems.append(f"{program} needs {library}: CUDA's libraries belong to the plugin")
if state.startswith("not compiled: "):
    print("\n".join(problems) or "the CUDA kernels were " + state)
    sys.exit(1 if problems else 77)

compiler, names = re.match(r"compiled by (\S+): (.*)", state).groups()
measured, seen = {}, collections.defaultdict(set)
for name in names.split():
    found = kernels_of(f"{build}/core/kernels/{name}.log")
    if not found and name not in NO_KERNELS:
        problems.append(f"{name}.log names no kernel")
    for (kernel, architecture), figures in found.items():
        measured[kernel, architecture] = figures
        seen[name, kernel].add(architecture)
if "--list" in sys.argv:
    for kernel in sorted({kernel for kernel, _ in measured}):
        figures = (measured.get((kernel, architecture), ("-", 0)) for architecture in ARCHITECTURES)
        print(f"{kernel:40}", "  ".join(f"sm_{architecture} {registers:>3}" + (f" (spills {spills} B)" if spills else "")
                                       for architecture, (registers, spills) in zip(ARCHITECTURES, figures)))
for (name, kernel), architectures in seen.items():
    if lacking := [f"sm_{a}" for a in ARCHITECTURES if a not in architectures]:
        problems.append(f"{name}.cu: {kernel} was not compiled for {', '.join(lacking)}")
    if budget_name(kernel) not in BUDGET:
        problems.append(f"{name}.cu: {kernel} has no budget of registers in tests/cuda_build.py")
if compiler == COMPILER:
    for (kernel, architecture), (registers, spills) in sorted(measured.items()):
        if registers > (budget := BUDGET.get(budget_name(kernel), 255)):
            problems.append(f"{kernel} uses {registers} registers on sm_{architecture}; its budget is {budget}")
        if spills > SPILLS.get((kernel, architecture), 0):
            problems.append(f"{kernel} spills {spills} bytes on sm_{architecture}; {SPILLS.get((kernel, architecture), 0)} may be")
    for kernel in BUDGET.keys() - {budget_name(kernel) for kernel, _ in measured}:
        problems.append(f"{kernel} has a budget in tests/cuda_build.py, but was not compiled")
    for kernel, architecture in SPILLS.keys() - {key for key, (_, spills) in measured.items() if spills}:
        problems.append(f"{kernel} does not spill on sm_{architecture}: take it from the exceptions of tests/cuda_build.py")

# What is in the library itself, as opposed to what was compiled.
plugin = f"{build}/bin/librelascope_cuda.so"
for library in needed(plugin):
    if not NEEDED.match(library):
        problems.append(f"{plugin} needs {library}")
if "libcudart.so.13" not in needed(plugin):
    problems.append(f"{plugin} does not take the CUDA runtime from LibTorch: it does not need libcudart.so.13")
exported = re.findall(r"^\S+ [^Uw] (\S+)$", output("nm", "-D", "--defined-only", plugin), re.M)
if exported != ["relascope_kernels"]:
    problems.append(f"{plugin} exports {exported}, not relascope_kernels alone")
graphs = f"{build}/bin/librelascope_cuda_graphs.so"
for library in needed(graphs):
    if not NEEDED.match(library) and not re.match(r"lib(torch_cuda|torch_cpu|c10_cuda|c10)\.so$|ld-linux", library):
        problems.append(f"{graphs} needs {library}")
if "relascope_cuda_graphs" not in output("nm", "-D", "--defined-only", graphs):
    problems.append(f"{graphs} does not export relascope_cuda_graphs")
size = os.path.getsize(plugin)
if size > 6e6:
    problems.append(f"{plugin} has {size / 1e6:.1f} MB; 6 MB are enough for all kernels")

print("\n".join(problems) or
      f"CUDA: {len({kernel for kernel, _ in measured})} kernels of {len(names.split())} files, {len(ARCHITECTURES)} "
      f"architectures, no spills or registers beyond the budgets; librelascope_cuda.so has {size / 1e6:.2f} MB"
      + ("" if compiler == COMPILER else f"; registers were not judged: nvcc is {compiler}, not {COMPILER}"))
sys.exit(bool(problems))
