#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Opens what versions have left behind: tests/fixtures/versions (a run, a checkpoint in two forms, a study and a view of
each, made by make_version.sh) and the runs of earlier ones in tests/fixtures/runs (make_old_runs.sh; tests/core/old_runs_test.cpp
resumes those).

usage: versions.py FOLDER_OF_PROGRAMS
"""
import contextlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
FIXTURES = TOP / "tests/fixtures"
CLI = pathlib.Path()


class Versions(unittest.TestCase):
    def ask(self, *words):
        done = subprocess.run([str(CLI), *map(str, words)], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stderr}")
        return done.stdout

    @contextlib.contextmanager
    def copied(self, folder):
        with self.subTest(folder=folder.relative_to(FIXTURES)), tempfile.TemporaryDirectory(prefix="relascope-versions-") as work:
            self.folder = pathlib.Path(work)
            yield pathlib.Path(shutil.copytree(folder, self.folder / "copy"))

    def test_runs_of_every_version_open(self):
        folders = sorted(FIXTURES.glob("runs/*/*"))
        self.assertGreaterEqual(len(folders), 30)
        for folder in folders:
            with self.copied(folder) as run:
                stored = json.loads((run / "run.json").read_text())
                self.assertEqual(json.loads(self.ask("info", run, "--json"))["step"], stored["step"])

    def test_everything_of_a_version_opens(self):
        folders = sorted(FIXTURES.glob("versions/*"))
        self.assertGreaterEqual(len(folders), 1)
        for folder in folders:
            with self.copied(folder) as kept:
                self.open_all(kept)

    def open_all(self, kept):
        run, study = kept / "run", kept / "study"
        self.assertEqual(json.loads(self.ask("info", run, "--json"))["step"], 3)
        self.assertTrue(json.loads(self.ask("eval", run, "--json")))
        steps = {self.ask("inspect", run, "--sample", "1", "--step", step, "--json") for step in ("0", "3")}
        self.assertEqual(len(steps), 2)
        maps = {self.ask("inspect", kept / name, "--random", "1", "--json").replace(str(kept / name), "") for name in
                ("checkpoint.safetensors", "checkpoint.pt")}
        self.assertEqual(len(maps), 1)
        table = json.loads(self.ask("study", "--out", study, "--show", "--json"))
        self.assertEqual([cell["state"] for cell in table["cells"]], ["done", "done"])
        self.ask("draw", kept / "map.relaview", "--out", self.folder / "map.csv")
        self.assertEqual(len((self.folder / "map.csv").read_text().splitlines()), 11)
        self.ask("train", "--resume", run, "--steps", "5", "--threads", "1")
        losses = [[(line["step"], line["loss"]) for line in map(json.loads, text.read_text().splitlines()) if "loss" in line]
                  for text in (run / "metrics.jsonl", kept / "resumed.jsonl")]
        self.assertEqual([step for step, _ in losses[0]], [step for step, _ in losses[1]])
        for (step, now), (_, then) in zip(*losses):
            self.assertAlmostEqual(now, then, delta=1e-4, msg=f"step {step}")


if __name__ == "__main__":
    CLI = pathlib.Path(sys.argv.pop(1)).resolve() / "relascope-cli"
    unittest.main(verbosity=1)
