#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often the program's 95 % intervals cover: of many sets of other images, the share whose interval holds the number of one large set.

usage: coverage.py BIN RUN [--sets 64] [--images 250] [--truth 6000] [--tables contrast,atlas,...] [--each]
       coverage.py BIN MODEL --tables pairs [--sets 64]

BIN is relascope-cli, RUN the folder of a run of Relational Games; where there is none, the quick preset is trained there (seed 7).
Each set is drawn by a data seed of its own. `--each` prints every number, not only the lines of the tables. Numbers that are
measured with the truth of a sample, as the largest of several, have no place here: each is one that was asked for by name.

With `--tables pairs` MODEL is a run or checkpoint of a language model: sets of 60 minimal pairs, each with the same few words that
decide, beside its accuracy on all words.
"""
import argparse
import concurrent.futures
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile

FIRST_SEED = 5000  # of the sets; runs have seeds below
LEAST_SHARE = 0.02  # of a pair of parts that a line is about
LEAST_CHANGED = 4  # answers that an edit changes; below, the interval is exact and covers more


def answer(binary, *arguments):
    done = subprocess.run([binary, *arguments, "--json", "--threads", "1"], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(arguments)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def maps(run):
    """Layers of the model, and how many relations each has."""
    model = json.load(open(f"{run}/run.json"))["options"]["model"]
    return model["n_layers"], max(1, model.get("n_relations", 1))


# Each table: {(line, number): (value, low, high)} of a run and so many of its validation images.


def contrast(binary, run, images):
    found = {}
    layers, relations = maps(run)
    for layer in range(1, layers + 1):
        for index in range(1, relations + 1):
            said = answer(binary, "contrast", run, "--split", "validation", "--layer", str(layer), "--kind", "relation", "--index", str(index),
                          "--attribute", "same object", "--examples", str(images), "--untrained", "0")
            place = f"relation {index} of layer {layer}"
            found[f"contrast, layer {layer}: difference", place] = said["difference"], said["low"], said["high"]
            for side in said["sides"]:
                found[f"contrast, layer {layer}: sums of sides", f"{place}: {side['side']}"] = side["sum"], side["low"], side["high"]
            for part in said["parts"]:
                line = "pairs of parts" if part["side"] == "both" else "receiver, sender"
                name = f"{place}: {part['side']} {part['i']} x {part['j']}"
                found[f"contrast, layer {layer}: {line}", name] = part["share"], part["low"], part["high"]
            for fact in said["facts"]:
                rest = "rest x rest" if fact["i"] == fact["j"] == "rest" else "facts x facts" if "rest" not in (fact["i"], fact["j"]) else "facts x rest"
                found[f"contrast, layer {layer}: {rest}", f"{place}: {fact['i']} x {fact['j']}"] = fact["share"], fact["low"], fact["high"]
    return found


def atlas(binary, run, images):
    said = answer(binary, "atlas", run, "--split", "validation", "--examples", str(images), "--untrained", "0", "--use-examples", "0")
    return {("atlas: AUC", f"{fit['relation']}: {fit['attribute']}"): (fit["auc"], fit["low"], fit["high"]) for fit in said["fits"] if fit["low"] is not None}


def ablate(binary, run, images):
    said = answer(binary, "ablate", run, "--split", "validation", "--examples", str(images), "--how", "zero")
    return {("ablate: change of accuracy", f"{row['part']} {row['how']}"): (row["change"], row["low"], row["high"])
            for row in said["rows"] if row["changed_answers"] * images >= LEAST_CHANGED}


def edits(binary, run, images):
    found = {}
    layers, _ = maps(run)
    for layer in range(1, layers + 1):
        for words in (f"layer {layer} relation 1 zero", f"layer {layer} attention zero", f"layer {layer} relational head 1 mean"):
            said = answer(binary, "eval", run, "--split", "validation", "--examples", str(images), "--edit", words)
            if said["changed_answers"] * images >= LEAST_CHANGED:
                found["eval --edit: change of accuracy", words] = said["change"]["accuracy"], *said["interval"]["accuracy"]
    return found


TABLES = {"contrast": contrast, "atlas": atlas, "ablate": ablate, "eval": edits}


def with_data(run, folder, seed, images):
    """The run with other validation images: its weights, and options of its own."""
    about = json.load(open(f"{run}/run.json"))
    about["options"]["data"].update(seed=seed, validation_size=images)
    os.mkdir(folder)
    json.dump(about, open(f"{folder}/run.json", "w"))
    for name in os.listdir(run):
        if name not in ("run.json", "captures", ".lock"):
            os.symlink(os.path.abspath(f"{run}/{name}"), f"{folder}/{name}")
    return folder


def exact(k, n):
    """Clopper and Pearson's 95 % interval of k of n, by bisection."""
    def tail(p, at_least):
        terms = (math.comb(n, j) * p**j * (1 - p)**(n - j) for j in (range(k, n + 1) if at_least else range(k + 1)))
        return sum(terms)

    def solve(at_least):
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if (tail(middle, at_least) < 0.025) == at_least else (low, middle)
        return low
    return (solve(True) if k > 0 else 0.0), (solve(False) if k < n else 1.0)


