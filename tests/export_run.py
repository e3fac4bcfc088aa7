#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests the tables that relascope-cli export writes of a run, CSV and JSON, and how it is asked for them; tensorboard_run.py
reads the event files.

usage: export_run.py FOLDER_OF_RELASCOPE_CLI [TEST...]        exit status 77 without NumPy
"""
import csv
import json
import os
import shutil

from run_support import WithRuns, main, said, train_small

from relascope.reading import Run


def setUpModule():
    WithRuns.begin("export")
    train_small(WithRuns.folder / "run")


class Tables(WithRuns):
    def setUp(self):
        self.path = self.folder / "run"
        self.out = self.own_folder()

    def lines(self, name):
        return [json.loads(line) for line in (self.path / name).read_text().splitlines()]

    def test_csv(self):
        said("export", self.path, "--csv", self.out / "points.csv")
        with open(self.out / "points.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        lines = self.lines("metrics.jsonl")
        self.assertEqual(len(rows), len(lines))
        for row, line in zip(rows, lines):
            self.assertEqual({key: value if key == "split" else float(value) for key, value in row.items() if value}, line)
        self.assertEqual(list(rows[0])[:5], ["split", "step", "epoch", "examples", "seconds"])

    def test_numbers_that_are_not_finite_and_an_incomplete_line(self):
        copy = self.copy_of("run")
        with open(copy / "metrics.jsonl", "w") as file:
            for step in 1, 2:
                file.write(json.dumps({"step": step, "epoch": 0.1, "examples": step, "seconds": step * 10.0, "split": "train",
                                       "loss": None if step == 2 else 1.5}) + "\n")
            file.write('{"step":5,"split":"train","loss":')
        said("export", copy, "--csv", self.out / "x.csv")
        self.assertEqual((self.out / "x.csv").read_text().splitlines(),
                         ["split,step,epoch,examples,seconds,loss", "train,1,0.1,1,10,1.5", "train,2,0.1,2,20,nan"])

    def test_json(self):
        said("export", self.path, "--json", self.out / "run.json")
        found = json.loads((self.out / "run.json").read_text())
        self.assertEqual(set(found), {"run", "info", "metrics", "events"})
        self.assertEqual((found["run"], found["info"]), ("run", Run(self.path).info))
        for name in "metrics", "events":
            self.assertEqual(found[name], self.lines(name + ".jsonl"))

    def test_several_seeds(self):
        seeds = self.out / "several"
        for seed in 0, 2, 10:
            shutil.copytree(self.path, seeds / f"seed-{seed}")
        for ending, words in (".csv", "to CSV"), (".json", "to JSON"):
            self.assertIn("several seeds; export its folders one by one " + words,
                          said("export", seeds, "--" + ending[1:], self.out / ("x" + ending), code=1))

    def test_wrong_use(self):
        self.assertIn("give --csv FILE", said("export", self.path, code=2))
        self.assertIn("must end in .csv", said("export", self.path, "--csv", self.out / "x.txt", code=2))
        self.assertIn("must end in .json", said("export", self.path, "--json", self.out / "x", code=2))
        self.assertIn("no run folder", said("export", self.out, "--json", self.out / "x.json", code=1))
        self.assertIn("nowhere", said("export", self.path, "--csv", self.out / "nowhere/x.csv", code=1))
        self.assertEqual(os.listdir(self.out), [])


if __name__ == "__main__":
    main(__doc__)
