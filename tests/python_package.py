#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests the package `relascope` of resources/python without PyTorch: what it writes, it and relascope-cli read; a kill at
any moment leaves a run that opens; its engine answers what the commands print; pip installs it offline; the tutorial runs.

usage: python_package.py FOLDER_OF_RELASCOPE_CLI [TEST...]        exit status 77 without NumPy
"""
import errno
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import textwrap
import threading
import time
import unittest
from unittest import mock

import run_support
from run_support import TOP, WithRuns, cli, main, read_file, run_cli, train_small

import numpy as np
import relascope
from relascope import frames, reading
from relascope.engine import EngineError

PACKAGE = TOP / "resources/python"


def setUpModule():
    WithRuns.begin("package")
    os.environ["RELASCOPE"] = os.path.dirname(os.path.abspath(run_support._program))
    train_small(WithRuns.folder / "quick", steps=10)


def maps_of(samples=2, n=5, seed=0):
    """(relation [samples, n, n, 3], attention [samples, 2, n, n])"""
    draw = np.random.default_rng(seed)
    scores = np.exp(draw.normal(size=(samples, 2, n, n)))
    return draw.normal(size=(samples, n, n, 3)), scores / scores.sum(-1, keepdims=True)


class Package(WithRuns):
    def new(self, **more):
        """A run to write, which is complete when the test ends."""
        run = relascope.Run(self.own_folder() / "run", **more)
        self.addCleanup(run.done)
        return run

    def refused(self, what, *words, error=relascope.RunError):
        with self.assertRaises(error) as caught:
            what()
        for word in words:
            self.assertIn(word, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))


class TestRun(Package):
    def test_points_are_read_as_they_were_logged(self):
        run = self.new(model={"name": "mine", "depth": np.int64(2), "rate": np.float32(0.5)}, data={"set": "toy"}, total_steps=20)
        for step in range(1, 6):
            run.log(step, {"loss/mlm": 2.0}, loss=np.float32(1 / step), accuracy=step / 10, examples=8 * step, epoch=step / 5)
        run.log(5, split="validation", loss=float("nan"), accuracy=0.5)
        run.note(5, "a note", "warning")
        run.results("test", examples=100, accuracy=0.75)
        read = relascope.read(run.path)
        points = read.metrics()
        self.assertEqual(points["step"].tolist(), [1, 2, 3, 4, 5])
        np.testing.assert_array_equal(points["loss"], [float(np.float32(1 / step)) for step in range(1, 6)])
        self.assertEqual(points["loss/mlm"].tolist(), [2.0] * 5)
        self.assertEqual(points["examples"].tolist(), [8, 16, 24, 32, 40])
        self.assertTrue(np.isnan(read.metrics("validation")["loss"][0]))
        self.assertEqual(read.events()[0]["text"], "a note")
        stated = json.loads(cli("info", run.path, "--json"))
        self.assertEqual((stated["state"], stated["step"]), ("running", 5))
        info = read.info
        self.assertEqual((info["state"], info["step"], info["variant"], info["total_steps"]), ("running", 5, "mine", 20))
        self.assertEqual(info["kept"], {"step": 5, "loss": None, "accuracy": 0.5})
        self.assertEqual(info["last"], info["kept"])
        self.assertEqual(info["best"], {"loss": None, "accuracy": 0.5, "metric": 0.5, "step": 5, "evaluations": 1})
        self.assertEqual(info["options"]["model"], {"architecture": "recorded", "settings": {"name": "mine", "depth": 2, "rate": 0.5}})
        self.assertEqual(info["options"]["data"], {"kind": "recorded", "settings": {"set": "toy"}})
        self.assertEqual(info["facts"]["writer"], "relascope (Python)")
        run.done()
        self.assertEqual(relascope.read(run.path).info["state"], "done")
        self.refused(lambda: run.log(6, loss=1), "complete")

    def test_best_is_of_the_accuracy_or_of_the_loss_where_there_is_none(self):
        run = self.new()
        for step, loss in (1, 0.5), (2, 0.3), (3, 0.4):
            run.log(step, split="validation", loss=loss)
        self.assertEqual(run._info["best"], {"loss": 0.3, "accuracy": None, "metric": 0.3, "step": 2, "evaluations": 3})
        run.log(4, split="validation", loss=0.6, accuracy=0.9)
        self.assertEqual(run._info["best"], {"loss": 0.3, "accuracy": 0.9, "metric": 0.9, "step": 4, "evaluations": 4})

    def test_a_process_holds_the_run(self):
        run = self.new()
        stated = json.loads((pathlib.Path(run.path) / ".lock").read_text())
        self.assertEqual((stated["pid"], stated["socket"]), (os.getpid(), ""))
        self.assertEqual(set(stated), {"pid", "machine", "boot", "socket", "version", "protocol", "oom_kill", "job"})
        self.assertEqual(run._lock >= 0, True)
        child = os.fork()
        if child == 0:  # a worker that loads data must not hold the lock, nor write
            try:
                run.log(1, loss=1.0)
            except relascope.RunError as error:
                os._exit(0 if "forked" in str(error) else 1)
            os._exit(2)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        run.done()
        relascope.Run(run.path, resume=True).done()

    def test_a_folder_is_given_to_one_run_alone(self):
        run = self.new()
        run.log(3, loss=1.0)
        for resume in False, True:  # a cell of a notebook that is run again
            self.refused(lambda: relascope.Run(run.path, resume=resume), "by this program", "done()")
        for rank, words in (("", ("by another process", "stop that one")), ("1", ("rank 1 of 2", "the first one alone"))):
            for resume in False, True:
                said = self.python(f"import relascope\ntry: relascope.Run({run.path!r}, resume={resume})\n"
                                   "except relascope.RunError as error: print(error)", RANK=rank, WORLD_SIZE="2")
                for word in words:
                    self.assertIn(word, said)
        run.done()
        self.refused(lambda: relascope.Run(run.path), "already contains a run, which is done at step 3", "resume=True")
        self.assertEqual(relascope.read(run.path).info["state"], "done")
        half = self.own_folder()
        (half / ".lock").touch()  # of a process that has only just begun
        self.refused(lambda: relascope.Run(half), "already contains a run")

    def test_two_processes_that_begin_at_once(self):
        """Both have seen no run; one makes it, and the other does not write a byte of it."""
        path, second, make = self.own_folder() / "run", [], os.makedirs

        def late(name, **more):
            make(name, **more)
            if not second:
                second.append(None)
                run = relascope.Run(path)
                run.log(7, loss=0.5)
                run.done()
        with mock.patch("os.makedirs", late):
            self.refused(lambda: relascope.Run(path), "already contains a run, which is done at step 7")
        self.assertEqual(relascope.read(path).metrics()["step"].tolist(), [7])

    def test_a_folder_that_is_made_anew_is_another_run(self):
        old = self.new()
        old.log(1, loss=1.0)
        shutil.rmtree(old.path)
        new = relascope.Run(old.path, model={"name": "new"})
        new.log(5, loss=0.5)
        new.done()
        with self.assertWarnsRegex(UserWarning, "not the folder any more"):
            old.log(2, split="validation", loss=1.0)
        old.capture(2, None, [{"relation": maps_of()[0]}]), old.weights(2, {"w": np.zeros(1)})
        path = old.path
        self._cleanups.clear()
        del old  # as the variable of a notebook
        read = relascope.read(path)
        self.assertEqual((read.info["state"], read.info["step"], read.info["variant"]), ("done", 5, "new"))
        self.assertEqual((read.metrics()["step"].tolist(), read.captures(), read.kept_steps()), ([5], [], []))

    def test_what_cannot_be_made_leaves_nothing(self):
        path = self.own_folder() / "run"
        self.refused(lambda: relascope.Run(path, model={"f": print}), "model.f")
        with mock.patch("relascope.files.write_json", side_effect=relascope.RunError("run.json", "cannot be written")):
            self.refused(lambda: relascope.Run(path), "cannot be written")
        self.assertEqual(os.listdir(path), [])
        relascope.Run(path).done()  # the cell with its mistake mended

    def test_file_systems_without_locks(self):
        for number in errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP:
            with mock.patch("fcntl.flock", side_effect=OSError(number, os.strerror(number))):
                with self.assertWarnsRegex(UserWarning, "without locks"):
                    run = self.new()
                run.log(1, loss=1.0)
                run.done()
                self.assertIn(os.strerror(number), relascope.read(run.path).events()[0]["text"])
                with self.assertWarnsRegex(UserWarning, "without locks"):
                    relascope.Run(run.path, resume=True).done()
        with mock.patch("fcntl.flock", side_effect=OSError(errno.EIO, "Input/output error")):
            self.refused(self.new, ".lock", "cannot be locked: Input/output error")

    def test_a_disk_that_is_full_does_not_end_a_training(self):
        run, limit = self.new(), resource.getrlimit(resource.RLIMIT_FSIZE)
        run.log(1, loss=1.0)
        run.note(1, "before")
        resource.setrlimit(resource.RLIMIT_FSIZE, (8, limit[1]))
        try:
            with self.assertWarnsRegex(UserWarning, "cannot be written.*the training goes on") as caught:
                run.log(2, loss=1.0)
            run.log(3, split="validation", loss=1.0)
            run.note(3, "lost")
            run.capture(3, None, [{"relation": maps_of()[0]}]), run.weights(3, {"w": np.zeros(100)})
            self.assertEqual(len(caught.warnings), 1)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        self.assertEqual(sorted(os.listdir(run.path)), [".lock", "captures", "events.jsonl", "metrics.jsonl", "run.json", "weights"])
        run.log(4, loss=1.0)
        run.done()
        read = relascope.read(run.path)
        self.assertEqual((read.metrics()["step"].tolist(), read.captures(), read.info["state"]), ([1, 4], [], "done"))
        self.assertRegex(read.events()[1]["text"], "^[0-9] points, maps or notes before this step are lost")

    def test_dictionaries_of_loggers(self):
        run = self.new()
        run.log(10, {"loss": 2.31, "grad_norm": 1.7, "learning_rate": 5e-05, "epoch": 0.5})  # of transformers' Trainer
        run.log(20, {"train_runtime": 9.1, "train_loss": np.float32(2.2), "epoch": 1.0, "step": 19})
        run.log(30, {"epoch": 3, "step": 120, "train/loss": np.ones((1, 1))})  # of Lightning
        with self.assertWarnsRegex(UserWarning, "left out of the points.*none, text, several, list, nested, examples"):
            run.log(40, {"loss": 1.0, "none": None, "text": "x", "several": np.ones(3), "list": [1, 2], "nested": {"a": 1}, "examples": 3,
                         "flag": True, "written": "0.5", "huge": 10 ** 400}, epoch=4)
        run.log(50, {"text": "again", "loss": 0.5})
        run.done()
        points = relascope.read(run.path).metrics()
        self.assertEqual((points["step"].tolist(), points["epoch"].tolist()), ([10, 20, 30, 40, 50], [0.5, 1, 3, 4, 4]))
        self.assertEqual((points["loss"].tolist()[3:], points["flag"].tolist()[3], points["written"].tolist()[3]), ([1.0, 0.5], 1.0, 0.5))
        self.assertEqual([points["train_loss"].tolist()[1], points["train/loss"].tolist()[2]], [float(np.float32(2.2)), 1.0])
        self.assertEqual(set(points) & {"none", "text", "several", "list", "nested", "huge"}, set())
        self.assertEqual(len(relascope.read(run.path).events()), 1)
        self.assertEqual(json.loads(cli("info", run.path, "--json"))["step"], 50)

    def test_only_architectures_of_relascope_are_taken_for_ours(self):
        for name, ours in ("resnet18", False), ("PrediNet", True), (["a"], False):
            run = self.new(model={"architecture": name, "layers": 18})
            run.log(1, loss=1.0)
            run.done()
            self.assertEqual(run._info["options"]["model"]["architecture"] == name, ours)
            self.assertEqual(len(json.loads(cli("compare", run.path, "--json"))["runs"]), 1)
        info = {**run._info, "options": {"model": {"architecture": "none"}}}
        (pathlib.Path(run.path) / "run.json").write_text(json.dumps(info))
        known = set(re.findall("'([^']+)'", run_cli("info", run.path, code=1).stderr.split("known names are")[1]))
        self.assertEqual(known - {"recorded", "ServedImages", "ServedObjects", "ServedText"}, set(relascope.run.ARCHITECTURES))

    def test_ends_that_are_not_done(self):
        for body, state, message in (("raise ValueError('no such luck')", "failed", "ValueError: no such luck"),
                                     ("raise KeyboardInterrupt", "stopped", "interrupted"), ("pass", "done", "")):
            path = self.own_folder() / "run"
            try:
                with relascope.Run(path) as run:
                    run.log(1, loss=1.0)
                    exec(body)
            except (ValueError, KeyboardInterrupt):
                pass
            info = relascope.read(path).info
            self.assertEqual(info["state"], state)
            self.assertIn(message, info["message"])
        path = self.own_folder() / "run"
        self.python(f"import relascope; run = relascope.Run({str(path)!r}); run.log(1, loss=1.0)")
        self.assertEqual(relascope.read(path).info["state"], "stopped")

    def python(self, code, **environment):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1", **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_resume(self):
        run = self.new()
        for step in range(1, 6):
            run.log(step, loss=step)
            run.log(step, split="validation", loss=step, accuracy=step / 10)
        run.weights(2, {"w": np.zeros(2)}), run.weights(4, {"w": np.ones(2)})
        run.done()
        with open(run.path + "/metrics.jsonl", "a") as file:
            file.write('{"step":6,"half a li')
        again = relascope.Run(run.path, resume=3)
        again.log(4, loss=40.0)
        again.done()
        read = relascope.read(run.path)
        self.assertEqual(read.metrics()["step"].tolist(), [1, 2, 3, 4])
        self.assertEqual(read.metrics()["loss"].tolist(), [1, 2, 3, 40])
        self.assertEqual(read.kept_steps(), [2])
        self.assertEqual(read.info["kept"], {"step": 3, "loss": 3.0, "accuracy": 0.3})
        self.refused(lambda: relascope.Run(self.folder / "quick", resume=True), "trained by Relascope")
        self.refused(lambda: relascope.Run(self.own_folder() / "none", resume=True), "no run to resume")

    def test_hostile_arguments(self):
        run = self.new()
        for what, *words in (
                (lambda: run.log("x", loss=1), "step", "whole number"), (lambda: run.log(-1, loss=1), "step", "0 to"),
                (lambda: run.log(1.5, loss=1), "step"), (lambda: run.log(1, split="pentos", loss=1), "split", "train, validation, test"),
                (lambda: run.note(1, "x", "loud"), "level"),
                (lambda: run.weights(1, {}), "no tensors"), (lambda: run.weights(1, {"w": np.array(["a"])}), "w", "numbers"),
                (lambda: run.set(step=3), "step", "cannot be set"),
                (lambda: relascope.Run(self.own_folder() / "x", model={"f": print}), "model.f"),
                (lambda: relascope.Run(self.folder), "not empty"), (lambda: relascope.Run("/proc/no/run"), "/proc/no")):
            self.refused(what, *words)
        self.assertEqual(len(relascope.read(run.path).metrics()["step"]), 0)

    def test_what_json_cannot_hold(self):
        run = self.new(model={"name": "half \ud800", "nan": float("nan"), "nested": {1: (np.float64("inf"), None, pathlib.Path("x"))}})
        run.log(1, {"a \udfff": 1.0}, loss=np.float64("-inf"), epoch=float("nan"), examples=np.int32(7))
        run.note(1, "one\nline \ud800 \x00")
        run.capture(1, {"names": ["\ud800", "b", "c", "d", "ü"]}, [{"relation": maps_of(1)[0]}])
        run.failed("why \ud800")
        read = relascope.read(run.path)
        self.assertEqual((read.info["variant"], read.info["message"]), ("half ?", "why ?"))
        self.assertEqual(read.info["options"]["model"]["settings"], {"name": "half ?", "nan": None, "nested": {"1": [None, None, "x"]}})
        points = read.metrics()
        self.assertEqual((points["a ?"].tolist(), points["examples"].tolist()), ([1.0], [7]))
        self.assertTrue(np.isnan(points["loss"][0]) and np.isnan(points["epoch"][0]))
        self.assertEqual(read.events()[0]["text"], "one\nline ? \x00")
        self.assertEqual(read.capture(1).words[0::4], ["?", "ü"])
        self.assertEqual(json.loads(cli("inspect", run.path, "--step", 1, "--json"))["rows"], 5)


class TestCapture(Package):
    def test_everything_that_can_be_said_of_an_input(self):
        run, (relation, attention) = self.new(), maps_of()
        draw = np.random.default_rng(1)
        images = draw.integers(0, 256, (2, 12, 12, 3)).astype(np.uint8)
        run.capture(7, {"images": images, "patch": 6, "labels": [1, 0], "classes": ["no", "yes"], "origins": ["a", "b"],
                        "probabilities": [[0.25, 0.75], [0.5, 0.5]]},
                    [relascope.Layer("first", relation=relation, attention=attention),
                     {"relational_attention": attention, "symbols": attention[..., :3]}])
        capture = relascope.read(run.path).capture(7, 1)
        for index in range(3):
            np.testing.assert_array_equal(capture.find("relation", 0, index).values, np.float32(relation[1, :, :, index]))
        np.testing.assert_array_equal(capture.find("attention-sa", 0, 1).values, np.float32(attention[1, 1]))
        np.testing.assert_array_equal(capture.find("attention-ra", 1, 0).values, np.float32(attention[1, 0]))
        self.assertEqual(capture.find("symbols", 1, 0).columns, 3)
        self.assertEqual((capture.layers, capture.label, capture.classes, capture.origin), (["first", "layer 2"], 0, ["no", "yes"], "b"))
        np.testing.assert_array_equal(capture.arrays["images"], images[1])
        metadata = reading.Safetensors(run.path + "/captures/step-7.safetensors").metadata
        self.assertEqual([metadata[key] for key in ("grid_rows", "grid_columns", "class_token", "side_0")], ["2", "2", "1", "patches"])
        for sample, kind, layer, index in (0, "relation", 1, 1), (1, "relation", 1, 3), (1, "attention-sa", 1, 2), \
                (0, "attention-ra", 2, 1), (1, "symbols", 2, 2):  # relascope-cli reads the same numbers
            stated = json.loads(cli("inspect", run.path, "--step", 7, "--sample", sample, "--kind", kind, "--layer", layer,
                                    "--index", index, "--json"))
            found = relascope.read(run.path).capture(7, sample).find(kind, layer - 1, index - 1)
            np.testing.assert_array_equal(np.float32(stated["values"]), found.values.ravel())
            self.assertEqual((stated["classes"], stated["label"]), (["no", "yes"], [1, 0][sample]))

    def test_objects_with_names_pictures_masks_and_attributes(self):
        run, (relation, _) = self.new(), maps_of(samples=1)
        draw, same = np.random.default_rng(2), np.eye(5, dtype=bool)
        run.capture(0, relascope.Inputs(images=draw.random((20, 20, 3)), names=list("abcde"), pictures=draw.random((5, 4, 4, 1)),
                                        masks=draw.random((5, 20, 20)) > 0.5, attributes={"same": same, "distance": relation[0, :, :, 0]}),
                    [relascope.Layer(relation=relation[0], causal=True)])
        capture, file = relascope.read(run.path).capture(0), reading.Safetensors(run.path + "/captures/step-0.safetensors")
        self.assertEqual((capture.words, capture.label), (list("abcde"), -1))
        self.assertTrue(capture.find("relation", 0).causal)
        self.assertEqual((file.entries["masks"].dtype, file.entries["masks"].shape), ("U8", (1, 5, 20, 20)))
        self.assertEqual(file.entries["attribute/same"].dtype, "U8")
        np.testing.assert_array_equal(file.tensor("attribute/same", 0), same)
        np.testing.assert_array_equal(file.tensor("attribute/distance", 0), np.float32(relation[0, :, :, 0]))
        stated = json.loads(cli("inspect", run.path, "--step", 0, "--json"))
        np.testing.assert_array_equal(np.float32(stated["values"]), capture.find("relation", 0).values.ravel())

    def test_pictures_are_cut_out_of_the_image_where_there_are_masks(self):
        run, image, masks = self.new(), np.arange(300, dtype=np.uint8).reshape(1, 10, 10, 3), np.zeros((1, 3, 10, 10))
        masks[0, 0, 0:2, 7:10], masks[0, 1, 8:10, 0] = 1, 0.5
        run.capture(0, {"images": image, "masks": masks}, [{"relation": maps_of(1, 3)[0]}])
        pictures = relascope.read(run.path).capture(0).arrays["pictures"]
        self.assertEqual(pictures.shape, (3, 2, 3, 3))
        np.testing.assert_array_equal(pictures[0], image[0, 0:2, 7:10])
        np.testing.assert_array_equal(pictures[1, :, 0], image[0, 8:10, 0])
        self.assertTrue((pictures[1, :, 1:] == 255).all() and (pictures[2] == 255).all())
        self.assertEqual(json.loads(cli("inspect", run.path, "--step", 0, "--json"))["rows"], 3)

    def test_texts_vectors_and_two_sides(self):
        run, (_, attention) = self.new(), maps_of(samples=1)
        run.capture(0, {"tokens": [5, 6, 7, 8, 9], "pieces": ["The", " cät", " sat", ".", "\n"]}, [{"attention": attention}])
        run.capture(1, {"vectors": np.ones((5, 3))}, [{"attention": attention}, {"name": "cross", "attention": attention[:, :, :2]}])
        self.assertEqual(relascope.read(run.path).capture(0).words, ["The", " cät", " sat", ".", "\n"])
        for step, layer, rows in (0, 1, 5), (1, 2, 2):
            stated = json.loads(cli("inspect", run.path, "--step", step, "--layer", layer, "--kind", "attention-sa", "--json"))
            self.assertEqual((stated["rows"], stated["columns"]), (rows, 5))
        self.assertIn('" cät"', cli("inspect", run.path, "--step", 0, "--kind", "attention-sa"))

    def test_parts_that_do_not_fit(self):
        run, (relation, attention) = self.new(), maps_of()
        layer, picture = {"relation": relation}, np.zeros((2, 12, 12, 3))
        for inputs, layers, *words in (
                (None, [], "no maps"), (None, [{}], "no maps"), (None, [{"relations": relation}], "layers[0]", "relational_attention"),
                (None, [3], "layers[0]"), (None, [{"relation": relation[0, 0]}], "layer 1: relation", "[samples, n, n, relations]"),
                (None, [{"attention": attention[:, :, :0]}], "attention"), 
                (None, [{"attention": "x"}], "numbers"), (None, [{"attention": [[1, 2], [1]]}], "lengths"),
                (None, [layer, {"attention": attention[:1]}], "layer 2: attention", "1 samples"),
                (None, [{"relation": relation, "attention": attention[:, :, :3]}], "3 x 5"), ({"image": 1}, [layer], "'image'", "images"),
                (7, [layer], "inputs"), ({"patch": 4}, [layer], "patch", "images"), ({"images": picture, "patch": 5}, [layer], "divide"),
                ({"images": picture, "patch": 4}, [layer], "3 x 3 patches", "9 rows"), ({"images": picture - 1}, [layer], "images", "0 to 1"),
                ({"images": picture[:1]}, [layer], "images", "[1, 12, 12, 3]"), ({"tokens": [[1, 2]]}, [layer], "tokens", "[1, 2]"),
                ({"names": [["a"] * 5]}, [layer], "names"), ({"names": [["a"] * 4] * 2}, [layer], "names"),
                ({"pieces": ["a"] * 5}, [layer], "pieces", "tokens"), ({"masks": np.ones((2, 5, 4, 4))}, [layer], "masks", "images"),
                ({"images": picture, "masks": np.ones((2, 4, 12, 12))}, [layer], "masks", "[2, 5, 12, 12]"),
                ({"pictures": np.ones((2, 5, 4, 4, 2))}, [layer], "pictures"), ({"labels": [0.5, 1]}, [layer], "labels"),
                ({"labels": [1]}, [layer], "labels"), ({"probabilities": np.ones((2, 3)), "classes": ["a"]}, [layer], "probabilities"),
                ({"origins": ["a"]}, [layer], "origins"), ({"attributes": {"a/b": 1}}, [layer], "a/b"),
                ({"attributes": {"far": np.full((2, 5, 5), np.inf)}}, [layer], "attributes: far", "nan"),
                ({"attributes": {"same": np.ones((2, 5, 4))}}, [layer], "attributes: same", "[2, 5, 5]"),
                ({"vectors": np.ones((2, 5))}, [layer], "vectors")):
            self.refused(lambda: run.capture(0, inputs, layers), *words)
        self.assertEqual(relascope.read(run.path).captures(), [])

    def test_what_is_not_finite_is_left_out(self):
        run, (relation, attention) = self.new(), maps_of()
        with self.assertWarnsRegex(UserWarning, "step 1 are left out: layer 1: attention-sa: has values that are not finite"):
            run.capture(1, None, [{"attention": attention * np.nan}])
        run.capture(2, {"probabilities": np.full((2, 3), np.inf)}, [{"relation": relation}])  # said once, noted each time
        run.capture(3, None, [{"relation": relation}])
        read = relascope.read(run.path)
        self.assertEqual((read.captures(), [each["step"] for each in read.events()]), ([3], [1, 2]))

    def test_tokens_beside_the_patches(self):
        run, picture = self.new(), np.zeros((2, 12, 12, 3))  # 9 patches of 4 x 4
        for step, (n, before, wanted) in enumerate(((9, None, ("0", "0")), (10, None, ("1", "1")), (11, None, ("2", "1")),
                                                    (14, None, ("5", "1")), (13, None, ("4", "0")), (14, 1, ("1", "1")),
                                                    (14, 0, ("0", "0")), (30, 21, ("21", "0")))):
            run.capture(step, {"images": picture, "patch": 4, "before": before}, [{"relation": maps_of(n=n)[0]}])
            metadata = reading.Safetensors(run.path + f"/captures/step-{step}.safetensors").metadata
            self.assertEqual((metadata["grid_rows"], metadata["first_tokens"], metadata["class_token"]), ("3", *wanted))
            self.assertEqual(json.loads(cli("inspect", run.path, "--step", step, "--json"))["rows"], n)
        for n, before, *words in (19, None, "9 rows, or a few more", "19 rows"), (8, None, "8 rows"), (9, 1, "behind 1 others"), (9, -1, "before"):
            self.refused(lambda: run.capture(0, {"images": picture, "patch": 4, "before": before}, [{"relation": maps_of(n=n)[0]}]), *words)

    def test_weights(self):
        run, draw = self.new(), np.random.default_rng(3)
        table = draw.normal(size=(4, 3))
        run.weights(9, {"out.weight": table, "in.weight": table, "count": np.int64(7), "half": table.astype(np.float16), "extra": "state"})
        read = relascope.read(run.path)
        self.assertEqual(read.kept_steps(), [9])
        found = read.weights(9)
        np.testing.assert_array_equal(found["out.weight"], np.float32(table))
        self.assertIs(found["in.weight"], found["out.weight"])
        self.assertEqual((int(found["count"]), found["half"].dtype), (7, np.float32))
        header, _ = read_file(run.path + "/weights/step-9.safetensors")
        self.assertNotIn("extra", header)
        self.assertEqual(len(header["__metadata__"]), 6)

    def test_weights_of_an_architecture_of_relascope_open(self):
        quick = relascope.read(self.folder / "quick")
        run = self.new(model=quick.info["options"]["model"])
        run.log(10, loss=1.0)
        run.weights(10, quick.checkpoint(10))
        run.done()
        mine, theirs = (json.loads(cli("inspect", path, "--random", 3, *words, "--json"))
                        for path, words in ((run.path, ["--step", 10]), (self.folder / "quick", [])))
        self.assertEqual(mine["values"], theirs["values"])
        self.assertEqual(mine["probabilities"], theirs["probabilities"])

    def test_what_needs_the_model_says_so(self):
        run, (relation, _) = self.new(model={"name": "mine"}), maps_of()
        run.log(1, loss=1.0)
        run.capture(1, layers=[{"relation": relation}])
        for words in ["eval"], ["heads"], ["lens"]:
            self.refused(lambda: relascope.analyse(run.path, *words), "recorded by another program", error=EngineError)
        self.refused(lambda: relascope.edit(run.path, "layer 1 relation 1 zero"), "recorded by another program", error=EngineError)

    def test_the_atlas_reads_attributes(self):
        run, draw = self.new(), np.random.default_rng(0)
        kind = draw.integers(0, 3, (100, 5))
        same = kind[:, :, None] == kind[:, None]
        relation = np.stack([same + 0.3 * draw.normal(size=same.shape), draw.normal(size=same.shape)], -1)
        run.log(1, loss=1.0)
        known = np.where(draw.random(same.shape) < 0.1, np.nan, same)
        run.capture(1, {"names": [list("abcde")] * 100, "attributes": {"same kind": known}}, [{"relation": relation}])
        run.done()
        said = cli("atlas", run.path)
        self.assertIn("layer 1 relation 1: same kind", said)
        self.assertIn("layer 1 relation 2: no label", said)


class TestCrashes(Package):
    WRITER = """
        import sys, numpy as np, relascope
        run = relascope.Run(sys.argv[1], model={"name": "killed"})
        draw, step = np.random.default_rng(0), 0
        print("begun", flush=True)
        while True:
            step += 1
            run.log(step, loss=1.0 / step, accuracy=0.5)
            if step % 5 == 0:
                run.log(step, split="validation", loss=1.0, accuracy=0.5)
                run.note(step, "five more")
            if step % 10 == 0:
                run.capture(step, layers=[{"relation": draw.normal(size=(9, 9, 4)), "attention": draw.random((2, 9, 9))}])
                run.weights(step, {"w": draw.normal(size=(64, 64))})
    """

    def writer(self, path):
        process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(self.WRITER), str(path)], stdout=subprocess.PIPE,
                                   env={**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1"})
        process.stdout.readline()
        return process

    def look(self, path):
        """Everything that the run holds now; returns the steps of its points."""
        read = relascope.read(path)
        points = read.metrics()
        self.assertEqual(points["step"].tolist(), list(range(1, len(points["step"]) + 1)))
        self.assertEqual(points.get("loss", points["step"]).tolist(), [1.0 / step for step in points["step"]])
        read.events(), read.metrics("validation")
        for step in read.captures()[-2:]:
            self.assertEqual(len(read.capture(step).maps), 6)
        for step in read.kept_steps()[-2:]:
            self.assertEqual(read.weights(step)["w"].shape, (64, 64))
        return points["step"]

    def test_killed_at_fifty_moments(self):
        moments, left = random.Random(7), 0
        for k in range(50):
            path = self.own_folder() / "run"
            process = self.writer(path)
            time.sleep(moments.uniform(0, 0.12))
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stdout.close()
            left += len(list(path.glob("**/*.tmp-*")))
            steps = self.look(path)
            self.assertEqual(relascope.read(path).info["state"], "running")  # which nobody holds
            self.assertEqual(json.loads(cli("info", path, "--json"))["state"], "interrupted")
            if len(steps) and relascope.read(path).captures():
                step = relascope.read(path).captures()[-1]
                cli("inspect", path, "--step", step, "--json")
            again = relascope.Run(path, resume=True)
            again.log(len(steps) + 1, loss=1.0 / (len(steps) + 1))
            again.done()
            self.assertEqual(len(self.look(path)), len(steps) + 1)
            shutil.rmtree(path)

    def test_a_reader_beside_a_writer(self):
        path = self.own_folder() / "run"
        process, seen = self.writer(path), []
        try:
            while len(seen) < 40 or seen[-1] == seen[0]:
                seen.append(len(self.look(path)))
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
        self.assertEqual(seen, sorted(seen))


class TestFrames(unittest.TestCase):
    def test_values_there_and_back(self):
        value = {"a": [0, 23, 24, 255, 256, 65536, 1 << 32, (1 << 64) - 1, -1, -25, -(1 << 40)], "b": [0.1, -1e300, True, False, None],
                 "ü": {"empty": {}, "list": [[]], "bytes": b"\x00\xff", "text": "x" * 300}}
        self.assertEqual(frames.decode(frames.encode(value)), value)
        for data, number in (b"\xf9\x3e\x00", 1.5), (b"\xfa\x3f\xc0\x00\x00", 1.5), (b"\x82\x01\x02", [1, 2]):
            self.assertEqual(frames.decode(data), number)
        reader, whole = frames.FrameReader(), frames.frame({"id": 1}, b"blob") + frames.frame({"id": 2})
        for at in range(len(whole)):
            reader.append(whole[at:at + 1])
            if at == len(frames.frame({"id": 1}, b"blob")) - 1:
                self.assertEqual(reader.next(), ({"id": 1}, b"blob"))
        self.assertEqual(reader.next(), ({"id": 2}, b""))
        self.assertIsNone(reader.next())

    def test_bytes_that_lie(self):
        for data in b"", b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff", b"\xbb\x00\x00\x00\x00\xff\xff\xff\xff", b"\x7b\x00\x00\x00\x01\x00\x00\x00\x00", \
                b"\x81" * 40 + b"\x00", b"\x01\x01", b"\xa1\x01\x01", b"\x61\xff", b"\xff", b"\x9f\xff", b"\xc0\x01", b"\x1c", b"\xf8\x20":
            with self.assertRaises(frames.FrameError, msg=data):
                frames.decode(data)
        for data in b"RSF2" + bytes(12), struct.pack("<4sIQ", b"RSF1", 1 << 31, 0), struct.pack("<4sIQ", b"RSF1", 1, 1 << 62), \
                struct.pack("<4sIQ", b"RSF1", 1, 0) + b"\x01":
            reader = frames.FrameReader()
            reader.append(data)
            with self.assertRaises(frames.FrameError):
                reader.next()
        draw = random.Random(1)
        for _ in range(3000):  # whatever arrives is a value or FrameError
            data = bytearray(frames.encode({"a": [1, 2.5, "x", {"b": None}], "c": b"1234"}))
            for _ in range(draw.randint(1, 4)):
                data[draw.randrange(len(data))] = draw.randrange(256)
            try:
                frames.decode(bytes(data))
            except frames.FrameError:
                pass


class TestEngine(Package):
    def stated(self, *words):
        return json.loads(cli(*words, "--json"))

    def test_answers_are_those_of_the_commands(self):
        path = self.folder / "quick"
        for words, options in ((("heads",), {"sample": 2}), (("eval",), {"split": "validation"}), (("info",), {}), (("points",), {}),
                               (("inspect",), {"layer": 2, "kind": "attention-sa", "sample": 1}),
                               (("ablate",), {"examples": 16, "how": ["zero", "mean"], "what": "heads", "cumulative": True})):
            written = [w for name, value in options.items() for w in (f"--{name}", ",".join(value) if isinstance(value, list) else value)]
            with self.subTest(words):
                stated = self.stated(words[0], path, *(word for word in written if word is not True))
                found = relascope.analyse(path, *words, **options)
                self.assertEqual(found, stated if isinstance(stated, dict) else {"answer": stated})
        answer = relascope.analyse(path, "inspect", sample=1)
        self.assertEqual(answer.array("values").shape, (answer["rows"], answer["columns"]))
        cell = {"sample": 1, "layer": 1, "kind": "relation", "source": 1, "to": 0}
        self.assertEqual(relascope.analyse(path, "origins", **cell), relascope.analyse(path, "qk-attribution", **cell))  # its former name

    def test_commands(self):
        path = self.folder / "quick"
        found = relascope.command("compare", path, columns=["run", "seed"])
        self.assertEqual(found["runs"], [{"run": "quick", "path": str(path), "seed": 0}])
        self.assertEqual(found, self.stated("compare", path, "--columns", "run,seed"))
        self.assertEqual(relascope.command("compare", path, differences=True, all=True)["differing"], 0)
        self.assertIsInstance(relascope.command("presets"), list)
        self.refused(lambda: relascope.command("compare", path, differences=True), "two runs", error=EngineError)
        self.refused(lambda: relascope.command("compair", path), "compair", error=EngineError)
        self.refused(lambda: relascope.command("compare", self.folder / "none"), "none", error=EngineError)

    def test_paths_begin_where_the_program_is(self):
        relascope.analyse(self.folder / "quick", "info")  # the process is there
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        self.assertEqual(relascope.analyse("quick", "info")["step"], 10)

    def test_tables(self):
        answer = relascope.engine.Answer({"rows": [{"a": 1, "b": "x"}, {"a": 2.5, "b": "y", "c": None}], "step": 3})
        table = answer.table("rows")
        self.assertEqual((table["a"].tolist(), table["b"].tolist()), ([1.0, 2.5], ["x", "y"]))
        self.assertTrue(np.isnan(table["c"]).all())
        self.refused(lambda: answer.table("step"), "rows", error=EngineError)

    def test_maps_are_exact(self):
        path = self.folder / "quick"
        capture = relascope.maps(path, sample=3)
        self.assertGreater(len(capture.maps), 7)
        for each in capture.maps:
            stated = self.stated("inspect", path, "--sample", 3, "--kind", each.kind, "--layer", each.layer + 1, "--index", each.index + 1)
            np.testing.assert_array_equal(each.values.ravel(), np.float32(stated["values"]))
        np.testing.assert_array_equal(capture.probabilities, np.float32(stated["probabilities"]))
        early = relascope.maps(path, step=0)
        self.assertFalse(np.array_equal(early.find("relation", 0).values, capture.find("relation", 0).values))

    def test_edit(self):
        edited = relascope.edit(self.folder / "quick", ["layer 1 relation 1 zero"], sample=3)
        stated = self.stated("inspect", self.folder / "quick", "--sample", 3, "--edit", "layer 1 relation 1 zero")
        np.testing.assert_array_equal(edited.after.probabilities, np.float32(stated["probabilities"]))
        self.assertFalse(np.array_equal(edited.before.probabilities, edited.after.probabilities))
        self.assertTrue((edited.after.find("relation", 0).values == 0).all())
        np.testing.assert_array_equal(edited.difference("relation", 0), -edited.before.find("relation", 0).values)

    def test_errors_are_the_sentences_of_the_commands(self):
        path = self.folder / "quick"
        for words, options in ((("eval",), {"split": "tst"}), (("heads",), {"sample": 1 << 40}), (("inspect",), {"kind": "x"}),
                               (("generate",), {"prompt": "x"}), (("inspect",), {"edit": "layer 9 relation 1 zero"})):
            written = [f"--{name}={value}" for name, value in options.items()]
            done = subprocess.run([run_support._program, words[0], str(path), *written], capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            with self.assertRaises(EngineError) as caught:
                relascope.analyse(path, *words, **options)
            self.assertEqual("relascope-cli: " + str(caught.exception), done.stderr.strip().splitlines()[-1])
        self.refused(lambda: relascope.analyse(path, "heads", lyer=2), "--lyer", error=EngineError)
        self.refused(lambda: relascope.analyse(path, "hedas"), "did you mean 'heads'", error=EngineError)
        self.refused(lambda: relascope.analyse(path, "session"), "unknown command", error=EngineError)
        self.refused(lambda: relascope.analyse(self.folder / "none", "heads"), "none", error=EngineError)

    def test_nothing_is_read_from_the_pipe(self):
        self.refused(lambda: relascope.analyse(self.folder / "quick", "generate", prompt_file="-"), "language", error=EngineError)
        self.assertEqual(relascope.analyse(self.folder / "quick", "info")["step"], 10)

    def test_control_c_cancels_and_the_engine_stays(self):
        told = []

        def progress(fraction):
            told.append(fraction)
            if len(told) == 3:
                os.kill(os.getpid(), signal.SIGINT)
        engine = relascope.Engine()
        self.addCleanup(engine.close)
        with self.assertRaises(KeyboardInterrupt):
            relascope.analyse(self.folder / "quick", "scan", seconds=300, engine=engine, progress=progress)
        process = engine._process
        self.assertIsNotNone(process)
        self.assertEqual(relascope.analyse(self.folder / "quick", "info", engine=engine)["step"], 10)
        self.assertIs(engine._process, process)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_an_engine_that_was_killed(self):
        engine = relascope.Engine()
        self.addCleanup(engine.close)
        relascope.analyse(self.folder / "quick", "info", engine=engine)
        engine._process.kill()
        engine._process.wait()
        self.assertEqual(relascope.analyse(self.folder / "quick", "info", engine=engine)["step"], 10)

        def end(_):
            engine._process.kill()
        self.refused(lambda: relascope.analyse(self.folder / "quick", "scan", seconds=300, engine=engine, progress=end),
                     "ended", error=EngineError)

    def stand_in(self, answer):
        """An engine of the test, and the file with a line for each question that it has read."""
        folder = self.own_folder()
        program = folder / "relascope-cli"
        program.write_text(f"#!{sys.executable}\n" + textwrap.dedent(f"""
            import os, signal, sys
            sys.path.insert(0, {str(PACKAGE)!r})
            from relascope.frames import FrameReader, frame
            def say(message): os.write(1, frame(message))
            reader = FrameReader()
            say({{"m": "hello", "protocol": {relascope.engine._PROTOCOL}, "version": "test"}})
            while True:
                while (found := reader.next()) is None:
                    reader.append(os.read(0, 1 << 16) or sys.exit(0))
                if found[0].get("m") == "command":
                    with open({str(folder / "asked")!r}, "a") as file: file.write("asked\\n")
                    {answer}
            """))
        program.chmod(0o755)
        engine = relascope.Engine(program)
        self.addCleanup(engine.close)
        engine._start()
        return engine, folder / "asked"

    def test_a_question_that_may_have_been_answered_is_not_asked_again(self):
        for answer, how in (("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"), ("sys.exit(3)", "status 3"),
                            ('say({"id": found[0]["id"], "progress": 0.5}), sys.exit(0)', "status 0")):
            engine, asked = self.stand_in(answer)
            self.refused(lambda: engine.command("study", "plan.json"), how, error=EngineError)
            self.assertEqual(asked.read_text(), "asked\n")
        engine, asked = self.stand_in('sys.exit(0) if os.path.getsize(file.name) < 7 else say({"id": found[0]["id"], "ok": {}})')
        self.assertEqual(engine.command("info", "x"), {})  # it ended because it was idle
        self.assertEqual(asked.read_text(), "asked\nasked\n")

    def test_a_program_that_is_not_there(self):
        with mock.patch.dict(os.environ, RELASCOPE="/nowhere"):
            self.refused(lambda: relascope.Engine().command("info", "x"), "/nowhere", "RELASCOPE", error=EngineError)
        fake = self.own_folder() / "relascope-cli"
        fake.write_text("#!/bin/sh\necho no LibTorch here >&2\nexit 3\n")
        fake.chmod(0o755)
        self.refused(lambda: relascope.Engine(fake).command("info", "x"), "status 3", "no LibTorch here", error=EngineError)

    def test_show_opens_the_window(self):
        folder = self.own_folder()
        window = folder / "relascope"
        window.write_text("#!/bin/sh\necho \"$@\" > shown\n")
        window.chmod(0o755)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(folder)
        run = self.new()
        with mock.patch.dict(os.environ, RELASCOPE=str(folder)):
            relascope.show(run)
            self.assertEqual((folder / "shown").read_text().strip(), run.path)
            relascope.show("a.relaview")
            self.assertEqual((folder / "shown").read_text().strip(), str(folder / "a.relaview"))
            window.write_text("#!/bin/sh\necho no display >&2\nexit 1\n")
            self.refused(relascope.show, "did not open", "no display", error=EngineError)

    def test_several_threads_ask(self):
        found = []
        threads = [threading.Thread(target=lambda: found.append(relascope.analyse(self.folder / "quick", "info")["step"])) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(found, [10] * 4)


class TestPicture(Package):
    def test_a_map_as_svg(self):
        values = np.array([[0.5, -1.0], [float("nan"), 0.0]])
        text = relascope.map(values, ["<a>", "b"], title="r & s")._repr_svg_()
        self.assertIn("i = 0 (&lt;a&gt;), j = 1 (b): -1", text)
        self.assertIn("r &amp; s", text)
        self.assertNotIn("<script", text)
        self.assertEqual(text.count("<rect"), 5 + 32)  # a page, the cells, the scale
        import xml.dom.minidom
        xml.dom.minidom.parseString(text)
        self.refused(lambda: relascope.map(np.ones(3)), "[rows, columns]")
        self.refused(lambda: relascope.map(np.ones((200, 200))), "40000 cells")
        found = relascope.maps(self.folder / "quick", sample=0).find("relation", 0)
        relascope.map(found).save(self.folder / "map.svg")
        self.assertEqual(found._repr_svg_(), (self.folder / "map.svg").read_text())


class TestInstalled(Package):
    def test_pip_installs_it_without_a_network(self):
        folder = self.own_folder()
        if subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", str(folder / "venv")], capture_output=True).returncode:
            self.skipTest("no python3-venv")
        python = folder / "venv/bin/python"
        source = folder / "source"
        shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__"))
        before = sorted(path.relative_to(source) for path in source.rglob("*"))
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PIP_") and key != "PYTHONPATH"}
        for words in ["install"], ["install", "--force-reinstall", "--no-deps", "-e"]:
            subprocess.run([str(python), "-m", "pip", *words[:1], "--no-index", "--no-cache-dir", "--disable-pip-version-check", *words[1:],
                            str(source)], check=True, capture_output=True, env=environment)
            where = subprocess.run([str(python), "-c", "import relascope; print(relascope.__file__, relascope.__version__)"], check=True,
                                   capture_output=True, text=True, cwd=folder, env=environment).stdout
            self.assertIn(str(source if "-e" in words else folder / "venv"), where)
        self.assertEqual(sorted(path.relative_to(source) for path in source.rglob("*") if "__pycache__" not in path.parts), before)
        stated = re.search(r"project\(relascope VERSION ([0-9.]+)", (TOP / "CMakeLists.txt").read_text()).group(1)
        self.assertEqual(relascope.__version__, stated)

    def test_what_is_public_has_a_docstring_and_types(self):
        import inspect
        for name in relascope.__all__:
            what = getattr(relascope, name)
            if callable(what):
                self.assertTrue(inspect.getdoc(what), name)
            if inspect.isfunction(what):
                for parameter in inspect.signature(what).parameters.values():
                    self.assertIsNot(parameter.annotation, inspect.Parameter.empty, f"{name}: {parameter}")

    def test_without_pytorch(self):
        code = ("import sys; sys.modules['torch'] = None; import relascope\n"
                "try: relascope.watch(None, None, inputs=1)\nexcept relascope.RunError as error: print(error)")
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                              env={**os.environ, "PYTHONPATH": str(PACKAGE)}).stdout
        self.assertEqual(said, "watch: needs PyTorch, which is not installed\n")


class TestTutorial(Package):
    def test_what_the_document_shows_runs(self):
        """The blocks of resources/docs/python.md that are marked as such are resources/python/examples/tutorial.py."""
        shown = (TOP / "resources/docs/python.md").read_text()
        script = (PACKAGE / "examples/tutorial.py").read_text()
        blocks = re.findall(r"```python\n(.*?)```", shown, re.DOTALL)
        self.assertGreater(len(blocks), 4)
        for block in blocks:
            if "import torch" not in block and "watch(" not in block:
                self.assertIn(block.strip(), script)
        folder = self.own_folder()
        shutil.copytree(self.folder / "quick", folder / "runs/quick")
        done = subprocess.run([sys.executable, str(PACKAGE / "examples/tutorial.py")], cwd=folder, capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((folder / "relation.svg").is_file())
        run_cli("inspect", folder / "runs/mine", "--step", 100, "--json")


if __name__ == "__main__":
    main(__doc__)