def report(truth, sets, each):
    """The lines of the tables: how many numbers, how often their intervals hold the truth, the extremes of single numbers, the mean
    width over 3.92 standard deviations of the numbers of the sets, and their largest bias in standard deviations."""
    lines = {}
    for key, (value, _, _) in truth.items():
        line, name = key
        if line.endswith("parts") or line.endswith("sender") or line.endswith("rest"):
            if abs(value) < LEAST_SHARE:
                continue
        seen = [one[key] for one in sets if key in one]
        if len(seen) < len(sets) // 2:
            continue
        held = sum(low <= value <= high for _, low, high in seen)
        spread = statistics.stdev(v for v, _, _ in seen)
        width = statistics.mean(high - low for _, low, high in seen) / (3.92 * spread) if spread > 0 else math.nan
        bias = (statistics.mean(v for v, _, _ in seen) - value) / spread if spread > 0 else 0.0
        lines.setdefault(line, []).append((name, held, len(seen), width, bias, value))
    print("| Numbers | How many | Covers | Single numbers | Width / should be | Largest bias / s.d. |")
    print("|---|---|---|---|---|---|")
    for line, rows in lines.items():
        held, of = sum(row[1] for row in rows), sum(row[2] for row in rows)
        single = [row[1] / row[2] for row in rows]
        # The numbers of one set go together, so that the exact interval is that of one number.
        low, high = exact(round(held / len(rows)), round(of / len(rows)))
        print(f"| {line} | {len(rows)} | {100 * held / of:.1f} % [{100 * low:.0f}, {100 * high:.0f}] | {100 * min(single):.0f} to {100 * max(single):.0f} % | "
              f"{statistics.mean(row[3] for row in rows):.2f} | {max((row[4] for row in rows), key=abs):+.2f} |")
        for name, k, n, width, bias, value in rows if each else ():
            print(f"|   {name} ({value:.4f}) | | {100 * k / n:.0f} % | | {width:.2f} | {bias:+.2f} |")
    return lines


PAIRS, PAIRS_OF_TRUTH = 60, 6000
NOUNS = ("hacker user programmer writer author reader manager student player wizard expert customer program file message command book word "
         "line language system computer machine network terminal man boy king father woman girl queen mother teacher doctor driver farmer "
         "singer painter builder baker dealer hunter keeper leader lender").split()
VERBS = "knows likes helps sees needs finds reads uses fixes makes changes opens".split()
PLACES = "near behind with beside before after".split()


def pair(draws, words, phenomenon):
    """A sentence in which one of two nouns is called right: only the model's preferences decide."""
    good, bad = draws.choice(words)
    start = f"The {draws.choice(NOUNS)} {draws.choice(VERBS)} the {draws.choice(NOUNS)} {draws.choice(PLACES)} the "
    return {"sentence_good": f"{start}{good}.", "sentence_bad": f"{start}{bad}.", "UID": phenomenon}


def pair_accuracy(binary, model, sets):
    """Of each number of sets of words how many intervals hold the accuracy on all words, and how many of independent pairs would."""
    draws = random.Random(1)
    words = [tuple(draws.sample(NOUNS, 2)) for _ in range(400)]
    print("| Sets of words | Accuracy on all words | Covers | Of independent pairs |\n|---|---|---|---|")
    for few in (3, 6, 8, 16, 60):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            lines = [pair(draws, words, "truth") for _ in range(PAIRS_OF_TRUTH)]
            for k in range(sets):
                chosen = draws.sample(words, few)
                lines += [pair(draws, chosen, f"set {k}") for _ in range(PAIRS)]
            file.writelines(json.dumps(line) + "\n" for line in lines)
            file.flush()
            rows = {row["phenomenon"]: row for row in answer(binary, "eval", model, "--pairs", file.name, "--untrained", "0")["phenomena"]}
        truth = rows.pop("truth")["pair_accuracy"]
        held = sum(row["low"] <= truth <= row["high"] for row in rows.values())
        ends = [exact(int(row["right"]), int(row["pairs"])) for row in rows.values()]
        print(f"| {few} | {truth:.3f} | {100 * held / sets:.0f} % | {100 * sum(low <= truth <= high for low, high in ends) / sets:.0f} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("run")
    parser.add_argument("--sets", type=int, default=64)
    parser.add_argument("--images", type=int, default=250)
    parser.add_argument("--truth", type=int, default=6000)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--each", action="store_true")
    options = parser.parse_args()
    binary, run = os.path.abspath(options.binary), os.path.abspath(options.run)
    if options.tables == "pairs":
        pair_accuracy(binary, run, options.sets)
        return 0
    chosen = [TABLES[name] for name in options.tables.split(",")]
    if not os.path.exists(f"{run}/run.json"):
        subprocess.run([binary, "train", "quick", "--seed", "7", "--out", run], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as folder:

        def measure(seed, images):
            place = with_data(run, f"{folder}/{seed}", seed, images)
            found = {}
            for table in chosen:
                found.update(table(binary, place, images))
            return found
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            large = pool.submit(measure, FIRST_SEED - 1, options.truth)
            sets = [pool.submit(measure, FIRST_SEED + k, options.images) for k in range(options.sets)]
            report(large.result(), [one.result() for one in sets], options.each)
    return 0


if __name__ == "__main__":
    sys.exit(main())
