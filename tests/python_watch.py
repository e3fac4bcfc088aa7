#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests relascope.watch(): the maps are those that the modules compute, and the training is the same with and without.
The Python has PyTorch and the packages of watch-requirements.txt, as the one that tests/run.sh installs.

usage: python_watch.py FOLDER_OF_RELASCOPE_CLI [TEST...]        exit status 77 without NumPy or PyTorch
"""
import copy
import json
import math
import os
import pickle
import random
import subprocess
import sys
import warnings

from run_support import TOP, WithRuns, cli, main

try:
    import torch
except ImportError as error:  # also one whose libraries are not there
    print(f"{sys.executable} has no PyTorch: {str(error).splitlines()[0]}")
    sys.exit(77)
import numpy as np
from torch import nn

import relascope

sys.path.remove(os.path.dirname(os.path.abspath(__file__)))  # where `datasets` is no package that transformers knows
torch.set_num_threads(1)


def setUpModule():
    WithRuns.begin("watch")


class Watching(WithRuns):
    def run_of(self, **more):
        run = relascope.Run(self.own_folder() / "run", **more)
        self.addCleanup(run.done)
        return run

    def captured(self, model, inputs, sample=0, **more):
        """What watch() captures of a model."""
        torch.manual_seed(1)
        run = self.run_of()
        self.path = run.path
        relascope.watch(model, run, inputs=inputs, **more).close()
        return relascope.read(run.path).capture(0, sample)

    def metadata(self):
        """Of what captured() has captured."""
        return relascope.reading.Safetensors(self.path + "/captures/step-0.safetensors").metadata

    def same(self, capture, kind, layer, wanted, causal=False):
        """wanted: [maps, n, m]."""
        for index, values in enumerate(wanted.detach().float().numpy()):
            np.testing.assert_allclose(capture.find(kind, layer, index).values, values, rtol=0, atol=1e-6)
            self.assertEqual(capture.find(kind, layer, index).causal, causal)
        self.assertEqual(sum(found.kind == kind and found.layer == layer for found in capture.maps), len(wanted))


class TestModules(Watching):
    def test_multihead_attention(self):
        torch.manual_seed(0)
        for more in {}, {"batch_first": True}, {"kdim": 6, "vdim": 5, "batch_first": True}, {"bias": False, "batch_first": True}, \
                {"add_bias_kv": True, "add_zero_attn": True, "batch_first": True}:
            attention = nn.MultiheadAttention(8, 2, dropout=0.5, **more)
            query, key = torch.randn(3, 5, 8), torch.randn(3, 7, more.get("kdim", 8))
            value = torch.randn(3, 7, more.get("vdim", 8))
            if not more.get("batch_first"):
                query, key, value = (x.transpose(0, 1) for x in (query, key, value))
            padding = torch.zeros(3, 7)
            padding[1, 4:] = float("-inf")
            for mask in None, torch.zeros(5, 7).masked_fill(torch.rand(5, 7) < 0.3, float("-inf")):
                for given in {}, {"key_padding_mask": padding}:
                    for need in True, False:
                        def call(model):
                            return model(query, key, value, attn_mask=mask, need_weights=need, **given)
                        attention.train()
                        capture = self.captured(attention, call, sample=1)
                        self.assertTrue(attention.training)
                        attention.eval()
                        wanted = attention(query, key, value, attn_mask=mask, average_attn_weights=False, **given)[1]
                        self.same(capture, "attention-sa", 0, wanted[1])

    def test_causal_encoder_layers(self):
        torch.manual_seed(0)
        for fast in True, False:
            layer = nn.TransformerEncoderLayer(8, 2, 16, 0.1, batch_first=fast, norm_first=fast)
            model, mask = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False), nn.Transformer.generate_square_subsequent_mask(6)
            x = torch.randn(2, 6, 8) if fast else torch.randn(6, 2, 8)
            capture = self.captured(model, lambda model: model(x, mask=mask, is_causal=True))
            self.assertEqual(capture.layers, ["layer 1", "layer 2", "layer 3"])
            model.eval()
            each, with_mask = x, {"src_mask": mask}
            for k, block in enumerate(model.layers):
                read = block.norm1(each) if fast else each
                self.same(capture, "attention-sa", k, block.self_attn(read, read, read, attn_mask=mask, average_attn_weights=False)[1][0], True)
                each = block(each, **with_mask)

    def test_scaled_dot_product_attention(self):
        class Block(nn.Module):
            def __init__(self, **more):
                super().__init__()
                self.more, self.fused_attn = more, False

            def forward(self, q, k, v):
                if not self.fused_attn:  # as timm without the fused kernel
                    return v
                return nn.functional.scaled_dot_product_attention(q, k, v, **self.more)
        torch.manual_seed(0)
        q, k = torch.randn(2, 4, 5, 3), torch.randn(2, 4, 5, 3)
        allowed = torch.rand(2, 1, 5, 5) < 0.7
        added = torch.randn(4, 5, 5)
        allowed[1, 0, 2] = False  # nothing to read
        for more, scores in (({}, q @ k.mT / math.sqrt(3)), ({"scale": 0.5}, q @ k.mT / 2), ({"attn_mask": added}, q @ k.mT / math.sqrt(3) + added),
                             ({"attn_mask": allowed}, (q @ k.mT / math.sqrt(3)).masked_fill(~allowed, float("-inf"))),
                             ({"is_causal": True}, (q @ k.mT / math.sqrt(3)).masked_fill(torch.ones(5, 5).triu(1) > 0, float("-inf")))):
            block = Block(**more)
            capture = self.captured(block, (q, k, torch.randn(2, 4, 5, 3)), 1)
            self.same(capture, "attention-sa", 0, torch.softmax(scores, -1).nan_to_num(0)[1], "is_causal" in more)
            self.assertFalse(block.fused_attn)
        grouped = Block(enable_gqa=True)
        capture = self.captured(grouped, (q, k[:, :2], torch.randn(2, 2, 5, 3)))
        self.same(capture, "attention-sa", 0, torch.softmax(q @ k[:, :2].repeat_interleave(2, 1).mT / math.sqrt(3), -1)[0])

    def test_modules_of_the_form_of_dual_attention(self):
        class Attention(nn.Module):
            def forward(self, x):
                q = x[:, None].expand(-1, 2, -1, -1)
                return nn.functional.scaled_dot_product_attention(q, q, q)[:, 0], None

        class RelationalAttention(nn.Module):
            def __init__(self):
                super().__init__()
                self.wq_rel = nn.Linear(8, 8)

            def forward(self, x):
                relations = torch.einsum("bid,bjd->bij", self.wq_rel(x), x)[..., None] * torch.tensor([1.0, 2.0, 3.0])
                scores = torch.softmax(relations.permute(0, 3, 1, 2), -1)
                return x, scores, relations

        class SymbolicAttention(nn.Module):
            def forward(self, x):
                k = torch.ones(len(x), 1, 4, 8)
                return nn.functional.scaled_dot_product_attention(x[:, None], k, k, dropout_p=0.5)[:, 0]

        class DualAttention(nn.Module):
            def __init__(self):
                super().__init__()
                self.self_attention, self.relational_attention = Attention(), RelationalAttention()

            def forward(self, x):
                return self.self_attention(x)[0] + self.relational_attention(x)[0]
        torch.manual_seed(0)
        model, x = nn.Sequential(SymbolicAttention(), DualAttention(), DualAttention()), torch.randn(2, 5, 8)
        capture = self.captured(model, x, 1)
        self.assertEqual(capture.layers, ["layer 1", "layer 2"])
        kinds = [(found.kind, found.layer) for found in capture.maps]
        self.assertEqual(kinds, [("relation", 0)] * 3 + [("relation", 1)] * 3 + [("attention-ra", 0)] * 3 + [("attention-ra", 1)] * 3 +
                         [("attention-sa", 0)] * 2 + [("attention-sa", 1)] * 2 + [("symbols", 0)])

    def test_weights_that_a_module_returns(self):
        class EagerAttention(nn.Module):
            def forward(self, x):
                weights = torch.softmax(x @ x.mT, -1)[:, None].expand(-1, 2, -1, -1)
                return x, weights

        class OuterAttention(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = EagerAttention()

            def forward(self, x):  # hands on what its part returns, which is one layer
                return self.inner(x)
        x = torch.randn(2, 5, 8)
        capture = self.captured(OuterAttention(), x)
        self.assertEqual(capture.layers, ["inner"])
        self.same(capture, "attention-sa", 0, torch.softmax(x @ x.mT, -1)[:1].expand(2, -1, -1))
        np.testing.assert_array_equal(capture.arrays["vectors"], x[0].numpy())

    def test_record(self):
        class Own(nn.Module):
            def forward(self, x):
                r = torch.einsum("bid,bjd->bij", x, x)[..., None]
                relascope.record("mine", r)
                relascope.record("mine", torch.softmax(r, 2).permute(0, 3, 1, 2), kind="attention")
                relascope.record("more", r[0])
                return x
        x = torch.randn(1, 4, 3)
        self.assertIsNone(relascope.record("nobody watches", None))
        capture = self.captured(Own(), x)
        self.assertEqual(capture.layers, ["mine", "more"])
        self.same(capture, "relation", 0, (x @ x.mT))
        self.same(capture, "relation", 1, (x @ x.mT))
        self.same(capture, "attention-sa", 0, torch.softmax(x @ x.mT, -1))

        torch._dynamo.reset()
        compiled = torch.compile(Own(), backend="eager", fullgraph=True)  # which finds nothing that it cannot compile
        self.assertTrue(torch.equal(compiled(x), x))
        self.assertEqual(self.captured(compiled, x).layers, ["mine", "more"])
        self.assertTrue(torch.equal(compiled(x), x))

        class Wrong(nn.Module):
            def forward(self, x):
                relascope.record("x", x, kind="relations")
        with self.assertRaisesRegex(relascope.RunError, "kind: is 'relations'"):
            relascope.watch(Wrong(), self.run_of(), inputs=x)

    def test_a_module_that_is_called_twice(self):
        attention = nn.MultiheadAttention(8, 2, batch_first=True)
        x = torch.randn(1, 4, 8)
        capture = self.captured(attention, lambda model: model(model(x, x, x)[0], x, x))
        self.assertEqual(capture.layers, ["MultiheadAttention", "MultiheadAttention #2"])

        class Twice(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = attention

            def forward(self, x):
                return self.a(self.a(x, x, x)[0], x, x)[0]
        self.assertEqual(self.captured(Twice(), x).layers, ["a", "a #2"])


    def patched(self, beside, behind=0):
        """A model of images whose 16 patches have other tokens before and behind them."""
        class Vision(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed, self.extra, self.p = nn.Conv2d(3, 8, 8, 8), nn.Parameter(torch.randn(1, beside + behind, 8)), nn.Linear(8, 24)

            def forward(self, images):
                extra, x = self.extra.expand(len(images), -1, -1), self.embed(images).flatten(2).transpose(1, 2)
                x = torch.cat([extra[:, :beside], x, extra[:, beside:]], 1)
                return nn.functional.scaled_dot_product_attention(*(t[:, None] for t in self.p(x).chunk(3, -1)))[:, 0].mean(1)
        return Vision()

    def test_tokens_beside_the_patches(self):
        images = torch.rand(2, 3, 32, 32)
        for beside, behind, show in ((0, 0, None), (1, 0, None), (2, 0, None), (5, 0, None), (5, 0, {"images": images, "patch": 8}),
                                     (1, 10, {"images": images, "patch": 8, "before": 1}), (40, 0, {"images": images, "patch": 8, "before": 40})):
            self.captured(self.patched(beside, behind), images, show=show)
            metadata = self.metadata()
            self.assertEqual((metadata["grid_rows"], metadata["grid_columns"], metadata["first_tokens"]), ("4", "4", str(beside)))

    def test_windows_and_channels_are_left_out(self):
        import timm
        images = torch.rand(2, 3, 64, 64)
        swin = timm.create_model("swin_tiny_patch4_window7_224", img_size=64, window_size=4, embed_dim=24, depths=(1, 1, 1),
                                 num_heads=(1, 2, 4), num_classes=3)
        capture = self.captured(swin, images, 1, outputs="logits", show={"images": images, "patch": 16})
        self.assertEqual((len(capture.layers), capture.maps[0].rows, capture.probabilities.shape), (1, 16, (3,)))
        with self.assertRaises(relascope.RunError):  # 16 and 4 windows of two images are no inputs
            relascope.read(self.path).capture(0, 2)
        self.assertIn("layers.0.blocks.0.attn [32, 1, 16, 16]", relascope.read(self.path).events()[0]["text"])
        xcit = timm.create_model("xcit_nano_12_p16_224", img_size=64, depth=1, num_classes=3)
        capture = self.captured(xcit, images)  # the blocks compare channels, but for those of the class token
        self.assertTrue(capture.layers and all("cls" in name or name.startswith("layer") for name in capture.layers))
        self.assertEqual({found.columns for found in capture.maps}, {17})
        self.assertIn("blocks.0.attn of channels [2, 4, 32, 32]", relascope.read(self.path).events()[0]["text"])

        class Folded(nn.Module):
            def forward(self, x):  # the heads are in the first dimension, then there is one
                heads = x.reshape(len(x), 5, 2, 4).transpose(1, 2).reshape(2 * len(x), 5, 4)
                functional = nn.functional.scaled_dot_product_attention
                functional(heads, heads, heads)
                return functional(x, x, x)
        x = torch.randn(3, 5, 8)
        capture = self.captured(Folded(), x, 2)
        self.same(capture, "attention-sa", 0, torch.softmax(x @ x.mT / math.sqrt(8), -1)[2:])

        class Frames(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.MultiheadAttention(8, 2, batch_first=True)

            def forward(self, clips):  # [S, frames, n, width]
                x = clips.flatten(0, 1)
                return self.a(x, x, x)[0]
        with self.assertRaisesRegex(relascope.RunError, "no maps of whole inputs"):
            relascope.watch(Frames(), self.run_of(), inputs=torch.randn(2, 3, 5, 8))

    def test_sequences_first_and_lists_of_inputs(self):
        attention, x = nn.MultiheadAttention(8, 2), torch.randn(6, 3, 8)
        self.assertEqual(self.captured(attention, {"query": x, "key": x, "value": x}, 2).maps[0].rows, 6)

        class Lists(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.MultiheadAttention(8, 2, batch_first=True)

            def forward(self, images):
                x = torch.stack(images).flatten(2).transpose(1, 2)
                return self.a(x, x, x)[0]
        self.captured(Lists(), ([torch.randn(8, 4, 4) for _ in range(3)],), 2)


class Noisy(nn.Module):
    """A model with everything that a probe could disturb."""

    def __init__(self):
        super().__init__()
        self.norm, self.drop = nn.BatchNorm1d(6), nn.Dropout(0.5)
        self.block = nn.TransformerEncoderLayer(8, 2, 16, 0.3, batch_first=True)
        self.out = nn.Linear(8, 2)
        self.register_buffer("calls", torch.zeros(1))
        self.register_buffer("cache", torch.zeros(1))

    def forward(self, x):
        self.calls += 1
        self.cache = self.cache + 1  # another tensor
        random.random(), np.random.random()
        x = x + 0.01 * torch.randn_like(x)
        return self.out(self.drop(self.block(self.norm(x))).mean(1))


class TestTraining(Watching):
    def train(self, watched, compile_it=False, autocast=False):
        torch.manual_seed(0), random.seed(0), np.random.seed(0)
        model = Noisy()
        model.block.linear1.eval()  # a flag of its own
        optimizer, losses = torch.optim.SGD(model.parameters(), 0.1), []
        data, run = torch.Generator().manual_seed(1), self.run_of()
        if watched:
            relascope.watch(model, run, every=2, inputs=torch.randn(3, 6, 8, generator=torch.Generator().manual_seed(2)), outputs="logits",
                            weights=True)
        for step in range(1, 10):
            x = torch.randn(16, 6, 8, generator=data)
            with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                loss = nn.functional.cross_entropy(model(x), (x[:, 0, 0] > 0).long())
            optimizer.zero_grad()
            loss.backward()
            run.log(step, loss=loss)  # the gradients are there
            optimizer.step()
            losses.append(loss.item())
        run.done()
        flags = [module.training for module in model.modules()]
        state = {name: value.clone() for name, value in model.state_dict().items()}
        return losses, state, flags, (torch.rand(3), random.random(), np.random.random()), relascope.read(run.path)

    def test_the_training_is_the_same_bit_for_bit(self):
        for autocast in False, True:
            losses, state, flags, draws, _ = self.train(False, autocast=autocast)
            for _ in range(2):
                found = self.train(True, autocast=autocast)
                self.assertEqual(found[0], losses)
                for name, value in state.items():
                    self.assertTrue(torch.equal(found[1][name], value), name)
                self.assertEqual(found[2], flags)
                self.assertTrue(torch.equal(found[3][0], draws[0]))
                self.assertEqual(found[3][1:], draws[1:])
        read = found[4]
        self.assertEqual(read.captures(), [0, 2, 4, 6, 8, 9])
        self.assertEqual(read.kept_steps(), [0, 2, 4, 6, 8, 9])
        self.assertEqual(read.info["parameters"], sum(p.numel() for p in Noisy().parameters()))
        capture = read.capture(9, 2)
        self.assertAlmostEqual(float(capture.probabilities.sum()), 1, 5)
        for found in capture.maps:
            np.testing.assert_allclose(found.values.sum(1), 1, atol=1e-6)
        stated = json.loads(cli("inspect", read.path, "--step", 9, "--sample", 2, "--kind", "attention-sa", "--json"))
        np.testing.assert_array_equal(np.float32(stated["values"]), capture.find("attention-sa", 0).values.ravel())

    def test_what_is_not_finite_is_left_out(self):
        class Returned(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(()))

            def forward(self, x):
                weights = torch.softmax(self.scale * x @ x.mT, -1)[:, None]
                return x, weights

        class EagerAttention(Returned):
            pass

        class Recorded(Returned):
            def forward(self, x):
                relascope.record("mine", super().forward(x)[1], "attention")
                return x

        class Scaled(Returned):
            def forward(self, x):
                x = x[:, None]
                return nn.functional.scaled_dot_product_attention(self.scale * x, x, x)

        class MultiHead(Returned):
            def __init__(self):
                super().__init__()
                self.a = nn.MultiheadAttention(8, 2, batch_first=True)

            def forward(self, x):
                return self.a(self.scale * x, x, x)[0]
        x = torch.randn(2, 5, 8)
        for kind in EagerAttention, Recorded, Scaled, MultiHead:
            with self.subTest(kind.__name__):
                model, run = kind(), self.run_of()
                relascope.watch(model, run, every=1, inputs=x)
                run.log(1, loss=1.0)
                model.scale.data.fill_(math.nan)
                with self.assertWarnsRegex(UserWarning, "the maps of step 2 are left out.*not finite"):
                    run.log(2, loss=math.nan)
                run.log(3, loss=math.nan)
                model.scale.data.fill_(1)
                run.log(4, loss=1.0)
                run.done()
                read = relascope.read(run.path)
                self.assertEqual((read.captures(), [each["step"] for each in read.events()]), ([0, 1, 4], [2, 3]))

    def test_captures_have_a_budget(self):
        model, run = nn.MultiheadAttention(8, 2, batch_first=True), self.run_of()
        x = torch.randn(2, 180, 8)  # half a MiB
        relascope.watch(model, run, every=1, inputs=lambda model: model(x, x, x), keep_mib=3, weights=True)
        for step in range(1, 41):
            run.log(step, loss=1.0)
        run.done()
        read = relascope.read(run.path)
        self.assertLess(sum(each.stat().st_size for each in os.scandir(run.path + "/captures")), 3 << 20)
        captures = read.captures()
        self.assertEqual((captures[0], captures[-1], len(captures)), (0, 40, 5))
        self.assertEqual(captures, sorted(captures))
        ratios = [(b + 1) / (a + 1) for a, b in zip(captures, captures[1:])]
        self.assertLess(max(ratios), 4)  # over the whole training, more of them early
        self.assertEqual(read.kept_steps()[:3], [0, 1, 2])  # small weights have room
        self.assertEqual([each["text"][:32] for each in read.events()], ["the maps have filled keep_mib, 3"])
        unlimited = self.run_of()
        relascope.watch(model, unlimited, every=1, inputs=lambda model: model(x, x, x), keep_mib=None)
        for step in range(1, 9):
            unlimited.log(step, loss=1.0)
        self.assertEqual(len(relascope.read(unlimited.path).captures()), 9)
        with self.assertRaisesRegex(relascope.RunError, "keep_mib: is 0"):
            relascope.watch(model, run, inputs=x, keep_mib=0)

    def test_a_model_that_is_moved_later(self):
        model, run, x = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), self.run_of(), torch.randn(1, 4, 8)
        relascope.watch(model, run, every=1, inputs=(x, torch.zeros(4, 4)))
        model.to(torch.bfloat16)  # as trainers do, and as they move it to a GPU
        run.log(1, loss=1.0)
        np.testing.assert_allclose(relascope.read(run.path).capture(1).maps[0].values, relascope.read(run.path).capture(0).maps[0].values,
                                   atol=0.02)
        self.assertEqual(relascope.watch.__globals__["_moved"]({"x": [x], "n": 3}, ("meta", torch.half))["x"][0].device.type, "meta")

    def test_a_model_that_holds_its_run(self):
        class Logging(nn.Module):
            def __init__(self, run):
                super().__init__()
                self.a, self.run, self.step = nn.MultiheadAttention(8, 2, batch_first=True), run, 0

            def forward(self, x):
                self.step += 1
                self.run.log(self.step, loss=1.0)
                return self.a(x, x, x)[0]
        run, x = self.run_of(), torch.randn(1, 4, 8)
        model = Logging(run)
        relascope.watch(model, run, every=1, inputs=x)
        average = copy.deepcopy(model)
        model(x), model(x)
        self.assertIs(average.run, run)
        read = relascope.read(run.path)
        self.assertEqual((read.metrics()["step"].tolist(), read.captures()), ([1, 2], [0, 1, 2]))
        with self.assertRaisesRegex(relascope.RunError, "another process"):
            pickle.dumps(run)

    def test_a_failure_ends_the_watch_and_not_the_training(self):
        model, run, fail = nn.MultiheadAttention(8, 2, batch_first=True), self.run_of(), []
        x = torch.randn(1, 4, 8)

        def call(model):
            if fail:
                raise ValueError("out of luck")
            return model(x, x, x)
        relascope.watch(model, run, every=1, inputs=call)
        run.log(1, loss=1.0)
        fail.append(1)
        model.train()
        with self.assertWarnsRegex(UserWarning, "out of luck"):
            run.log(2, loss=1.0)
        run.log(3, loss=1.0)
        self.assertTrue(model.training)
        self.assertEqual(relascope.read(run.path).captures(), [0, 1])
        self.assertIn("out of luck", relascope.read(run.path).events()[-1]["text"])

    def test_hostile_arguments(self):
        run, linear, x = self.run_of(), nn.Linear(8, 8), torch.randn(1, 4, 8)
        for model, given, words in ((linear, {"inputs": x}, "relascope.record"), (3, {"inputs": x}, "torch.nn.Module"),
                                    (linear, {}, "inputs: are missing"), (linear, {"inputs": x, "every": 0}, "every"),
                                    (linear, {"inputs": x, "outputs": "x"}, "outputs"), (linear, {"inputs": x, "show": {"image": 1}}, "'image'")):
            with self.assertRaisesRegex(relascope.RunError, words):
                relascope.watch(model, run, **given)
        linear.config = type("Config", (), {"_attn_implementation": "flash_attention_2"})
        with self.assertRaisesRegex(relascope.RunError, 'attn_implementation="eager"'):
            relascope.watch(linear, run, inputs=x)
        self.assertEqual(run._watches, [])

    def test_what_inputs_show_of_themselves(self):
        class Images(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.MultiheadAttention(4, 1, batch_first=True)

            def forward(self, images):
                x = nn.functional.unfold(images, 4, stride=4).transpose(1, 2)[..., :4]
                x = torch.cat([x, x[:, :1]], 1)
                return self.a(x, x, x)[0]
        images = torch.randn(2, 3, 12, 12)
        capture = self.captured(Images(), images)
        self.assertEqual(capture.arrays["images"].shape, (12, 12, 3))
        self.assertEqual(capture.find("attention-sa", 0).rows, 10)
        low, high = images.min(), images.max()  # normalized pixels, from the least to the largest of all
        np.testing.assert_allclose(capture.arrays["images"], 255 * ((images[0] - low) / (high - low)).permute(1, 2, 0).numpy(), atol=0.51)


class Adapted(nn.Linear):
    """Merges its adapter into its weights in eval(), and takes it out again in train(), as those of loralib and peft."""

    def __init__(self, d, how):
        super().__init__(d, d, bias=False)
        self.a, self.b = nn.Parameter(torch.randn(2, d) * 0.3), nn.Parameter(torch.zeros(d, 2))
        self.how, self.merged, self.weight.requires_grad = how, False, False

    def train(self, mode=True):
        super().train(mode)
        if mode == self.merged:
            with torch.no_grad():
                merged = self.weight + (-1 if mode else 1) * self.b @ self.a
                if self.how == "data":
                    self.weight.data += merged - self.weight
                elif self.how == "in place":
                    self.weight.copy_(merged)
                elif self.how == "storage":
                    self.weight.data = merged
                else:
                    self.weight = nn.Parameter(merged, requires_grad=False)
            self.merged = not mode
        return self

    def forward(self, x):
        return nn.functional.linear(x, self.weight) + (0 if self.merged else x @ self.a.T @ self.b.T)


class Cache:
    """An object of the same file, which a module holds."""

    def __init__(self):
        self.calls, self.last, self.lengths = 0, None, []


calls, seen, draws = 0, [], np.random.default_rng(0)


class Stateful(nn.Module):
    """Keeps everything that a forward can change anywhere but in parameters, buffers and flags, and computes with it."""

    def __init__(self):
        super().__init__()
        self.count, self.mean, self.array, self.cache = 0, torch.zeros(8), np.zeros(3), Cache()
        self.history, self.table, self.kinds = [], {}, set()
        self.generators = torch.Generator().manual_seed(3), np.random.default_rng(3), random.Random(3), np.random.RandomState(3)
        self.linear = nn.Linear(8, 8)
        self.weight_of = nn.utils.parametrizations.spectral_norm(nn.Linear(8, 8))
        counted = [0]
        self.linear.register_forward_hook(lambda module, args, output: counted.__setitem__(0, counted[0] + 1))
        self.linear.register_forward_hook(self.hook)
        self.counted = lambda: counted[0]

    def hook(self, module, args, output):
        seen.append(len(output))

    def forward(self, x):
        global calls
        calls += 1
        self.count += 1
        self.mean += 0.1 * x.detach().mean((0, 1))
        self.array[self.count % 3] += 1
        self.history.append(float(x.detach().mean()))
        self.table[self.count] = len(self.history)
        self.kinds.add(self.count)
        self.cache.calls += 1
        self.cache.last = x.detach()
        self.cache.lengths.append(len(x))
        torch_draw, numpy_draw, python_draw, old_draw = self.generators
        noise = (torch.rand(1, generator=torch_draw).item() + numpy_draw.random() + python_draw.random() + old_draw.random_sample()
                 + draws.random())
        state = calls + self.count + self.counted() + len(seen) + len(self.history) + self.cache.calls + len(self.cache.lengths) + self.array.sum()
        x = self.weight_of(self.linear(x)) + 0.01 * noise + 0.001 * state + self.mean
        x = x.clone()
        return nn.functional.scaled_dot_product_attention(*[x[:, None]] * 3)[:, 0].mean(1)


class TestNothingChanges(Watching):
    def train(self, make, watched, before_backward=False):
        """What a training is, to the last bit: losses, state, what comes next of the generators."""
        global calls, draws
        calls, draws = 0, np.random.default_rng(0)
        seen.clear()
        torch.manual_seed(0), random.seed(0), np.random.seed(0)
        model, x, y = make().train(), torch.randn(16, 5, 8), torch.randn(16, 8)
        optimizer, losses = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], 1e-2), []
        run = self.run_of()
        if watched:
            relascope.watch(model, run, every=3, inputs=x[:2], weights=True)
        for step in range(1, 13):
            loss = nn.functional.mse_loss(model(x), y)
            losses.append(loss.item())
            optimizer.zero_grad()
            if before_backward:
                run.log(step, loss=loss)  # a graph waits for backward()
            loss.backward()
            optimizer.step()
            if not before_backward:
                run.log(step, loss=loss)
        run.done()
        if watched:
            self.assertEqual(relascope.read(run.path).captures(), [0, 3, 6, 9, 12])
        state = {name: value.numpy().tobytes() for name, value in model.state_dict().items()}
        return model, (losses, state, [module.training for module in model.modules()], torch.rand(1).item(), draws.random(), calls, list(seen))

    def test_adapters_that_merge_in_eval(self):
        for how in "data", "in place", "storage", "parameter":
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.q, self.k, self.v, self.head = Adapted(8, how), Adapted(8, how), Adapted(8, how), nn.Linear(8, 8)

                def forward(self, x):
                    q, k, v = (part(x)[:, None] for part in (self.q, self.k, self.v))
                    return self.head(nn.functional.scaled_dot_product_attention(q, k, v)[:, 0].mean(1))
            for before_backward in False, True:
                with self.subTest(how, before_backward=before_backward):
                    _, without = self.train(Net, False, before_backward)
                    model, found = self.train(Net, True, before_backward)
                    self.assertEqual(found, without)
                    self.assertEqual([model.q.merged, model.v.merged], [False, False])

    def test_whatever_a_forward_keeps(self):
        for before_backward in False, True:
            first, without = self.train(Stateful, False, before_backward)
            model, found = self.train(Stateful, True, before_backward)
            self.assertEqual(found, without)
            for each in "count", "history", "table", "kinds":
                self.assertEqual(getattr(model, each), getattr(first, each), each)
            self.assertEqual(vars(model.cache).keys(), vars(first.cache).keys())
            self.assertEqual((model.cache.calls, model.counted()), (first.cache.calls, first.counted()))
            self.assertTrue(torch.equal(model.mean, first.mean) and (model.array == first.array).all())

    def test_inputs_and_gradients_are_as_before(self):
        class InPlace(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8)

            def forward(self, x):
                x.add_(1)  # of whoever calls it
                self.linear.requires_grad_(False)
                self.linear.zero_grad()
                x = self.linear(x)[:, None]
                return nn.functional.scaled_dot_product_attention(x, x, x)
        model, x = InPlace(), torch.randn(2, 5, 8)
        model.linear(x).sum().backward()
        before, gradient = x.clone(), model.linear.weight.grad
        capture = self.captured(model, x)
        self.assertTrue(torch.equal(x, before) and model.linear.weight.requires_grad)
        self.assertIs(model.linear.weight.grad, gradient)
        np.testing.assert_array_equal(capture.arrays["vectors"], before[0].numpy())

    def test_what_cannot_be_put_back_is_refused(self):
        class Base(nn.Module):
            def attend(self, x):
                return nn.functional.scaled_dot_product_attention(*[x[:, None]] * 3)

        class Iterating(Base):
            def __init__(self):
                super().__init__()
                self.steps = iter(range(10 ** 6))

            def forward(self, x):
                next(self.steps)
                return self.attend(x)

        class Generating(Base):
            def __init__(self):
                super().__init__()
                self.steps = (k for k in range(10 ** 6))

            def forward(self, x):
                next(self.steps)
                return self.attend(x)

        class Outside(Base):
            def forward(self, x):  # of another file
                relascope.frames.counter = getattr(relascope.frames, "counter", 0) + 1
                return self.attend(x + relascope.frames.counter)

        class Lazy(Base):
            def __init__(self):
                super().__init__()
                self.linear = nn.LazyLinear(8)

            def forward(self, x):
                return self.attend(self.linear(x))

        class Large(Base):
            def __init__(self):
                super().__init__()
                self.table = torch.zeros(17 << 20)

            def forward(self, x):
                self.table[0] += 1
                return self.attend(x)
        x, run = torch.randn(2, 5, 8), self.run_of()
        self.addCleanup(lambda: relascope.frames.__dict__.pop("counter", None))
        for kind, words in ((Iterating, "steps when it is called"), (Generating, "steps when"), (Outside, "other maps when it is called a second time"),
                            (Lazy, "linear.(weight|bias) at its first call"), (Large, "table when it is called")):
            with self.subTest(kind.__name__), self.assertRaisesRegex(relascope.RunError, words):
                relascope.watch(kind(), run, inputs=x)
        self.assertEqual((run._watches, relascope.read(run.path).captures()), ([], []))
        batches = iter(torch.randn(9, 2, 5, 8))
        with self.assertRaisesRegex(relascope.RunError, "second time|batches|inputs"):  # they would be taken from the training
            relascope.watch(Base(), run, inputs=lambda model: model.attend(next(batches)))


class TestTrainers(Watching):
    def language_model(self):
        import transformers
        torch.manual_seed(0)
        return transformers.LlamaForCausalLM(transformers.LlamaConfig(
            vocab_size=20, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16, attention_dropout=0.1))

    def test_the_trainer_of_transformers(self):
        import transformers
        data = [{"input_ids": torch.randint(20, (6,), generator=torch.Generator().manual_seed(k))} for k in range(16)]
        data = [{**each, "labels": each["input_ids"]} for each in data]

        def train(watched):
            model, run = self.language_model(), self.run_of()

            class Log(transformers.TrainerCallback):
                def on_log(self, args, state, control, logs=None, **more):
                    run.log(state.global_step, logs)
            if watched:
                relascope.watch(model, run, every=2, inputs={"input_ids": data[0]["input_ids"][None]})
            options = transformers.TrainingArguments(str(self.own_folder()), num_train_epochs=2, per_device_train_batch_size=4, logging_steps=1,
                                                     report_to=[], use_cpu=True, save_strategy="no", disable_tqdm=True, eval_strategy="epoch")
            trainer = transformers.Trainer(model, options, train_dataset=data, eval_dataset=data[:4], callbacks=[Log()])
            trainer.remove_callback(transformers.PrinterCallback)
            trainer.train()
            run.results("test", **trainer.evaluate())
            run.done()
            return {name: value.numpy().tobytes() for name, value in model.state_dict().items()}, relascope.read(run.path)
        (without, _), (found, read) = train(False), train(True)
        self.assertEqual(found, without)
        self.assertEqual((read.captures(), read.info["epoch"], read.events()), ([0, 2, 4, 6, 8], 2.0, []))
        self.assertEqual(read.metrics()["step"][-1], 8)
        self.assertIn("eval_loss", read.info["results"][0])

    def test_lightning(self):
        import lightning.pytorch as lightning

        class Module(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.block, self.out = nn.TransformerEncoderLayer(8, 2, 16, 0.2, batch_first=True), nn.Linear(8, 1)

            def forward(self, x):
                return self.out(self.block(x).mean(1))

            def training_step(self, batch, index):
                loss = self(batch[0]).pow(2).mean()
                self.log("train/loss", loss)
                return loss

            def configure_optimizers(self):
                return torch.optim.AdamW(self.parameters(), 0.01)

        def train(watched):
            torch.manual_seed(0)
            model, run, probe = Module(), self.run_of(), torch.randn(2, 5, 8)
            data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(16, 5, 8)), 4, shuffle=True)

            class Log(lightning.Callback):
                def on_train_start(self, trainer, module):
                    if watched:
                        relascope.watch(module, run, every=2, inputs=probe)

                def on_train_batch_end(self, trainer, module, *more):
                    run.log(trainer.global_step, {**trainer.callback_metrics, "epoch": trainer.current_epoch, "step": trainer.global_step})
            trainer = lightning.Trainer(max_epochs=2, logger=False, enable_checkpointing=False, enable_progress_bar=False, accelerator="cpu",
                                        enable_model_summary=False, log_every_n_steps=1, callbacks=[Log()])
            trainer.fit(model, data)
            run.done()
            return {name: value.numpy().tobytes() for name, value in model.state_dict().items()}, relascope.read(run.path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Lightning
            (without, _), (found, read) = train(False), train(True)
        self.assertEqual(found, without)
        self.assertEqual((read.captures(), read.info["epoch"], read.events()), ([0, 2, 4, 6, 8], 1.0, []))
        self.assertEqual(set(read.metrics()) >= {"train/loss"}, True)


class TestPackages(Watching):
    def example(self, name, steps):
        """Runs an example program, and returns its run."""
        path = self.own_folder() / name
        program = TOP / f"resources/python/examples/{name}.py"
        self.assertLess(len(program.read_text().splitlines()), 60)
        done = subprocess.run([sys.executable, "-W", "ignore", str(program), str(path), str(steps)], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(TOP / "resources/python"), "OMP_NUM_THREADS": "1",
                                   "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        read = relascope.read(path)
        self.assertEqual((read.info["state"], read.info["step"]), ("done", steps))
        self.assertEqual((read.captures(), read.kept_steps()), ([0, 50, steps], [steps]))
        self.assertEqual(len(read.metrics()["step"]), steps)
        return read

    def test_vit(self):
        read = self.example("vit", 60)
        capture = read.capture(60, 1)
        self.assertEqual(len(capture.maps), 8)
        sys.path.insert(0, str(TOP / "resources/python/examples"))
        import vit
        model = vit.ViT().eval()
        model.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in read.weights(60).items()})
        images, _ = vit.batch(4, torch.Generator().manual_seed(2))
        x = model.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([model.first.expand(4, -1, -1), x], 1) + model.places
        for layer, block in enumerate(model.blocks):
            read_by = block.norm1(x)
            self.same(capture, "attention-sa", layer, block.self_attn(read_by, read_by, read_by, average_attn_weights=False)[1][1])
            x = block(x)
        np.testing.assert_allclose(capture.probabilities, torch.softmax(model.answer(x[:, 0]), -1)[1].detach().numpy(), atol=1e-6)

    def test_dual_attention(self):
        self.assertEqual({found.kind for found in self.example("dual", 60).capture(60).maps},
                         {"relation", "attention-ra", "attention-sa", "symbols"})

    def test_maps_of_dual_attention_are_those_that_it_computes(self):
        from dual_attention.language_models import DualAttnTransformerLM
        for symbols, more in ("position_relative", {"symbol_dim": 32, "max_rel_pos": 12}), \
                ("symbolic_attention", {"d_model": 32, "n_heads": 4, "n_symbols": 6, "trainable_symbols": True}):
            torch.manual_seed(0)
            model = DualAttnTransformerLM(
                vocab_size=20, d_model=32, n_layers=2, n_heads_sa=2, n_heads_ra=2, dff=64, dropout_rate=0.1, activation="swiglu",
                norm_first=True, max_block_size=12, symbol_retrieval=symbols, symbol_retrieval_kwargs=more, pos_enc_type="RoPE",
                ra_kwargs={"n_relations": 4, "use_relative_positional_symbols": symbols == "position_relative"})
            tokens, seen = torch.randint(20, (2, 12)), []
            capture = self.captured(model, tokens, 1)
            hooks = [block.dual_attn.register_forward_pre_hook(lambda m, a, k: (a, {**k, "need_weights": True}), with_kwargs=True)
                     for block in model.layers.blocks]
            hooks += [block.dual_attn.register_forward_hook(lambda m, a, out: seen.append(out[1:])) for block in model.layers.blocks]
            model.eval()
            with torch.no_grad():
                model(tokens)
            self.assertEqual(len(seen), 2)
            for layer, (attention, (relational, relations)) in enumerate(seen):
                self.same(capture, "attention-sa", layer, attention[1], True)
                self.same(capture, "attention-ra", layer, relational[1], True)
                self.same(capture, "relation", layer, relations[1].permute(2, 0, 1), True)
            np.testing.assert_array_equal(capture.arrays["tokens"], tokens[1].numpy())
            self.assertEqual(sum(found.kind == "symbols" for found in capture.maps), 8 if "n_symbols" in more else 0)

    def test_maps_of_timm(self):
        import timm
        for fused in True, False:
            torch.manual_seed(0)
            model = timm.create_model("vit_tiny_patch16_224", img_size=32, num_classes=3, depth=2, qk_norm=True, pretrained=False)
            for block in model.blocks:
                block.attn.fused_attn = fused
            images, seen = torch.rand(2, 3, 32, 32), []
            capture = self.captured(model, images, 1, outputs="logits")
            self.assertEqual([block.attn.fused_attn for block in model.blocks], [fused] * 2)
            model.eval()
            for block in model.blocks:
                block.attn.fused_attn = False
                block.attn.attn_drop.register_forward_hook(lambda m, a, out: seen.append(out))
            with torch.no_grad():
                logits = model(images)
            for layer, wanted in enumerate(seen):
                self.same(capture, "attention-sa", layer, wanted[1])
            np.testing.assert_allclose(capture.probabilities, torch.softmax(logits, -1)[1].numpy(), atol=1e-6)
            self.assertEqual(capture.arrays["images"].shape, (32, 32, 3))

    def test_transformers(self):
        capture = self.example("language", 60).capture(60)
        self.assertEqual((len(capture.words), len(capture.maps), capture.maps[0].causal), (16, 8, True))

    def test_maps_of_transformers(self):
        import transformers
        common = {"vocab_size": 30, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
        tokens, mask = torch.randint(30, (2, 9)), torch.ones(2, 9, dtype=torch.long)
        mask[1, 6:] = 0
        for model_class, config in (
                (transformers.LlamaModel, transformers.LlamaConfig(**common, num_key_value_heads=2)),
                (transformers.BertModel, transformers.BertConfig(**common)),
                (transformers.GPTNeoXModel, transformers.GPTNeoXConfig(**common))):
            torch.manual_seed(0)
            config._attn_implementation = "eager"
            eager = model_class(config).eval()
            with torch.no_grad():
                wanted = eager(input_ids=tokens, attention_mask=mask, output_attentions=True).attentions
            config = config.__class__(**{**config.to_dict(), "attn_implementation": "sdpa"})
            fused = model_class(config)
            fused.load_state_dict(eager.state_dict())
            for model in eager, fused:
                with self.subTest(model_class.__name__, how=model.config._attn_implementation):
                    capture = self.captured(model, {"input_ids": tokens, "attention_mask": mask}, 1)
                    self.assertEqual(len(capture.layers), 2)
                    for layer, values in enumerate(wanted):
                        for head in range(4):  # rows of padding have no meaning
                            np.testing.assert_allclose(capture.find("attention-sa", layer, head).values[:6], values[1, head, :6].numpy(), atol=1e-6)

    def test_a_compiled_model(self):
        model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        x = torch.randn(1, 4, 8)
        self.assertEqual(self.captured(torch.compile(model, backend="eager"), x).layers, ["self_attn"])


if __name__ == "__main__":
    main(__doc__)
