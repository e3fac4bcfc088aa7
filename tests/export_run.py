#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests what relascope-cli writes for other programs: event files of TensorBoard (by export, and while a run trains), CSV
and JSON are read back point by point. The reader of event files here is one of its own: frames, checksums and protobuf
fields are checked against the format, not against our writer.

usage: export_run.py FOLDER_OF_RELASCOPE_CLI [TEST...]        exit status 77 without NumPy
"""
import collections
import csv
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "resources/python"))
sys.dont_write_bytecode = True
try:
    import numpy as np
except ModuleNotFoundError:
    print(f"{sys.executable} has no NumPy; bash app/setup.sh installs it for Debian's Python")
    sys.exit(77)
from relascope_run import Run

CLI = ""
SMALL = ("model.d_model=16", "model.dff=16", "data.train_size=64", "data.validation_size=32", "data.test_size=32",
         "train.batch_size=16", "train.keep_mib=0")


def crc32c(data):
    """Bit by bit: the remainder of the reflected polynomial 0x1EDC6F41."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def fields(data):
    """{field number: [values]} of a protobuf message; numbers as their bytes but varints."""
    found, at = collections.defaultdict(list), 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            found[key >> 3].append(varint())
            continue
        size = {1: 8, 5: 4}.get(key & 7) or varint()
        assert key & 7 in (1, 2, 5) and at + size <= len(data)
        found[key >> 3].append(data[at:at + size])
        at += size
    return found


Point = collections.namedtuple("Point", "tag step wall value")


def read_events(path):
    """Every value of an event file: numbers of scalars, strings of texts."""
    data, at, found = pathlib.Path(path).read_bytes(), 0, []
    while at < len(data):
        length, crc = struct.unpack_from("<QI", data, at)
        assert crc == masked(data[at:at + 8]), "checksum of a length"
        event = data[at + 12:at + 12 + length]
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked(event), "checksum of an event"
        parts, first = fields(event), at == 0
        at += 16 + length
        wall = struct.unpack("<d", parts[1][0])[0]
        assert parts[3] == ([b"brain.Event:2"] if first else [])
        if parts[7]:
            assert parts[7] == [b"\x08\x01"]
            found.append(Point("start", parts[2][0], wall, ""))
        for value in fields(parts[5][0])[1] if parts[5] else []:
            value = fields(value)
            if value[2]:
                content = struct.unpack("<f", value[2][0])[0]
            else:
                tensor, metadata = fields(value[8][0]), fields(value[9][0])
                assert tensor[1] == [7] and fields(tensor[2][0])[2] == [b"\x08\x01"]
                assert fields(metadata[1][0])[1] == [b"text"] and metadata[4] == [2]
                content = tensor[8][0].decode()
            found.append(Point(value[1][0].decode(), parts[2][0], wall, content))
    return found


def cli(*words, code=0):
    done = subprocess.run([CLI, *map(str, words)], capture_output=True, text=True)
    if done.returncode != code:
        raise AssertionError(f"relascope-cli {words}: {done.returncode}, {done.stderr}")
    return done.stderr


def train(out, *words, preset="quick"):
    settings = [word for each in SMALL if preset == "quick" for word in ("--set", each)]
    cli("train", preset, *settings, "--steps", 10, "--device", "cpu", "--threads", 1, "--out", out, *words)


def setUpModule():
    Exports.folder = pathlib.Path(tempfile.mkdtemp(prefix="relascope-export-"))
    unittest.addModuleCleanup(shutil.rmtree, Exports.folder)
    train(Exports.folder / "run", "--tensorboard", Exports.folder / "live")


