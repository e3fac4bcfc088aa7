#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests the event files that relascope-cli writes, by export and while a run trains: TensorBoard's own reader gives back
every scalar and text point by point.

usage: tensorboard_run.py FOLDER_OF_RELASCOPE_CLI [TEST...]   exit status 77 without NumPy or TensorBoard's reader
"""
import collections
import json
import shutil
import sys
import time

from run_support import TOP, WithRuns, main, said, train_small

import numpy as np
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
    train_small(WithRuns.folder / "run", "--tensorboard", WithRuns.folder / "live")


class Exported(BoardTest):
    def setUp(self):
        self.run_read, self.out = Run(self.folder / "run"), self.own_folder()

    def test_every_number_and_text(self):
        heard = said("export", self.folder / "run", "--tensorboard", self.out)
        file, = (self.out / "run").iterdir()
        self.assertEqual(file.name, f"events.out.tfevents.{self.run_read.info['started_at']}.relascope")
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
        before = file.read_bytes()
        said("export", self.folder / "run", "--tensorboard", self.out)
        self.assertEqual(file.read_bytes(), before, "the same again")

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
        said("export", copy, "--tensorboard", self.out)
        board = read_board(self.out / "run")
        self.assertEqual([wall - began for wall in board.walls["loss/train"]], [10, 1020, 1030, 1040])
        self.assertEqual(list(map(repr, board.scalars["loss/train"].values())), ["1.5", "nan", "1.5", "1.5"])
        self.assertEqual([(step, text) for step, _, text in board.texts["notes"]],
                         [(1, "    a | b\n    c"), (2, "    warning: w"), (4, "    edit: e")])
        self.assertEqual(board.texts["generated text"], [(3, began + 1030, "    # Once\n    upon")])


class Live(BoardTest):
    def test_every_number_of_a_run_that_trained_with_it(self):
        run, board = Run(self.folder / "run"), read_board(self.folder / "live/run")
        self.check_scalars(board, run)
        self.assertEqual(len(board.texts["options"]), 1)
        self.assertEqual(set(board.texts), {"options"})
        self.assertTrue(all(abs(wall - time.time()) < 3600 for walls in board.walls.values() for wall in walls))
        file, = (self.folder / "live/run").iterdir()
        heard = said("export", self.folder / "run", "--tensorboard", self.folder / "live", code=1)
        self.assertIn("already holds the events " + file.name, heard)
        self.assertEqual(list((self.folder / "live/run").iterdir()), [file])

    def test_a_resumed_run_has_no_step_twice(self):
        copy, board = self.copy_of("run"), self.own_folder()
        shutil.copytree(self.folder / "live/run", board / "run")
        for attempt in 1, 2:  # the first is lost: as after a kill, the run is where its checkpoint was
            began = int(time.time())
            said("train", "--resume", copy, "--steps", 14, "--threads", 1, "--tensorboard", board, "--json")
            self.assertEqual(len(list((board / "run").iterdir())), 1 + attempt)
            if attempt == 1:
                lost = Run(copy).metrics()["loss"][-1]
                shutil.rmtree(copy)
                shutil.copytree(self.folder / "run", copy)
            while int(time.time()) == began:  # files have the seconds in their names, and are read in that order
                time.sleep(0.01)
        run, found = Run(copy), read_board(board / "run")
        self.check_scalars(found, run, earlier={10: Run(self.folder / "run").info["results"]})
        self.assertEqual(found.scalars["loss/train"][14], float(np.float32(lost)), "the same steps, bit for bit")

    def test_a_run_that_is_only_followed_from_a_later_step(self):
        copy, board = self.copy_of("run"), self.own_folder()
        said("train", "--resume", copy, "--steps", 12, "--threads", 1, "--tensorboard", board)
        self.check_scalars(read_board(board / "run"), Run(copy), first=11)

    def test_a_folder_that_cannot_be_written_stops_before_training(self):
        out = self.own_folder()
        (out / "file").write_text("")
        heard = said("train", "quick", "--steps", 2, "--out", out / "never", "--tensorboard", out / "file", code=1)
        self.assertIn(str(out / "file"), heard)
        self.assertFalse((out / "never").exists())


if __name__ == "__main__":
    main(__doc__)
