#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares what run.sh has trained and printed; ends with a line RESULT.

    curves.py RUNS [--short TEXT] WHAT...

A=B: the losses of two runs have the same bits. A~B: they are near. A?B: whether they have the same
bits, where nothing promises that. speed:RUN,TOKENS: finite, and tokens a second. files:A,B  csv:A,B  json:A,B: texts, numbers of maps, figures of an evaluation.
"""
import csv
import json
import math
import os
import sys


def losses(run):
    """Loss and time of each step; of a model that is not trained, its evaluations."""
    with open(os.path.join(run, "metrics.jsonl")) as file:
        points = [json.loads(line) for line in file]
    steps = [p for p in points if p["split"] == "train"] or points
    return {p["step"]: (p["loss"], p["seconds"]) for p in steps}


def numbers(path):
    found = []
    with open(path) as file:
        for row in csv.reader(file):
            for cell in row:
                try:
                    found.append(float(cell))
                except ValueError:
                    pass
    return found


def near(a, b):
    """The largest difference of finite numbers, relative to the largest of them."""
    pairs = [(x, y) for x, y in zip(a, b) if math.isfinite(x) and math.isfinite(y)]
    most = max(max((abs(y) for _, y in pairs), default=0.0), 1e-9)
    return max((abs(x - y) for x, y in pairs), default=math.nan) / most


def compared(runs, what):
    """A sentence, and whether it is a good one."""
    path = lambda name: os.path.join(runs, name)
    kind, _, names = what.partition(":")
    if kind == "speed":
        name, tokens = names.split(",")
        points = sorted((step, *point) for step, point in losses(path(name)).items())
        finite = all(math.isfinite(loss) for _, loss, _ in points)
        half = len(points) // 2
        seconds = points[-1][2] - points[half][2]
        rate = int(tokens) * (points[-1][0] - points[half][0]) / seconds if seconds > 0 else 0
        falls = points[-1][1] < points[0][1]
        return (f"{name}: {points[-1][0]} steps, loss {points[0][1]:.4f} to {points[-1][1]:.4f}, "
                f"{rate:.0f} tokens/s with its pauses", finite and falls)
    if kind == "files":
        a, b = (open(path(name), errors="replace").read() for name in names.split(","))
        same = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        return (f"{names}: the same {len(a)} characters" if a == b
                else f"{names}: the same up to character {same} of {len(a)}", bool(a) and same > 20)
    if kind == "csv":
        a, b = (numbers(path(name)) for name in names.split(","))
        difference = near(a, b)
        return f"{names}: maps differ by {difference:.2g}", len(a) == len(b) > 0 and difference < 1e-3
    if kind == "json":
        a, b = (json.load(open(path(name))) for name in names.split(","))
        flat = lambda x: [v for k, v in x.items() if isinstance(v, (int, float)) and k in ("loss", "accuracy", "perplexity")]
        difference = near(flat(a), flat(b))
        return f"{names}: figures differ by {difference:.2g}", difference < 1e-3
    sign = next(each for each in "=?~" if each in what)
    exact = sign != "~"
    one, other = what.split(sign)
    a, b = losses(path(one)), losses(path(other))
    common = sorted(set(a) & set(b))
    if not common:
        return f"{what}: no common steps", False
    if not all(math.isfinite(a[s][0]) for s in a):
        return f"{one}: a loss is not finite", False
    if exact:
        wrong = [s for s in common if a[s][0] != b[s][0]]
        complete = sign == "?" or len(a) == len(b)
        text = f"{what}: the same bits in {len(common)} steps" if not wrong and complete else (
            f"{what}: {len(wrong)} of {len(common)} steps differ, the first is {wrong[0]} "
            f"({a[wrong[0]][0]!r}, {b[wrong[0]][0]!r})" if wrong else f"{what}: {len(a)} and {len(b)} steps")
        return text, sign == "?" or (not wrong and complete)
    # Adam makes differences of rounding grow.
    two, eight, all_of_them = (near([a[s][0] for s in common[:n]], [b[s][0] for s in common[:n]])
                               for n in (2, 8, len(common)))
    bounds = (3e-2, 5e-2) if "bf16" in one else (1e-4, 1e-2)
    return (f"{what}: losses differ by {two:.1g} in 2 steps, {eight:.1g} in 8, {all_of_them:.1g} in {len(common)}",
            two < bounds[0] and eight < bounds[1])


def last_words(missing):
    """What the run said whose file is missing."""
    try:
        with open(os.path.dirname(missing) + ".txt") as file:
            return [line.strip() for line in file if line.strip()][-1][:200]
    except (OSError, IndexError):
        return missing + " is missing"


def main():
    runs, state, words, good_ones = sys.argv[1], "ok", [], 0
    wanted = sys.argv[2:]
    short = wanted[:1] == ["--short"]  # the good ones are counted; the first word is said as it is
    if short:
        words.append(wanted[1])
        wanted = wanted[2:]
    for what in wanted:
        try:
            text, good = compared(runs, what)
        except FileNotFoundError as error:
            text, good = f"{what}: {last_words(error.filename)}", False
        except Exception as error:
            text, good = f"{what}: {type(error).__name__}: {error}", False
        state = state if good else "DIFFERS"
        good_ones += good
        if not (short and good):
            words.append(("" if good else "! ") + text)
        print(text)
    if short:
        words.insert(0, f"{good_ones} of {len(wanted)} as expected")
    print("RESULT", state, "; ".join(words))


main()
