#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests relascope/reading.py of resources/python: it reads runs of relascope-cli, and its numbers are those that relascope-cli
prints; damaged and lying files are refused in a sentence that names the file.

usage: python_run.py FOLDER_OF_RELASCOPE_CLI [TEST...]        exit status 77 without NumPy
"""
import json
import os
import shutil
import struct
import tempfile
import unittest
import zlib

from run_support import TOP, WithRuns, cli, main, read_file, train, write_file

import numpy as np
from relascope import reading
from relascope.reading import Run, RunError, Safetensors


def to_bfloat16(values):
    """To the nearest, ties to even, as the float32 of the result."""
    bits = values.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)


def setUpModule():
    WithRuns.begin("python")
    for name, budget in ("xor", 8), ("bfloat16", 24), ("float32", 64):  # each has room for one form
        train(WithRuns.folder / name, "quick", "--steps", 20, "--set", f"train.keep_mib={budget}")


class Reading(WithRuns):
    def run_of(self, name):
        return Run(self.folder / name)

    def refused(self, what, words):
        """what() raises RunError whose sentence has these words."""
        with self.assertRaises(RunError) as caught:
            what()
        for word in words:
            self.assertIn(word, str(caught.exception))


class TestNumbers(Reading):
    def test_info_is_that_of_the_command_line(self):
        run, stated = self.run_of("xor"), json.loads(cli("info", self.folder / "xor", "--json"))
        for key in "preset", "seed", "state", "step", "parameters":
            self.assertEqual(run.info[key], stated[key])
        self.assertEqual(run.info["best"]["accuracy"], stated["best_accuracy"])
        self.assertEqual(run.kept_steps(), [kept["step"] for kept in stated["kept"]])
        self.assertGreater(len(run.kept_steps()), 8)  # a busy machine may leave some of the 21 out
        self.assertEqual({kept["form"] for kept in stated["kept"]}, {"xor"})
        trainable = sum(v.size for v in {id(v): v for v in run.checkpoint(20).values()}.values())
        self.assertEqual(trainable, stated["parameters"])
        for event in run.events():
            self.assertLessEqual({"step", "time", "level", "text"}, set(event))
        self.assertEqual(run.events()[-1]["text"], "checkpoint at step 20")

    def test_metrics(self):
        run = self.run_of("xor")
        lines = [json.loads(line) for line in (self.folder / "xor/metrics.jsonl").read_text().splitlines()]
        self.assertEqual({line["split"] for line in lines}, {"train", "validation"})
        for split in "train", "validation":
            metrics = run.metrics(split)
            points = [line for line in lines if line["split"] == split]
            self.assertEqual(metrics["step"].dtype, np.int64)
            for name, values in metrics.items():  # layers are measured at some steps only
                np.testing.assert_array_equal(values, [point.get(name, np.nan) for point in points])
            self.assertEqual(set(metrics), set().union(*points) - {"split"})
            self.assertEqual("largest_relation/layer 1" in metrics, split == "train")
        validation = run.metrics("validation")
        last = {"step": 20, "loss": validation["loss"][-1], "accuracy": validation["accuracy"][-1]}
        self.assertEqual(run.info["last"], last)
        self.assertEqual(run.info["kept"], last)
        self.assertEqual(len(run.metrics("test")["step"]), 0)
        self.refused(lambda: run.metrics("pentos"), ["metrics.jsonl", "'pentos'", "train, validation, test"])

    def test_incomplete_and_damaged_lines(self):
        copy = self.copy_of("xor")
        steps = Run(copy).metrics()["step"].tolist()
        with open(copy / "metrics.jsonl", "a") as file:
            file.write('{"step":21,"examples":1,"split":"train","loss":null,"note":"x","accuracy":true}\n{"step":22,"examples":2,"split":"train"}')
        metrics = Run(copy).metrics()
        self.assertEqual(metrics["step"].tolist(), steps + [21])
        self.assertTrue(np.isnan(metrics["loss"][-1]) and np.isnan(metrics["accuracy"][-1]) and np.isnan(metrics["epoch"][-1]))
        self.assertNotIn("note", metrics)
        with open(copy / "metrics.jsonl", "a") as file:
            file.write("[[\n")
        with self.assertWarnsRegex(UserWarning, r"metrics\.jsonl: line \d+ is damaged"):
            self.assertEqual(Run(copy).metrics()["step"].tolist(), steps + [21])
        for number in "1e999", "1" * 400, "1e17", "null":
            with open(copy / "metrics.jsonl", "w") as file:
                file.write(f'{{"step":{number},"examples":0,"split":"train"}}\n')
            self.refused(lambda: Run(copy).metrics(), ["metrics.jsonl", "number"])

    def test_captures_are_those_of_inspect(self):
        run = self.run_of("xor")
        self.assertEqual(run.captures(), [0, 1, 2, 3, 4, 5, 8, 11, 16, 20])
        for step, sample, kind, layer in (0, 0, "relation", 0), (16, 1, "relation", 1), (20, 2, "attention-ra", 1), \
                (5, 3, "attention-sa", 0), (11, 0, "symbols", 1):
            capture = run.capture(step, sample)
            stated = json.loads(cli("inspect", self.folder / "xor", "--step", step, "--sample", sample, "--kind", kind,
                                    "--layer", layer + 1, "--json"))
            found = capture.find(kind, layer, 0)
            self.assertNotIn("kept", stated, "of the capture, not of the weights")
            self.assertEqual((found.rows, found.columns), (stated["rows"], stated["columns"]))
            self.assertEqual(found.values.dtype, np.float32)
            np.testing.assert_array_equal(found.values.ravel(), np.float32(stated["values"]))
            np.testing.assert_array_equal(capture.probabilities, np.float32(stated["probabilities"]))
            self.assertEqual((capture.step, capture.origin, capture.label, capture.classes, capture.layers[layer]),
                             (stated["step"], stated["sample"], stated["label"], stated["classes"], stated["layer_name"]))
        self.assertEqual(capture.arrays["images"].shape, (36, 36, 3))
        self.refused(lambda: run.capture(7), ["captures", "step 7", "0, 1, 2"])
        self.refused(lambda: run.capture(8, 99), ["step-8.safetensors", "no sample 99"])
        self.refused(lambda: capture.find("relation", 5), ["layer 5", "1 relation of layer 1"])

    def test_captures_as_csv(self):
        out = self.folder / "map.csv"
        cli("inspect", self.folder / "xor", "--step", 3, "--layer", 2, "--sample", 1, "--out", out)
        lines = [line.split(",") for line in out.read_text().splitlines()]
        values = self.run_of("xor").capture(3, 1).find("relation", 1).values
        self.assertEqual([[np.float32(cell) for cell in line[1:]] for line in lines[1:]], values.tolist())

    def test_weights_of_every_form(self):
        runs = {name: self.run_of(name) for name in ("xor", "bfloat16", "float32")}
        for name, run in runs.items():
            forms = {Safetensors(run.path + f"/weights/step-{s}.safetensors").metadata["form"] for s in run.kept_steps()}
            self.assertEqual(forms, {name})
        last, checkpoint = runs["float32"].weights(20), runs["float32"].checkpoint(20)
        self.assertEqual(list(runs["float32"].checkpoints()), [16, 20])  # of the first evaluation, and the last
        self.assertEqual(set(last), set(checkpoint))
        for name, values in checkpoint.items():
            np.testing.assert_array_equal(last[name], values)
        # The three runs compute the same; differences and rounding are undone to the last bit.
        # A busy machine may leave a step out, where a copy takes too much of the time of training.
        kept = [set(run.kept_steps()) for run in runs.values()]
        steps = sorted(set.intersection(*kept))
        self.assertGreater(len(steps), 6)
        chains = 0
        for step in steps:
            exact, halves, packed = (runs[name].weights(step) for name in ("float32", "bfloat16", "xor"))
            chains += "base" in Safetensors(runs["xor"].path + f"/weights/step-{step}.safetensors").metadata
            for name, values in exact.items():
                if values.dtype == np.float32:
                    np.testing.assert_array_equal(to_bfloat16(values), halves[name])
                self.assertEqual(halves[name].dtype, values.dtype)
                np.testing.assert_array_equal(halves[name], packed[name])
        self.assertGreater(chains, 10)
        self.assertTrue(any((runs["xor"].weights(0)[n] != runs["xor"].weights(20)[n]).any() for n in exact))
        self.refused(lambda: runs["xor"].weights(14), ["weights", "no weights of step 14", "13, 15"])
        self.refused(lambda: runs["xor"].checkpoint(3), ["checkpoints", "step 3", "20"])

    def test_factors_and_words_of_a_text(self):
        text = self.folder / "text.txt"
        text.write_text("".join(f"The state machine of the model {i} is a machine of states.\n" for i in range(400)))
        settings = ["data.context=64", "model.max_block_size=64", "model.n_layers=2", "model.d_model=32", "model.dff=32",
                    f"data.path={text}", "data.tokenizer=characters", "data.train_size=32", "train.keep_mib=0",
                    "train.batch_size=8"]
        train(self.folder / "text", "text", "--steps", 2, *[word for each in settings for word in ("--set", each)])
        capture, factors = self.run_of("text").capture(2), []
        header, _ = read_file(self.folder / "text/captures/step-2.safetensors")
        for found in capture.maps:
            stated = json.loads(cli("inspect", self.folder / "text", "--step", 2, "--kind", found.kind, "--layer",
                                    found.layer + 1, "--index", found.index + 1, "--json")) if found.index < 2 else None
            if stated is None:
                continue
            if f"{found.kind}/{found.layer}/queries" in header:
                factors.append(found.kind)
                values = np.float32(stated["values"]).reshape(found.rows, found.columns)
                np.testing.assert_allclose(found.values, values, rtol=2e-5, atol=2e-6)
                np.testing.assert_array_equal(found.part(3, 2), found.values[3:5])
            else:
                np.testing.assert_array_equal(found.values.ravel(), np.float32(stated["values"]))
        self.assertIn("relation", factors)
        self.assertIn("attention-sa", factors)
        self.assertTrue(any(found.causal for found in capture.maps))
        self.assertEqual(len(capture.words), capture.find("relation", 0).rows)
        self.assertIn("state machine", "".join(capture.words))

    def test_runs_of_earlier_versions(self):
        kinds, words, steps = set(), 0, []
        for path in sorted((TOP / "tests/fixtures/runs").glob("*/*")):
            run = Run(path)
            self.assertEqual(set(run.metrics("validation")) & {"step", "seconds"}, {"step", "seconds"})
            steps += run.metrics("train")["step"].tolist()
            for step in run.captures():
                capture = run.capture(step)
                words += len(capture.words)
                for found in capture.maps:
                    kinds.add((found.kind, found.library_rows))
                    self.assertEqual(found.values.shape, (found.rows, found.columns))
                    self.assertTrue(np.isfinite(found.values).all())
            for step in run.checkpoints():
                self.assertGreater(len(run.checkpoint(step)), 0)
        self.assertEqual({kind for kind, _ in kinds}, set(reading.KINDS))
        self.assertGreater(words, 0)
        self.assertEqual(set(steps), {1, 2})


class TestMaps(unittest.TestCase):
    """Maps from factors against the formula, and symbols by position, in captures that are made here."""

    def capture(self, tensors, metadata):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        tensors = {"labels": np.int64([3, 4]), "probabilities": np.float32([[0.5], [0.25]]), **tensors}
        header, data = {"__metadata__": {"layers": "1", **metadata}}, b""
        for name, values in tensors.items():
            dtype = {"i": "I64", "f": "F32", "u": "U8"}[values.dtype.kind]
            header[name] = {"dtype": dtype, "shape": values.shape, "data_offsets": [len(data), len(data) + values.nbytes]}
            data += values.tobytes()
        write_file(folder.name + "/step-1.safetensors", header, data)
        return reading.Capture(folder.name + "/step-1.safetensors", 1, 1)

    def test_every_activation(self):
        draw = np.random.default_rng(0)
        queries = draw.normal(size=(2, 4, 5, 3)).astype(np.float32)
        keys = draw.normal(size=(1, 2, 3, 6)).astype(np.float32)
        scalar = {"identity": lambda x: x, "relu": lambda x: max(x, 0), "tanh": np.tanh,
                  "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "silu": lambda x: x / (1 + np.exp(-x)), "softmax": np.exp,
                  "gelu": lambda x: x / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))}
        for activation, f in scalar.items():
            for masked in False, True:
                metadata = {"activation_relation/0": activation, "scale_relation/0": "-0.5"}
                if masked:
                    metadata["masked_relation/0"] = metadata["causal_relation/0"] = "1"
                capture = self.capture({"relation/0/queries": queries, "relation/0/keys": keys}, metadata)
                self.assertEqual([found.index for found in capture.maps], [0, 1, 2, 3])
                for found in capture.maps:
                    self.assertEqual((found.rows, found.columns, found.causal), (5, 6, masked))
                    wanted = np.zeros((5, 6))
                    for i in range(5):
                        for j in range(i + 1 if masked else 6):
                            wanted[i, j] = f(-0.5 * sum(float(queries[1, found.index, i, w]) * float(
                                keys[0, found.index // 2, w, j]) for w in range(3)))
                        if activation == "softmax":
                            wanted[i] /= wanted[i].sum()
                    np.testing.assert_allclose(found.values, wanted, rtol=1e-6, atol=1e-7)

    def test_symbols_by_position(self):
        found = self.capture({}, {"symbols_symbols/0": "3 4", "library_rows_symbols/0": "0"}).find("symbols", 0)
        self.assertEqual((found.values.tolist(), found.library_rows), (np.eye(3, 4).tolist(), False))
        found = self.capture({}, {"symbols_symbols/0": "3 4 1", "library_rows_symbols/0": "1"}).find("symbols", 0)
        self.assertEqual((found.values.tolist(), found.library_rows), ([[1, 2, 2, 2], [0, 1, 2, 2], [0, 0, 1, 2]], True))
        huge = self.capture({}, {"symbols_symbols/0": "1000000 1000000"}).find("symbols", 0)
        self.assertEqual(huge.part(7, 1).nonzero()[1].tolist(), [7])
        with self.assertRaisesRegex(RunError, "part"):
            huge.values
        for stated in "3", "3 x", "0 4", "3 4 5 6", "9999999 2", "-1 2":
            with self.assertRaisesRegex(RunError, "symbols/0"):
                self.capture({}, {"symbols_symbols/0": stated})

    def test_factors_that_do_not_fit(self):
        one = np.ones((2, 2, 3, 2), np.float32)
        keys = np.ones((1, 1, 2, 3), np.float32)
        good = {"activation_relation/0": "identity", "scale_relation/0": "1e-1"}
        self.assertAlmostEqual(self.capture({"relation/0/queries": one, "relation/0/keys": keys}, good).maps[1].values[2, 2],
                               0.2, 6)
        for tensors, metadata in ({"relation/0/queries": one}, good), \
                ({"relation/0/queries": one, "relation/0/keys": keys[:, :, :1]}, good), \
                ({"relation/0/queries": one, "relation/0/keys": np.ones((1, 3, 2, 3), np.float32)}, good), \
                ({"relation/0/queries": one[:, :, :0], "relation/0/keys": keys}, good), \
                ({"relation/0/queries": one[0], "relation/0/keys": keys}, good), \
                ({"relation/0/queries": one, "relation/0/keys": keys}, {**good, "activation_relation/0": "cube"}), \
                ({"relation/0/queries": one, "relation/0/keys": keys}, {**good, "scale_relation/0": "inf"}), \
                ({"relation/0": one.astype(np.int64)}, {}), ({"relation/0": one[:, :0]}, {}), \
                ({"pieces": np.uint8([[1], [1]]), "piece_ends": np.int64([[9], [9]])}, {}):
            with self.assertRaises(RunError):
                self.capture(tensors, metadata)


class TestHostileFiles(Reading):
    def test_truncated_at_every_kind_of_place(self):
        copy = self.copy_of("xor")
        for name, read in ("captures/step-8.safetensors", lambda: Run(copy).capture(8)), \
                ("weights/step-2.safetensors", lambda: Run(copy).weights(2)), \
                ("checkpoints/step-20/model.safetensors", lambda: Run(copy).checkpoint(20)):
            whole = (copy / name).read_bytes()
            for length in 0, 7, 8, 9, 200, len(whole) // 2, len(whole) - 1:
                (copy / name).write_bytes(whole[:length])
                self.refused(read, [name])
            (copy / name).write_bytes(whole + b"x")
            self.refused(read, [name, "after its last tensor"])
            (copy / name).write_bytes(whole)
            read()

    def test_headers_that_lie(self):
        path = self.folder / "lie.safetensors"
        entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
        write_file(path, {"a": entry}, bytes(8))
        self.assertEqual(Safetensors(path).tensor("a").tolist(), [0, 0])
        for header, words in (
                ({"a": {**entry, "shape": [3]}}, ["need 12 bytes", "give 8"]),
                ({"a": {**entry, "shape": [1 << 62, 1 << 62]}}, ["give 8"]),
                ({"a": {**entry, "shape": [-2]}}, ["shape"]), ({"a": {**entry, "shape": [True, 2]}}, ["shape"]),
                ({"a": {**entry, "shape": [1] * 65 + [2]}}, ["shape"]), ({"a": {**entry, "shape": 2}}, ["shape"]),
                ({"a": {**entry, "dtype": "F31"}}, ["unknown dtype F31"]), ({"a": {**entry, "dtype": 4}}, ["dtype"]),
                ({"a": {**entry, "data_offsets": [8, 0]}}, ["data_offsets"]),
                ({"a": {**entry, "data_offsets": [4, 12]}}, ["leave a hole"]),
                ({"a": entry, "b": entry}, ["leave a hole or overlap"]), ({}, ["after its last tensor"]),
                ({"a": {"dtype": "F32", "shape": [2]}}, ["needs dtype"]), ({"a": 1}, ["needs dtype"]),
                ({"a": entry, "__metadata__": {"x": 1}}, ["metadata"]), ({"a": entry, "__metadata__": []}, ["metadata"]),
                ({"a": {**entry, "shape": [1 << 20], "data_offsets": [0, 1 << 22]}}, ["bytes shorter"]),
                (b"[]", ["not a JSON object"]), (b"{", ["not a JSON object"]), (b"\xff{}", ["not a JSON object"]),
                (b'{"a":' * 100000, ["not a JSON object"]),
                (('{"a":' + json.dumps(entry) + ',"a":' + json.dumps(entry) + "}").encode(), ["twice"])):
            write_file(path, header, bytes(8))
            self.refused(lambda: Safetensors(path), ["lie.safetensors", *words])
        path.write_bytes(struct.pack("<Q", 1 << 63) + b"{}")
        self.refused(lambda: Safetensors(path), ["lie.safetensors", "is not a safetensors file"])
        write_file(path, {"a": {**entry, "shape": [1] * 64 + [2]}}, bytes(8))
        write_file(path, {"a": {**entry, "dtype": "F8_E4M3", "shape": [8]}}, bytes(8))
        self.refused(lambda: Safetensors(path).tensor("a"), ["F8_E4M3"])
        self.refused(lambda: Safetensors(path).tensor("b"), ["lacks the tensor 'b'"])
        self.refused(lambda: Safetensors(self.folder / "none"), ["none", "No such file"])
        write_file(path, {"a": entry}, bytes(8))
        file = Safetensors(path)
        write_file(path, {"a": entry, "__metadata__": {"x": "y"}}, bytes(8))
        self.refused(lambda: file.tensor("a"), ["changed"])

    def test_every_type(self):
        path = self.folder / "types.safetensors"
        values = {"BF16": (b"\x80\x3f\x00\xc0", [1, -2]), "F16": (np.float16([1.5]).tobytes(), [1.5]),
                  "BOOL": (b"\x01\x00", [True, False]), "I8": (b"\xff", [-1]), "U64": (b"\xff" * 8, [2 ** 64 - 1])}
        header, data = {}, b""
        for dtype, (raw, numbers) in values.items():
            header[dtype] = {"dtype": dtype, "shape": [len(numbers)], "data_offsets": [len(data), len(data) + len(raw)]}
            data += raw
        write_file(path, {**header, "__metadata__": {"second": "BF16"}}, data)
        found = Safetensors(path).weights()
        for dtype, (_, numbers) in values.items():
            self.assertEqual(found[dtype].tolist(), numbers)
        self.assertIs(found["second"], found["BF16"])
        self.assertEqual(found["BF16"].dtype, np.float32)

    def chain_of(self, step):
        """The steps whose files the kept weights of a step are made of."""
        base = Safetensors(self.run_of("xor").path + f"/weights/step-{step}.safetensors").metadata.get("base")
        return [step] if base is None else [step, *self.chain_of(int(base))]

    def test_kept_weights_that_lie(self):
        copy = self.copy_of("xor")
        path = copy / "weights/step-2.safetensors"
        header, data = read_file(path)
        name = next(key for key in header if "shape/" + key in header["__metadata__"])
        self.assertEqual(header["__metadata__"]["base"], "1")

        def with_metadata(**changes):
            changed = {**header["__metadata__"], **changes}
            return {**header, "__metadata__": {key: value for key, value in changed.items() if value is not None}}
        for changes, words in (
                ({"kept": "2"}, ["kept", "format 1"]), ({"step": "3"}, ["'step' is 3"]), ({"form": "zip"}, ["'zip'"]),
                ({"form": "float32"}, ["crc32"]), ({"crc32": "1"}, ["crc32", "damaged"]), ({"crc32": None}, ["crc32"]),
                ({"crc32": "\u0663"}, ["crc32"]), ({"base": "2"}, ["base"]), ({"base": "0"}, ["base_crc32"]),
                ({"base": None}, ["crc32", "damaged"]), ({"base": "99"}, ["base"]), ({"base_crc32": "5"}, ["not the base"]),
                ({"shape/" + name: "1000000000,1000000"}, [name, "cannot hold"]), ({"shape/" + name: "2,,"}, [name]),
                ({"shape/" + name: "1"}, ["base"])):
            write_file(path, with_metadata(**changes), data)
            self.refused(lambda: Run(copy).weights(2), ["weights", *words])
        begin, end = header[name]["data_offsets"]
        write_file(path, header, data[:begin] + bytes(end - begin) + data[end:])
        self.refused(lambda: Run(copy).weights(2), ["step-2.safetensors", name, "compressed bytes"])
        os.remove(copy / "weights/step-1.safetensors")
        with self.assertWarnsRegex(UserWarning, r"step-2\.safetensors: needs the weights of step 1"):
            self.assertEqual(Run(copy).kept_steps(), [s for s in self.run_of("xor").kept_steps() if 1 not in self.chain_of(s)])

    def test_a_bomb_is_refused_before_it_is_unpacked(self):
        folder = self.copy_of("xor")
        packed = zlib.compress(bytes(1 << 24), 9)
        for shape, words in (str(1 << 23), None), (str((1 << 23) - 1), ["compressed bytes are damaged"]):
            write_file(folder / "weights/step-0.safetensors", {
                "w": {"dtype": "U8", "shape": [len(packed)], "data_offsets": [0, len(packed)]},
                "__metadata__": {"kept": "1", "step": "0", "form": "xor", "shape/w": shape,
                                 "crc32": str(zlib.crc32(bytes(1 << 24)))}}, packed)
            if words:
                self.refused(lambda: Run(folder).weights(0), words)
            else:
                self.assertEqual(Run(folder).weights(0)["w"].shape, (1 << 23,))

    def test_folders_that_are_no_runs(self):
        self.refused(lambda: Run(self.folder), [str(self.folder), "no run.json"])
        self.refused(lambda: Run(self.folder / "nowhere"), ["nowhere", "no run.json"])
        (self.folder / "seeds").mkdir()
        shutil.copytree(self.folder / "xor", self.folder / "seeds/seed-0")
        self.refused(lambda: Run(self.folder / "seeds"), ["several seeds", "seed-0"])
        for text, word in ("[]", "not a JSON object"), ("{", "not a JSON object"), ('{"format":2}', "format 2"):
            (self.folder / "seeds/seed-0/run.json").write_text(text)
            self.refused(lambda: Run(self.folder / "seeds/seed-0"), ["run.json", word])


if __name__ == "__main__":
    main(__doc__)
