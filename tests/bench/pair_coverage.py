#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often the 95 % intervals of pair accuracy hold the truth where pairs differ in few words.

pair_coverage.py BIN MODEL [DRAWS]: draws (64) sets of 60 minimal pairs, each with the same few words that decide, and
lets the model of a run or checkpoint score them. The truth is its accuracy on all words. Beside the share of intervals
that hold it stands that of the exact interval of independent pairs (Clopper and Pearson 1934).
"""
import json
import random
import subprocess
import sys
import tempfile

from coverage import exact  # beside this file

PAIRS, TRUTH = 60, 6000
NOUNS = ("hacker user programmer writer author reader manager student player wizard expert customer program file message "
         "command book word line language system computer machine network terminal man boy king father woman girl queen "
         "mother teacher doctor driver farmer singer painter builder baker dealer hunter keeper leader lender").split()
VERBS = "knows likes helps sees needs finds reads uses fixes makes changes opens".split()
PLACES = "near behind with beside before after".split()


def pair(random_, words, uid):
    """A sentence in which one of two nouns is right: which one is drawn, so that only the model decides."""
    good, bad = random_.choice(words)
    sentence = "The {} {} the {} {} the %s.".format(random_.choice(NOUNS), random_.choice(VERBS), random_.choice(NOUNS),
                                                   random_.choice(PLACES))
    return {"sentence_good": sentence % good, "sentence_bad": sentence % bad, "UID": uid}


def pair_accuracy(binary, model, draws=64):
    """A row for each number of sets of words: the truth and how many intervals hold it, in percent."""
    random_ = random.Random(1)
    sets = [tuple(random_.sample(NOUNS, 2)) for _ in range(400)]
    rows = []
    for words in (3, 6, 8, 16, 60):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            lines = [pair(random_, sets, "truth") for _ in range(TRUTH)]
            for draw in range(draws):
                few = random_.sample(sets, words)
                lines += [pair(random_, few, "draw %d" % draw) for _ in range(PAIRS)]
            for line in lines:
                file.write(json.dumps(line) + "\n")
            file.flush()
            ran = subprocess.run([binary, "eval", "--json", model, "--pairs", file.name, "--untrained", "0"],
                                 capture_output=True, text=True, check=True)
        found = {row["phenomenon"]: row for row in json.loads(ran.stdout)["phenomena"]}
        truth = found.pop("truth")["pair_accuracy"]
        held = sum(row["low"] <= truth <= row["high"] for row in found.values())
        plain = 0
        for row in found.values():
            low, high = exact(int(row["right"]), int(row["pairs"]))
            plain += low <= truth <= high
        rows.append((words, truth, 100.0 * held / draws, 100.0 * plain / draws))
    return rows


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    print("| Sets of words | Accuracy on all words | Interval holds | Of independent pairs |\n|---|---|---|---|")
    for words, truth, held, plain in pair_accuracy(sys.argv[1], sys.argv[2], int((sys.argv + [64])[3])):
        print("| %d | %.3f | %.0f %% | %.0f %% |" % (words, truth, held, plain))


if __name__ == "__main__":
    main()
