#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests what Relascope answers about models that Python serves, against its answers about the same checkpoints opened by itself.

usage: python_served_engine.py FOLDER_OF_RELASCOPE_CLI [TEST...]        exit status 77 without NumPy, PyTorch or transformers
"""
import json
import math
import subprocess
import sys

import run_support
from run_support import TOP, WithRuns, main
from serve_support import Serving

import numpy as np
import relascope
import torch
from relascope.engine import EngineError

try:
    import transformers
except ImportError as error:
    print(f"{sys.executable} has no transformers: {error}")
    sys.exit(77)

PUBLIC = TOP / "tests/fixtures/golden/public"
SAME = 1e-4
# Forwards a socket by its bytes alone.
RELAY = """
import os, socket, sys, threading
there = socket.socket(socket.AF_UNIX)
there.bind(sys.argv[2]); os.chmod(sys.argv[2], 0o600); there.listen(); print(flush=True)
def pump(one, other):
    while data := one.recv(1 << 16): other.sendall(data)
    other.shutdown(socket.SHUT_WR)
while True:
    one, other = there.accept()[0], socket.socket(socket.AF_UNIX)
    other.connect(sys.argv[1])
    for pair in (one, other), (other, one): threading.Thread(target=pump, args=pair, daemon=True).start()