class Exports(unittest.TestCase):
    folder = pathlib.Path()

    def setUp(self):
        self.path = self.folder / "run"
        self.run_read = Run(self.path)
        self.out = pathlib.Path(tempfile.mkdtemp(dir=self.folder))

    def event_files(self, folder):
        return sorted(folder.glob("events.out.tfevents.*"))

    def check_scalars(self, points, run):
        """The scalars are the metrics and results of the run, in float32, no more and no fewer."""
        wanted = []
        for split in "train", "validation", "test":
            metrics = run.metrics(split)
            for name, values in metrics.items():
                if name not in ("step", "epoch", "examples", "seconds"):
                    wanted += [(f"{name}/{split}", step, np.float32(value)) for step, value in zip(metrics["step"], values)]
        for result in run.info["results"]:
            wanted += [(f"{name}/{result['split']}", run.info["step"], np.float32(value)) for name, value in result.items()
                       if name not in ("split", "examples")]
        scalars = [(p.tag, p.step, np.float32(p.value)) for p in points if not isinstance(p.value, str)]
        self.assertEqual(sorted(map(repr, scalars)), sorted(map(repr, [(t, int(s), v) for t, s, v in wanted])))
        self.assertGreater(len(scalars), 10)

    def texts(self, points, tag):
        return [(p.step, p.value) for p in points if p.tag == tag]

    def test_checksums_of_the_reader_here(self):
        self.assertEqual(crc32c(b"123456789"), 0xE3069283)
        self.assertEqual(crc32c(bytes(32)), 0x8A9136AA)  # of RFC 3720

    def test_tensorboard(self):
        said = cli("export", self.path, "--tensorboard", self.out)
        file, = self.event_files(self.out / "run")
        self.assertIn(str(file), said)
        self.assertEqual(file.name, f"events.out.tfevents.{self.run_read.info['started_at']}.relascope")
        points = read_events(file)
        self.check_scalars(points, self.run_read)
        (step, table), = self.texts(points, "options")
        rows = dict(line.strip("| ").split(" | ") for line in table.splitlines()[2:] if line.count(" | ") == 1 and
                    not line.endswith(" |  |"))
        self.assertEqual((step, rows["model.d_model"], rows["preset"], rows["train.batch_size"]), (0, "16", "quick", "16"))
        self.assertEqual(rows["parameters"], str(self.run_read.info["parameters"]))
        began = self.run_read.info["started_at"]
        for split in "train", "validation":
            metrics = self.run_read.metrics(split)
            walls = [p.wall for p in points if p.tag == "loss/" + split]
            self.assertEqual(walls, sorted(walls))
            for wall, seconds in zip(walls, metrics["seconds"]):
                self.assertTrue(began + seconds <= wall <= began + seconds + 20)
        before = file.read_bytes()
        cli("export", self.path, "--tensorboard", self.out)
        self.assertEqual(file.read_bytes(), before, "the same again")

    def test_while_it_trains(self):
        file, = self.event_files(self.folder / "live/run")
        points = read_events(file)
        self.check_scalars(points, self.run_read)
        self.assertEqual(len(self.texts(points, "options")), 1)
        self.assertEqual(self.texts(points, "start"), [])
        self.assertEqual(self.texts(points, "notes"), [])
        self.assertTrue(all(abs(p.wall - time.time()) < 3600 for p in points))
        said = cli("export", self.path, "--tensorboard", self.folder / "live", code=1)
        self.assertIn("already holds the events " + file.name, said)
        self.assertEqual(self.event_files(self.folder / "live/run"), [file])

    def test_a_resumed_run_gets_a_second_file(self):
        copy = self.out / "run"
        shutil.copytree(self.path, copy)
        cli("train", "--resume", copy, "--steps", 14, "--threads", 1, "--tensorboard", self.out / "board")
        file, = self.event_files(self.out / "board/run")
        points = read_events(file)
        losses = [p for p in points if p.tag == "loss/train"]
        self.assertEqual([p.step for p in points if p.tag == "start"], [11])
        tags = [p.tag for p in points]
        self.assertLess(tags.index("start"), tags.index("loss/train"))
        metrics = Run(copy).metrics()
        self.assertEqual([(p.step, np.float32(p.value)) for p in losses],
                         [(s, np.float32(v)) for s, v in zip(metrics["step"], metrics["loss"]) if s > 10])

    def test_a_folder_that_cannot_be_written_stops_before_training(self):
        (self.out / "file").write_text("")
        said = cli("train", "quick", "--steps", 2, "--out", self.out / "never", "--tensorboard", self.out / "file", code=1)
        self.assertIn(str(self.out / "file"), said)
        self.assertFalse((self.out / "never").exists())

    def test_pauses_notes_and_numbers_that_are_not_finite(self):
        copy = self.out / "run"
        shutil.copytree(self.path, copy)
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
        cli("export", copy, "--tensorboard", self.out / "board", "--csv", self.out / "x.csv")
        points = read_events(self.event_files(self.out / "board/run")[0])
        losses = [p for p in points if p.tag == "loss/train"]
        self.assertEqual([p.wall - began for p in losses], [10, 1020, 1030, 1040])
        self.assertEqual([repr(p.value) for p in losses], ["1.5", "nan", "1.5", "1.5"])
        self.assertEqual(self.texts(points, "notes"), [(1, "    a | b\n    c"), (2, "    warning: w"), (4, "    edit: e")])
        self.assertEqual(self.texts(points, "generated text"), [(3, "    # Once\n    upon")])
        self.assertEqual([p.wall - began for p in points if p.tag == "generated text"], [1030])
        lines = (self.out / "x.csv").read_text().splitlines()
        self.assertEqual(lines[:3], ["split,step,epoch,examples,seconds,loss", "train,1,0.1,1,10,1.5",
                                     "train,2,0.1,2,20,nan"])
        self.assertEqual(len(lines), 5)

    def test_csv(self):
        cli("export", self.path, "--csv", self.out / "points.csv")
        with open(self.out / "points.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        lines = [json.loads(line) for line in (self.path / "metrics.jsonl").read_text().splitlines()]
        self.assertEqual(len(rows), len(lines))
        for row, line in zip(rows, lines):
            self.assertEqual({key: value if key == "split" else float(value) for key, value in row.items() if value}, line)
        self.assertEqual(list(rows[0])[:5], ["split", "step", "epoch", "examples", "seconds"])

    def test_json(self):
        cli("export", self.path, "--json", self.out / "run.json")
        found = json.loads((self.out / "run.json").read_text())
        self.assertEqual(set(found), {"run", "info", "metrics", "events"})
        self.assertEqual((found["run"], found["info"]), ("run", self.run_read.info))
        for name in "metrics", "events":
            self.assertEqual(found[name], [json.loads(line) for line in (self.path / f"{name}.jsonl").read_text().splitlines()])

    def test_several_seeds(self):
        seeds = self.out / "several"
        shutil.copytree(self.path, seeds / "seed-0")
        self.assertIn("several seeds", cli("export", seeds, "--csv", self.out / "x.csv", code=1))
        cli("export", seeds / "seed-0/", "--tensorboard", self.out / "board")
        self.assertEqual(len(self.event_files(self.out / "board/several/seed-0")), 1)

    def test_wrong_use(self):
        self.assertIn("--tensorboard DIR", cli("export", self.path, code=2))
        self.assertIn("must end in .csv", cli("export", self.path, "--csv", self.out / "x.txt", code=2))
        self.assertIn("must end in .json", cli("export", self.path, "--json", self.out / "x", code=2))
        self.assertIn("no run folder", cli("export", self.out, "--json", self.out / "x.json", code=1))
        self.assertIn("nowhere", cli("export", self.path, "--csv", self.out / "nowhere/x.csv", code=1))
        self.assertEqual(os.listdir(self.out), [])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    CLI = os.path.join(sys.argv.pop(1), "relascope-cli")
    unittest.main(warnings="error")
