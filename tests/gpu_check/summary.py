#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the figures that run.sh measured as one table: milliseconds a step in each way, and beside the package."""
import json
import os
import sys


def lines(path):
    try:
        with open(path) as file:
            return [json.loads(line) for line in file if line.strip()]
    except OSError:
        return []


def main():
    out = sys.argv[1]
    package = {(p["workload"], p.get("compiled", False)): p for p in lines(os.path.join(out, "package.jsonl"))}
    benches = [(name, f) for line in lines(os.path.join(out, "bench.jsonl")) for name, f in line.items()]
    if not benches:
        return
    print(f"\n{'ms a step':20} {'batch':>6} {'LibTorch':>9} {'kernels':>9} {'graph':>9} {'peak MiB':>9}"
          f" {'package':>9} {'batch':>6} {'peak MiB':>9} {'ratio':>6}  form")
    number = lambda value, digits=2: f"{value:9.{digits}f}" if value else f"{'-':>9}"
    for name, f in benches:
        if "train_step_ms" not in f:
            print(f"{name:20} " + ", ".join(f"{k} {v:.4g}" for k, v in f.items() if isinstance(v, float)))
            continue
        batch, best = int(f.get("batch", 0)), f["train_step_ms"]
        peaks = [f[k] for k in ("graph_peak_mb", "kernels_peak_mb", "libtorch_peak_mb") if k in f]
        row = (f"{name:20} {batch or '-':>6} {number(f.get('libtorch_step_ms'))} {number(f.get('kernels_step_ms'))}"
               f" {number(f.get('graph_step_ms'))} {number(peaks[0] if peaks else 0, 0)}")
        for compiled in (False, True):
            p = package.get((name, compiled))
            if not p:
                continue
            if "problem" in p:
                print(f"{row}  package{' compiled' if compiled else ''}: {p['problem']}")
                continue
            # Examples a second, where the batches are not the same.
            ratio = f"{p['step_ms'] / p['batch'] / (best / batch):6.2f}" if batch else f"{'-':>6}"
            print(f"{row} {number(p['step_ms'])} {p['batch']:>6} {number(p['peak_mb'], 0)} {ratio}  {f['form']}"
                  f"{' (package compiled)' if compiled else ''}")
        if (name, False) not in package:
            print(f"{row}  {f['form']}")
        if f.get("kernels_step_ms", 0) > 1.02 * f.get("libtorch_step_ms", float("inf")):
            print("  ! the program's own kernels are slower than LibTorch's here, and a run would use them (choosesCuda)")
        if "libtorch_step_ms" in f and "graph_step_ms" not in f:
            print("  ! the step was not recorded as a graph (steps.log says why)")
        if "graph_step_ms" in f and "libtorch_step_ms" not in f:
            print("  ! LibTorch's attention was not measured (steps.log says why)")
        if "parameters" in f and (name, False) in package and package[name, False].get("parameters") not in (None, f["parameters"]):
            print(f"  parameters: {f['parameters']} here, {package[name, False]['parameters']} there")


main()
