#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests the event files that `python3 -m relascope tensorboard` writes, of runs that have ended and of one that it follows:
TensorBoard's own reader gives back every scalar and text point by point.

usage: tensorboard_run.py FOLDER_OF_RELASCOPE_CLI [TEST...]   exit status 77 without NumPy or TensorBoard's reader
"""
import collections
import contextlib
import io
import json
import shutil
import sys
import threading
import time
import unittest.mock

from run_support import TOP, WithRuns, main, train_small

import numpy as np
from relascope import __main__ as shell, tensorboard
from relascope.reading import Run

sys.path.insert(0, str(TOP / ".venv/share/relascope/tensorboard"))
try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util import tb_logging
except ImportError as problem:
    print(f"{problem}; bash app/setup.sh installs TensorBoard's reader")
    sys.exit(77)
tb_logging.get_logger().setLevel("ERROR")

Board = collections.namedtuple("Board", "scalars texts walls")


def read_board(folder):
    """What TensorBoard reads of a run: {tag: {step: value}} of each kind; no step twice."""
    events = EventAccumulator(str(folder), {"scalars": 0, "tensors": 0})
    events.Reload()

    def gathered(kind, read, value):
        found = {}
        for tag in events.Tags()[kind]:
            points = read(tag)
            found[tag] = {point.step: value(point) for point in points}
            assert len(found[tag]) == len(points), f"{tag} has a step twice"
            assert list(found[tag]) == sorted(found[tag]), f"{tag} is not in the order of its steps"
        return found
    scalars = gathered("scalars", events.Scalars, lambda point: point.value)
    walls = {tag: [point.wall_time for point in events.Scalars(tag)] for tag in scalars}
    texts = {tag: [(t.step, t.wall_time, t.tensor_proto.string_val[0].decode()) for t in events.Tensors(tag)]
             for tag in events.Tags()["tensors"]}
    for tag in texts:
        assert events.SummaryMetadata(tag).plugin_data.plugin_name == "text"
    return Board(scalars, texts, walls)


def written(*words, code=0):
    """What the command says on stderr."""
    heard = io.StringIO()
    with contextlib.redirect_stderr(heard):
        assert shell.main(["tensorboard", *map(str, words)]) == code, heard.getvalue()
    return heard.getvalue()


class BoardTest(WithRuns):
    def check_scalars(self, board, run, first=0, earlier={}):
        """They are the metrics and results of the run, and earlier results of it by their steps, no more and no fewer."""
        wanted = collections.defaultdict(dict)
        for split in "train", "validation", "test":
            metrics = run.metrics(split)
            for name, values in metrics.items():
                if name in ("step", "epoch", "examples", "seconds"):
                    continue
                for step, value in zip(metrics["step"].tolist(), values):
                    if step >= first:
                        wanted[f"{name}/{split}"][step] = float(np.float32(value))
        for step, results in {**earlier, run.info["step"]: run.info["results"]}.items():
            for result in results:
                for name, value in result.items():
                    if name not in ("split", "examples"):
                        wanted[f"{name}/{result['split']}"][step] = float(np.float32(value))
        found = board.scalars
        self.assertEqual(repr(sorted(found.items())), repr(sorted(wanted.items())))
        self.assertGreater(sum(map(len, found.values())), 10)


def setUpModule():
    WithRuns.begin("tensorboard")
    train_small(WithRuns.folder / "run")


class Exported(BoardTest):
    def setUp(self):
        self.run_read, self.out = Run(self.folder / "run"), self.own_folder()

    def test_every_number_and_text(self):
        heard = written(self.folder / "run", "--logdir", self.out)
        file, = (self.out / "run").iterdir()
        self.assertTrue(file.name.startswith("events.out.tfevents.") and file.name.endswith(".relascope"), file)
        board = read_board(self.out / "run")
        self.check_scalars(board, self.run_read)
        self.assertEqual(heard, f"wrote {file}\n")
        (step, _, table), = board.texts["options"]
        rows = dict(line.strip("| ").split(" | ") for line in table.splitlines()[2:] if line.count(" | ") == 1 and
                    not line.endswith(" |  |"))
        self.assertEqual((step, rows["model.d_model"], rows["preset"], rows["train.batch_size"]), (0, "16", "quick", "16"))
        self.assertEqual(rows["parameters"], str(self.run_read.info["parameters"]))
        self.assertNotIn("notes", board.texts)
        began = self.run_read.info["started_at"]
        for split in "train", "validation":
            walls = board.walls["loss/" + split]
            self.assertEqual(walls, sorted(walls))
            for wall, seconds in zip(walls, self.run_read.metrics(split)["seconds"]):
                self.assertTrue(began + seconds <= wall <= began + seconds + 20)
        written(self.folder / "run", "--logdir", self.out)
        self.assertEqual(len(list((self.out / "run").iterdir())), 1, "the same again replaces it")
        self.assertNotEqual(list((self.out / "run").iterdir()), [file])
        self.check_scalars(read_board(self.out / "run"), self.run_read)

    def test_pauses_notes_and_numbers_that_are_not_finite(self):
        copy = self.copy_of("run")
        shutil.rmtree(copy / "captures")
        began = Run(copy).info["started_at"]
        with open(copy / "metrics.jsonl", "w") as file:
            for step in range(1, 5):
                file.write(json.dumps({"step": step, "epoch": 0.1, "examples": step, "seconds": step * 10.0,
                                       "split": "train", "loss": None if step == 2 else 1.5}) + "\n")
            file.write('{"step":5,"split":"train","loss":')
        events = [{"step": 1, "time": began + 10, "level": "info", "text": "a | b\nc"},
                  {"step": 2, "time": began + 1020, "level": "warning", "text": "w"},
                  {"step": 2, "time": began + 1020, "level": "checkpoint", "text": "checkpoint"},
                  {"step": 3, "time": began + 1030, "level": "sample", "text": "# Once\nupon"},
                  {"step": 4, "time": began + 1040, "level": "edit", "text": "e"}]
        (copy / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events) + "{")
        written(copy, "--logdir", self.out)
        board = read_board(self.out / "run")
        self.assertEqual([wall - began for wall in board.walls["loss/train"]], [10, 1020, 1030, 1040])
        self.assertEqual(list(map(repr, board.scalars["loss/train"].values())), ["1.5", "nan", "1.5", "1.5"])
        self.assertEqual([(step, text) for step, _, text in board.texts["notes"]],
                         [(1, "    a | b\n    c"), (2, "    warning: w"), (4, "    edit: e")])
        self.assertEqual(board.texts["generated text"], [(3, began + 1030, "    # Once\n    upon")])


    def test_several_seeds_and_several_runs(self):
        seeds = self.out / "several"
        for seed in 10, 0, 2:
            shutil.copytree(self.folder / "run", seeds / f"seed-{seed}")
        heard = written(seeds, self.folder / "run", "--logdir", self.out / "board").splitlines()
        self.assertEqual([line.split("/")[-2] for line in heard], ["seed-0", "seed-2", "seed-10", "run"])
        for name in "several/seed-0", "several/seed-2", "several/seed-10", "run":
            self.check_scalars(read_board(self.out / "board" / name), self.run_read)

    def test_what_is_refused(self):
        strange = self.out / "board/run"
        strange.mkdir(parents=True)
        (strange / "events.out.tfevents.1.other").write_text("")
        heard = written(self.folder / "run", "--logdir", self.out / "board", code=1)
        self.assertIn("already holds the events events.out.tfevents.1.other; remove them", heard)
        self.assertEqual(len(list(strange.iterdir())), 1)
        (self.out / "file").write_text("")
        self.assertIn(str(self.out / "file"), written(self.folder / "run", "--logdir", self.out / "file", code=1))
        self.assertIn("no run folder", written(self.out, "--logdir", self.out / "board", code=1))
        with unittest.mock.patch.dict(sys.modules, {"tensorboard.summary.writer.event_file_writer": None}):
            self.assertIn("pip install tensorboard", written(self.folder / "run", "--logdir", self.out / "none", code=1))
        self.assertFalse((self.out / "none").exists())


class Followed(BoardTest):
    """A run that is written line by line while it is followed."""
    def setUp(self):
        self.run, self.board = self.copy_of("run"), self.own_folder()
        self.lines = (self.run / "metrics.jsonl").read_text().splitlines(keepends=True)
        self.facts = json.loads((self.run / "run.json").read_text())
        self.stand(self.lines[:6], "running")
        patched = unittest.mock.patch.object(tensorboard, "_SECONDS_BETWEEN_LOOKS", 0.01)
        patched.start()
        self.addCleanup(patched.stop)

    def stand(self, lines, state):
        """The run as it is with those points; files are replaced as a run replaces them."""
        for name, text in ("metrics.jsonl", "".join(lines)), ("run.json", json.dumps({**self.facts, "state": state})):
            (self.run / "new").write_text(text)
            (self.run / "new").rename(self.run / name)

    def follow(self):
        problems = []

        def work():
            try:
                tensorboard.write([self.run], self.board, follow=True)
            except Exception as problem:
                problems.append(problem)
        thread = threading.Thread(target=work)
        thread.start()
        self.addCleanup(lambda: self.assertEqual(problems, []))
        self.addCleanup(thread.join)
        return thread

    def await_points(self, count):
        """Until TensorBoard's reader sees so many scalars of the training split."""
        for _ in range(500):
            folder = self.board / "run"
            found = read_board(folder).scalars.get("loss/train", {}) if folder.is_dir() and list(folder.iterdir()) else {}
            if len(found) == count:
                return
            time.sleep(0.02)
        self.fail(f"{count} points are not there")

    def trained(self, lines):
        return sum(json.loads(line)["split"] == "train" for line in lines)

    def test_every_number_of_a_run_that_ends(self):
        thread = self.follow()
        self.await_points(self.trained(self.lines[:6]))
        self.stand(self.lines[:9] + ["{\"step\""], "running")
        self.await_points(self.trained(self.lines[:9]))
        self.assertTrue(thread.is_alive())
        self.stand(self.lines, self.facts["state"])
        thread.join(20)
        self.assertFalse(thread.is_alive())
        board = read_board(self.board / "run")
        self.check_scalars(board, Run(self.run))
        self.assertEqual(len(board.texts["options"]), 1)

    def test_a_run_that_is_resumed_from_an_earlier_step_has_no_step_twice(self):
        thread = self.follow()
        self.await_points(self.trained(self.lines[:6]))
        fewer = [line for line in self.lines if json.loads(line)["step"] <= 1]
        self.assertLess(len(fewer), 6)
        others = [json.dumps({**json.loads(line), "loss": 7.5}) + "\n" for line in self.lines[len(fewer):]]
        self.stand(fewer, "running")
        self.await_points(self.trained(fewer))
        self.stand(fewer + others, self.facts["state"])
        thread.join(20)
        self.check_scalars(read_board(self.board / "run"), Run(self.run))
        self.assertEqual(read_board(self.board / "run").scalars["loss/train"][2], 7.5)


if __name__ == "__main__":
    main(__doc__)