"""
# What differs by name: the data, the input, the place that was asked.
NAMED = {"path", "data", "basis", "where", "heading", "sample", "input", "origin", "label", "split", "subject", "a", "b", "a_architecture", "b_architecture"}


def setUpModule():
    WithRuns.begin("served-engine")


def differences(native, served, place=""):
    """Where two answers differ."""
    if isinstance(native, dict) and isinstance(served, dict):
        for key in sorted(native.keys() | served.keys()):
            if key not in NAMED:
                yield from differences(native.get(key), served.get(key), f"{place}.{key}")
    elif isinstance(native, list) and isinstance(served, list):
        if len(native) != len(served):
            yield f"{place}: {len(native)} and {len(served)}"
        for at, (one, other) in enumerate(zip(native, served)):
            yield from differences(one, other, f"{place}[{at}]")
    elif isinstance(native, float) and isinstance(served, float):
        if not math.isclose(native, served, rel_tol=SAME, abs_tol=SAME):
            yield f"{place}: {native} and {served}"
    elif native != served:
        yield f"{place}: {native} and {served}"


class Asking(Serving):
    @classmethod
    def setUpClass(cls):
        cls.engine = relascope.Engine(run_support._program)
        cls.addClassCleanup(cls.engine.close)

    def model(self, case, how):
        folder = PUBLIC / case
        kind = json.loads((folder / "config.json").read_text()).get("architectures", ["GPT2LMHeadModel"])[0]
        return getattr(transformers, kind).from_pretrained(folder, attn_implementation=how, dtype=torch.float32)

    def ask(self, path, what, *more, **options):
        return relascope.analyse(path, what, *more, engine=self.engine, **options)

    def same(self, native, served):
        native, served = dict(native), dict(served)
        for name in "step", "of_step":  # of no run
            self.assertIn((native.pop(name, None), served.pop(name, None)), [(0, -1), (None, None)])
        self.assertEqual(list(differences(native, served))[:5], [])


class TestPictures(Asking):
    EDITS = "layer 1 head 2 zero", "layer 2 attention scale 3", "layer 1 head 1 uniform", "layer 2 stream add 0.5", "blocks.1.attn.hook_attn_scores head 2 mask"

    def pictures(self, folder, count=24):
        """Pictures, as native models read them and as this one does."""
        config, processor = (json.loads((folder / name).read_text()) for name in ("config.json", "preprocessor_config.json"))
        side, drawn = config["image_size"], np.random.default_rng(0)
        patches = drawn.integers(0, 255, (count, 4, 4, 3))
        images = np.clip(np.kron(patches, np.ones((1, side // 4, side // 4, 1))) + drawn.integers(-20, 20, (count, side, side, 3)), 0, 255)
        images, labels = images.astype(np.uint8), patches.reshape(count, -1).sum(1) % len(config["id2label"])
        np.savez(self.folder / "pictures.npz", images=images, labels=labels)
        values = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255
        values = (values - torch.tensor(processor["image_mean"]).view(3, 1, 1)) / torch.tensor(processor["image_std"]).view(3, 1, 1)
        names = [config["id2label"][str(each)] for each in range(len(config["id2label"]))]
        return images, {"pixel_values": values, "labels": torch.from_numpy(labels)}, names

    def test_as_native(self):
        folder = PUBLIC / "vit"
        images, inputs, names = self.pictures(folder)
        data = {"data": str(self.folder / "pictures.npz"), "examples": 24}
        for how in "eager", "sdpa":
            served = self.served(self.model("vit", how), inputs, classes=names, show={"images": images, "patch": 8})
            for what, options in (("ablate", {}), ("atlas", {}), ("scan", {})):
                with self.subTest(what, how=how):
                    more = {**options, "untrained": 0}
                    self.same(self.ask(folder, what, **data, **more), self.ask(served, what, examples=24, **more))
            with self.subTest("eval", how=how):
                self.same(self.ask(folder, "eval", data=data["data"]), self.ask(served, "eval", split="validation"))
            from PIL import Image
            files = []
            for each in 1, 2:
                files.append(str(self.folder / f"{each}.png"))
                Image.fromarray(images[each]).save(files[-1])
            for what in "lens", "heads":
                with self.subTest(what, how=how):
                    self.same(self.ask(folder, what, image=files[0]), self.ask(served, what, sample=1))
            with self.subTest("patch", how=how):
                self.same(self.ask(folder, "patch", clean=f"image:{files[0]}", corrupt=f"image:{files[1]}"),
                          self.ask(served, "patch", clean="sample:1", corrupt="sample:2"))
            for edit in self.EDITS:
                with self.subTest(edit, how=how):
                    more = {"edit": edit, "layer": 2, "kind": "attention-sa"}
                    self.same(self.ask(folder, "inspect", image=files[0], **more), self.ask(served, "inspect", sample=1, **more))
            with self.subTest("duel", how=how):
                self.same(self.ask(folder, "duel", str(folder), **data, untrained=0), self.ask(served, "duel", served, examples=24, untrained=0))
            served.close()

    def test_through_a_relay(self):
        """A socket that another process forwards, as `ssh -L` does: what goes by memory here goes with the messages there."""
        images, inputs, names = self.pictures(PUBLIC / "vit", 64)
        served = self.served(self.model("vit", "eager"), inputs, classes=names, show={"images": images, "patch": 8})
        folder = relascope.door.runtime_folder()
        relay = subprocess.Popen([sys.executable, "-c", RELAY, f"{folder}/test.served", f"{folder}/far.served"], stdout=subprocess.PIPE)
        self.addCleanup(relay.stdout.close)
        self.addCleanup(relay.wait)
        self.addCleanup(relay.kill)
        relay.stdout.readline()
        for what, options in (("lens", {"sample": 1}), ("ablate", {"examples": 64, "edit": "layer 1 head 1 uniform"})):
            with self.subTest(what):
                words = [what, "served:far", *relascope.engine._words(options)]
                _, found = self.engine.ask({"m": "command", "words": words, "folder": str(self.folder)}, None, [served])
                self.assertEqual(list(differences(dict(self.ask(served, what, **options)), json.loads(found)))[:5], [])

    def test_along_kept_steps(self):
        """A cell of a map and an answer at each step that run.weights() has kept, computed by the model of now."""
        images, inputs, names = self.pictures(PUBLIC / "vit")
        model, cell = self.model("vit", "eager"), {"kind": "attention-sa", "layer": 2, "index": 2, "source": 3, "to": 5, "sample": 4}
        with relascope.Run(self.own_folder() / "run") as run:
            served = self.served(model, inputs, classes=names, show={"images": images, "patch": 8}, run=run)
            with self.assertRaisesRegex(EngineError, "served:test keeps no weights; give serve\\(\\) a run"):
                self.ask(served, "along", **cell)
            wanted, now = {}, {name: each.clone() for name, each in model.state_dict().items()}
            for step, factor in (5, 1.0), (10, 1.5), (20, 0.5):
                model.load_state_dict({name: factor * each if each.is_floating_point() else each for name, each in now.items()})
                run.weights(step, model.state_dict())
                with torch.no_grad():
                    found = model.eval()(inputs["pixel_values"][4:5], output_attentions=True)
                wanted[step] = float(found.attentions[1][0, 1, 3, 5]), found.logits.softmax(1)[0]
            model.load_state_dict(now)
            answer = self.ask(served, "along", **cell)
            self.assertEqual([each["step"] for each in answer["steps"]], [5, 10, 20])
            stored = [int(relascope.reading.Safetensors(f"{run.path}/weights/step-{step}.safetensors").metadata["crc32"]) for step in (5, 10, 20)]
            self.assertEqual([each["weights"] for each in answer["steps"]], stored)
            for each in answer["steps"]:
                self.assertAlmostEqual(each["value"], wanted[each["step"]][0], delta=1e-5)
                self.assertAlmostEqual(each["probability"], float(wanted[each["step"]][1][answer["answer"]]), delta=1e-5)
            self.assertTrue(all(torch.equal(each, now[name]) for name, each in model.state_dict().items()))
            at = self.ask(served, "heads", checkpoint="10", sample=4)
            self.assertEqual(at["step"], 10)
            for step in 10, 11:  # the nearest
                found = self.ask(served, "inspect", step=step, sample=4, kind="attention-sa", layer=2)
                self.assertEqual(found["step"], 10)
            for step, factor in (5, 1.0), (10, 1.5):
                model.load_state_dict({name: factor * each if each.is_floating_point() else each for name, each in now.items()})
                with torch.no_grad():
                    loss = model.eval()(**inputs).loss.item()
                model.load_state_dict(now)
                found = self.ask(served, "eval", step=step, split="validation")
                self.assertEqual(found["step"], step)
                self.assertAlmostEqual(found["loss"], loss, delta=SAME)
            with self.assertRaisesRegex(EngineError, "'11' is none of the steps that test has kept \\(3 from 5 to 20\\)"):
                self.ask(served, "heads", checkpoint="11", sample=4)

    def test_attributes_come_with_examples(self):
        images, inputs, names = self.pictures(PUBLIC / "vit")
        near = np.random.default_rng(1).integers(0, 2, (len(images), 9, 9)).astype(np.float32)
        served = self.served(self.model("vit", "eager"), inputs, classes=names, show={"images": images, "patch": 8, "attributes": {"near enough": near}})
        self.assertIn("near enough", json.dumps(self.ask(served, "atlas", examples=24)))
        wrong = self.served(self.model("vit", "eager"), inputs, classes=names, name="wrong",
                            show={"images": images, "patch": 8, "attributes": {"near enough": near[:, :8, :8]}})
        with self.assertRaisesRegex(EngineError, "near enough"):
            self.ask(wrong, "atlas", examples=24)

    def test_what_cannot_be_asked_is_a_sentence(self):
        folder = PUBLIC / "vit"
        images, inputs, names = self.pictures(folder)
        served = self.served(self.model("vit", "eager"), inputs, classes=names)
        for what in "qk-attribution", "contrast", "qk-components", "attribute", "shares":
            with self.subTest(what), self.assertRaisesRegex(EngineError, "needs weights, which a served model does not send"):
                self.ask(served, what)
        for what, options, sentence in (("generate", {}, "generate"), ("inspect", {"sample": 24}, "24 is out of range"),
                                        ("inspect", {"random": 1, "kind": "attention-sa"}, "encode"),
                                        ("inspect", {"sample": 0, "edit": "layer 9 head 1 zero"}, "layer"),
                                        ("ablate", {"untrained": 2}, "fresh"), ("ablate", {"split": "none"}, "none"), ("info", {}, "belong")):
            with self.subTest(what, **options), self.assertRaisesRegex(EngineError, sentence):
                self.ask(served, what, **options)
        with self.assertRaisesRegex(EngineError, "No process of yours serves a model as gone"):
            self.ask("served:gone", "inspect")
        self.assertEqual(len(self.ask(served, "inspect", sample=0, kind="attention-sa")["probabilities"]), len(names))


class TestTexts(Asking):
    EDITS = "layer 1 head 2 zero", "layer 2 attention scale 3", "layer 1 head 1 uniform", "layer 1 head 1 set 0.1", "blocks.0.attn.hook_attn_scores j 2:4 mask", \
        "layer 1 edge 3 1 zero", "layer 2 head 1 swap 1 2"

    def test_as_native(self):
        for case in "gpt2_tied", "llama_gqa_untied", "mistral_window", "qwen2_biases", "gpt_neox_parallel", "gpt_neox_sequential":
            folder = PUBLIC / case
            size = json.loads((folder / "config.json").read_text())["vocab_size"]
            torch.manual_seed(0)
            ids = torch.randint(size, (6, 20))
            tokens = [",".join(map(str, each)) for each in ids.tolist()]
            tokenizer = folder / "tokenizer.json"
            for how in "eager", "sdpa":
                served = self.served(self.model(case, how), {"input_ids": ids, "labels": ids}, tokenizer=str(tokenizer) if tokenizer.exists() else None)
                for what in "lens", "heads":
                    with self.subTest(what, case=case, how=how):
                        self.same(self.ask(folder, what, tokens=tokens[1]), self.ask(served, what, sample=1))
                        typed = ",".join(map(str, ids[0, :9].tolist()))
                        self.same(self.ask(folder, what, tokens=typed), self.ask(served, what, tokens=typed))
                with self.subTest("patch", case=case, how=how):
                    self.same(self.ask(folder, "patch", clean=f"tokens:{tokens[1]}", corrupt=f"tokens:{tokens[2]}"),
                              self.ask(served, "patch", clean="sample:1", corrupt="sample:2"))
                for edit in self.EDITS:
                    with self.subTest(edit, case=case, how=how):
                        more = {"edit": edit, "layer": 2, "kind": "attention-sa"}
                        self.same(self.ask(folder, "inspect", tokens=tokens[1], **more), self.ask(served, "inspect", sample=1, **more))
                with self.subTest("eval", case=case, how=how):
                    with torch.no_grad():
                        loss = served.model(input_ids=ids, labels=ids).loss.item()
                    self.assertAlmostEqual(self.ask(served, "eval", split="validation")["loss"], loss, delta=SAME)
                    self.assertTrue(self.ask(served, "ablate", examples=4)["rows"])
                served.close()

    def test_minimal_pairs_along_kept_steps(self):
        """As the checkpoints of the same weights."""
        folder, pairs = PUBLIC / "gpt2_tied", str(TOP / "tests/fixtures/pairs/pairs.jsonl")
        model, ids = self.model("gpt2_tied", "eager"), torch.arange(40).view(4, 10)
        now, wanted = {name: each.clone() for name, each in model.state_dict().items()}, {}
        with relascope.Run(self.own_folder() / "run") as run:
            served = self.served(model, {"input_ids": ids, "labels": ids}, tokenizer=str(folder / "tokenizer.json"), run=run)
            for step, factor in (4, 0.5), (8, 2.0):
                model.load_state_dict({name: factor * each if each.is_floating_point() else each for name, each in now.items()})
                run.weights(step, model.state_dict())
                own = self.own_folder()
                model.save_pretrained(own)
                (own / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
                wanted[step] = self.ask(own, "eval", pairs=pairs, untrained=0)
            model.load_state_dict(now)
            answer = self.ask(served, "pair-accuracy", pairs=pairs, untrained=0, along=True)
            found = {step: [each for each in answer["along"] if each["step"] == step] for step in (4, 8)}
            self.assertEqual(sum(map(len, found.values())), len(answer["along"]))
            for step, rows in found.items():
                phenomena = [{"phenomenon": rows[0]["phenomenon"], **wanted[step]}, *wanted[step]["phenomena"]]
                self.assertEqual([each["phenomenon"] for each in rows], [each["phenomenon"] for each in phenomena])
                for row, native in zip(rows, phenomena):
                    for name in "pair_accuracy", "low", "high", "difference":
                        self.assertAlmostEqual(row[name], native[name], delta=SAME)
            native = self.ask(folder, "eval", pairs=pairs, untrained=0)
            self.assertAlmostEqual(answer["difference"], native["difference"], delta=SAME)
            self.assertNotAlmostEqual(found[4][0]["difference"], found[8][0]["difference"], delta=SAME)


if __name__ == "__main__":
    main(__doc__)
