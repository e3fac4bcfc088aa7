#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the program says of models that learned nothing: a table of how many of them got which word.

usage: nothing_learned.py BIN FOLDER [--fresh 40] [--trained 8]

BIN is relascope-cli; the runs are made in FOLDER, where they are not there yet. The uses of parts are measured of the first TRAINED of each
kind. Models with fresh weights are runs of a step with a learning rate of almost 0 that keep no step 0, so that nothing tells the program
that they are fresh: half are dual attention of Relational Games, half its Abstractors, of eight heads. The others are trained on permuted labels, and on
images of noise. Needs NumPy.
"""
import argparse
import collections
import json
import os
import subprocess

import numpy as np

from coverage import exact  # beside this file

SIZES = ["data.train_size=500", "data.validation_size=1000", "data.test_size=100"]
WORDS = ["needed", "misleading", "harmful", "needed together"]


def call(binary, *arguments, **options):
    done = subprocess.run([binary, *arguments], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def train(binary, folder, seed, arguments, settings):
    if not os.path.exists(f"{folder}/run.json"):
        call(binary, "train", *arguments, "--seed", str(seed), "--out", folder, *[word for one in settings for word in ("--set", one)])
    return folder


def fresh(binary, folder, count):
    """Runs whose weights are those that they began with."""
    still = ["train.learning_rate=1e-30", "train.warmup_steps=0", "train.keep_mib=0"]
    for k in range(count):
        abstractor = ["relational-games-occurs", "--model", "abstractor"]
        wide = ["model.n_relations=4"] if k % 4 == 0 else []
        arguments, more = (abstractor, ["model.n_heads_sa=8"]) if k % 2 else (["quick"], wide)
        yield train(binary, f"{folder}/fresh-{k}", 900 + k, [*arguments, "--steps", "1"], [*still, *SIZES, *more])


def images(binary, folder, kind):
    """A folder of Relational Games whose labels have nothing to do with the images."""
    there = f"{folder}/{kind}"
    if not os.path.exists(f"{there}/occurs_pentos.npz"):
        os.makedirs(there, exist_ok=True)
        call(binary, "data", "relational-games-occurs", "--split", "train", "--set", "data.train_size=2000", "--count", "2000", "--out", f"{there}/all.npz")
        data = np.load(f"{there}/all.npz")
        random = np.random.default_rng(3)
        pictures = data["images"] if kind == "permuted" else random.integers(0, 256, data["images"].shape, dtype=np.uint8)
        np.savez(f"{there}/occurs_pentos.npz", images=pictures, labels=random.permutation(data["labels"]))
    return there


def trained(binary, folder, kind, count):
    data = images(binary, folder, kind)
    for k in range(count):
        yield train(binary, f"{folder}/{kind}-{k}", 700 + k, ["quick"], [*SIZES, f"data.path={data}", "train.epochs=25"])


def count(binary, run, counted, uses):
    counted["models"] += 1
    atlas = json.loads(call(binary, "atlas", run, "--json", *([] if uses else ["--use-examples", "0"])))
    counted["learned"] += any(one["origin"] == "learned" for one in atlas["relations"])
    if not uses:
        return
    counted["models with uses"] += 1
    for word in WORDS:
        counted["atlas: " + word] += any(one["use"].startswith(word) for one in atlas["relations"])
    scan = json.loads(call(binary, "scan", run, "--seconds", "20", "--json"))
    for word in WORDS:
        counted["scan: " + word] += any(one["use"] == word for one in scan["parts"])
    counted["scan: findings"] += len(scan["findings"]) > 0
    counted["guard"] += any(line["text"].startswith("The model answers no better") for line in scan["not_found"])
    table = json.loads(call(binary, "ablate", run, "--examples", "500", "--json"))
    for word in WORDS:
        counted["ablate: " + word] += any(row["use"] == word for row in table["rows"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary"), parser.add_argument("folder")
    parser.add_argument("--fresh", type=int, default=40), parser.add_argument("--trained", type=int, default=8)
    o = parser.parse_args()
    os.makedirs(o.folder, exist_ok=True)
    tables = {}
    for name, runs in (("fresh", fresh(o.binary, o.folder, o.fresh)),
                       ("permuted labels", trained(o.binary, o.folder, "permuted", o.trained)),
                       ("noise", trained(o.binary, o.folder, "noise", o.trained))):
        tables[name] = collections.Counter()
        for number, run in enumerate(runs):
            count(o.binary, run, tables[name], number < o.trained)
    lines = ["models", "learned", "models with uses", "guard", "scan: findings"] + [f"{of}: {word}" for of in ("scan", "atlas", "ablate") for word in WORDS]
    print("| | " + " | ".join(tables) + " |\n|---|" + "---|" * len(tables))
    for line in lines:
        cells = []
        for table in tables.values():
            of = table["models" if line == "learned" else "models with uses"]
            if of == 0:
                cells.append("")
                continue
            low, high = exact(table[line], of)
            cells.append(str(table[line]) if line.startswith("models") else f"{table[line]} [{100 * low:.0f}, {100 * high:.0f} %]")
        print(f"| {line} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
