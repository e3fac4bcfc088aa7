#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests the passes of relascope.serve(): what a client reads, exchanges, multiplies and puts, gradients, blocks that are not run,
examples, weights, and sentences for what is wrong.

usage: python_served_passes.py FOLDER_OF_RELASCOPE_CLI [TEST...]        exit status 77 without NumPy or PyTorch
"""
import os
import random
import warnings

from run_support import WithRuns, main
from serve_support import Block, Packed, Pictures, Refused, Serving, pictures

import numpy as np
import relascope
import torch
from relascope.door import runtime_folder
from torch import nn


def setUpModule():
    WithRuns.begin("served")


class TestPasses(Serving):
    def setUp(self):
        self.model, self.data = pictures()
        self.now = self.served(self.model, self.data, classes=["a", "b", "c"])
        self.now.patience = 5.0

    def own(self, *indices):
        return self.own_of(self.data[0][list(indices)])

    def own_of(self, given):
        """What the model answers by itself, without the fast path of torch.nn, which rounds differently."""
        torch.backends.mha.set_fastpath_enabled(False)
        with torch.no_grad():
            self.model.eval()
            answer = self.model(given)
            self.model.train()
        torch.backends.mha.set_fastpath_enabled(True)
        return answer

    def test_what_it_declares(self):
        def ask(client):
            found = client.ask("declare")[0]
            self.assertEqual(client.hello["protocol"], 1)
            self.assertEqual(found["input"], {"kind": "image", "channels": 3, "height": 12, "width": 12, "patch": [4, 4], "grid": [3, 3], "first_tokens": 1})
            self.assertEqual(found["output"], {"kind": "classes", "count": 3, "names": ["a", "b", "c"]})
            self.assertEqual(found["blocks"], ["blocks.0", "blocks.1", "blocks.2"])
            self.assertEqual(found["splits"], [{"name": "validation", "size": 24, "labels": True}])
            self.assertEqual(found["layers"]["blocks.1"]["heads"], 4)
            pattern = next(each for each in found["points"] if each["name"] == "blocks.1.attn.hook_pattern")
            self.assertEqual((pattern["axes"], pattern["sizes"], pattern["causal"]), (["batch", "head", "i", "j"], [-1, 4, 10, 10], False))
            self.assertEqual(found["step"], -1)
            self.assertNotIn("crc32", found)  # which takes a while, and is asked for
            version = client.ask("checksum", version_only=True)[0]
            self.assertEqual({**version, "id": 0}, {"m": "checksum", "id": 0, "version": found["version"], "step": -1})
            self.assertEqual(client.ask("checksum")[0]["crc32"], client.ask("declare")[0]["crc32"])
        self.asked(self.now, ask)
        self.assertTrue(all(each.where is None and not each.returned.numel() for each in self.now.found.blocks))  # nothing of the first pass is held
        self.assertEqual(os.stat(os.path.join(runtime_folder(), "test.served")).st_mode & 0o777, 0o600)

    def test_examples(self):
        def ask(client):
            found, blob = client.ask("examples", split="validation", indices=[3, 1])
            self.assertEqual(found["examples"][0]["origin"], "validation 3")
            self.assertEqual(found["tensors"]["pictures"]["sizes"], [2, 12, 12, 3])
            self.assertEqual(client.values(found["tensors"]["labels"], blob).tolist(), self.data[1][[3, 1]].tolist())
        self.asked(self.now, ask)

    def test_shown_attributes(self):
        pairs = np.zeros((24, 10, 10), np.float32)
        pairs[3, 1, 2] = 1
        served = self.served(self.model, self.data, show={"attributes": {"same": pairs}, "origins": [f"picture {k}" for k in range(24)]}, name="more")

        def ask(client):
            found, blob = client.ask("examples", split="validation", indices=[3])
            self.assertEqual(found["examples"][0]["origin"], "picture 3")
            self.assertEqual(float(client.values(found["tensors"]["attribute/same"], blob)[0, 1, 2]), 1.0)
        self.asked(served, ask)

    def test_read_exchange_factors_put(self):
        wanted, flipped = self.own(4, 7), self.own(7, 4)

        def ask(client):
            scores, _ = client.forward(indices=[4, 7])
            self.assertTrue(torch.equal(scores, wanted))
            names = [each["name"] for each in client.ask("declare")[0]["points"]]
            scores, read = client.forward(*((name, "read") for name in names), indices=[4, 7])
            self.assertEqual(list(read), names)  # in the order of the pass
            torch.testing.assert_close(scores, wanted, rtol=0, atol=2e-6)
            torch.testing.assert_close(read["blocks.0.attn.hook_pattern"].sum(-1), torch.ones(2, 4, 10))
            torch.testing.assert_close(read["hook_logits"], scores)
            torch.testing.assert_close(read["blocks.1.hook_resid_pre"] + read["blocks.1.hook_attn_out"], read["blocks.1.hook_resid_mid"])
            z = torch.einsum("bhij,bjhd->bihd", read["blocks.2.attn.hook_pattern"], read["blocks.2.attn.hook_v"])
            torch.testing.assert_close(z, read["blocks.2.attn.hook_z"], rtol=0, atol=2e-6)
            for put in (lambda name, tensor: tensor), (lambda name, tensor: None):
                scores, _ = client.forward(*((name, "exchange") for name in names), indices=[4, 7], exchange=put)
                torch.testing.assert_close(scores, wanted, rtol=0, atol=2e-6)
            # Another value, three ways.
            factors = torch.tensor([1.0, 0, 1, 0.5])
            name = "blocks.1.attn.hook_z"
            a, _ = client.forward((name, {"do": "factors", "axis": "head", "values": factors}), indices=[4, 7])
            b, _ = client.forward((name, "exchange"), indices=[4, 7], exchange=lambda _, tensor: tensor * factors[:, None])
            c, c_read = client.forward((name, {"do": "put", "places": [None, None, [1], None], "values": torch.zeros(1)}),
                                       (name, {"do": "put", "places": [None, None, [3], None], "values": read[name][:, :, 3:] * 0.5}), (name, "read"), indices=[4, 7])
            self.assertTrue(torch.equal(a, b))
            torch.testing.assert_close(c, a, rtol=0, atol=2e-6)  # whose values are of a pass in which patterns were met
            self.assertGreater(float((a - wanted).abs().max()), 1e-3)
            self.assertFalse(bool(c_read[name][:, :, 1].any()))
            d, _ = client.forward((name, {"do": "put", "places": [[1], [0, 2], [1], [1, 2, 3]], "values": torch.zeros(2, 1, 3)}), indices=[4, 7])
            self.assertTrue(torch.equal(d[0], wanted[0]))  # the other example alone
            self.assertGreater(float((d[1] - wanted[1]).abs().max()), 1e-6)
            e, _ = client.forward(("blocks.2.attn.hook_attn_scores", {"do": "put", "places": [None, [0], [0], [3]], "values": torch.full((1,), float("-inf"))}),
                                  ("blocks.2.attn.hook_pattern", "read"), indices=[4, 7])
            self.assertGreater(float((e - wanted).abs().max()), 1e-6)
            # The rest of the model after a block, which is not run.
            for block in range(3):
                stream = client.forward((f"blocks.{block}.hook_resid_post", "read"), indices=[7, 4])[1][f"blocks.{block}.hook_resid_post"]
                scores, _ = client.forward(indices=[4, 7], after=(f"blocks.{block}", stream))
                self.assertTrue(torch.equal(scores, flipped))
                own, read = client.forward(*((f"blocks.{k}.hook_resid_pre", "read") for k in range(block + 1, 3)), (f"blocks.{block}.hook_resid_post", "read"),
                                           indices=[4, 7], after=(f"blocks.{block}", stream))
                self.assertTrue(all(torch.equal(own, each) for each in (scores,)) and torch.equal(read[f"blocks.{block}.hook_resid_post"], stream))
        self.asked(self.now, ask)
        self.asked(self.now, lambda client: self.assertTrue(torch.equal(client.forward(indices=[4, 7])[0], wanted)), memory=False)
        self.assertTrue(self.model.training and all(not module._forward_hooks and not module._forward_pre_hooks for module in self.model.modules()))

    def test_heads_taken_out_exactly(self):
        """A head out is its slice before the projection zeroed, to the last bit."""
        for layer in range(3):
            for head in range(4):
                factors = torch.ones(4)
                factors[head] = 0
                out = self.asked(self.now, lambda client: client.forward((f"blocks.{layer}.attn.hook_z", {"do": "factors", "axis": "head", "values": factors}))[0])
                weight = self.model.blocks[layer].a.out_proj.weight
                kept = weight.detach().clone()
                with torch.no_grad():
                    weight[:, 4 * head:4 * head + 4] = 0
                    self.assertTrue(torch.equal(self.own(0, 1), out))
                    weight.copy_(kept)

    def test_gradients(self):
        names = ["blocks.0.hook_resid_pre", "blocks.1.attn.hook_pattern", "blocks.1.attn.hook_z", "blocks.2.hook_mlp_out"]

        def ask(client):
            scores, read = client.forward(*((name, {"do": "read", "gradient": True}) for name in names), gradients=True)
            gradient, packed = torch.zeros(2, 3), Packed()
            gradient[:, 1] = 1
            found, blob = client.ask("backward", packed, gradient=packed.add(gradient))
            given = {name: client.values(each, blob) for name, each in found["tensors"].items()}
            self.assertEqual(set(given), set(names))
            for name in names:  # against a small step
                step = 1e-2 * torch.randn(read[name].shape, generator=torch.Generator().manual_seed(1))
                up, down = (client.forward((name, "exchange"), exchange=lambda _, tensor: tensor + sign * step)[0] for sign in (1, -1))
                difference = (up - down)[:, 1].sum() / 2
                self.assertAlmostEqual(float(difference), float((given[name] * step).sum()), delta=2e-3 * max(1.0, abs(float(difference))))
            # Of what was put, as often as it is asked for.
            client.forward((names[2], {"do": "exchange", "gradient": True}), gradients=True, exchange=lambda _, tensor: tensor)
            for _ in range(2):
                packed = Packed()
                found, blob = client.ask("backward", packed, gradient=packed.add(gradient))
                torch.testing.assert_close(client.values(found["tensors"][names[2]], blob), given[names[2]])
            client.forward()
            with self.assertRaisesRegex(Refused, "follows the scores of no pass with gradients"):
                packed = Packed()
                client.ask("backward", packed, gradient=packed.add(gradient))
            client.forward((names[0], {"do": "read", "gradient": True}), gradients=True)
            with torch.no_grad():
                self.model.head.weight.mul_(1)
            with self.assertRaisesRegex(Refused, "the weights have changed since the pass") as refused:
                packed = Packed()
                client.ask("backward", packed, gradient=packed.add(gradient))
            self.assertEqual(refused.exception.key, "changed")
        self.asked(self.now, ask)
        self.assertTrue(all(each.grad is None and each.requires_grad for each in self.model.parameters()))

    def test_sentences(self):
        zeros, z = torch.zeros(1), "blocks.0.attn.hook_z"
        cases = [([("nowhere", "read")], {}, "nowhere is no point of this model"),
                 ([(z, "look")], {}, "has the action 'look'; there are read, exchange, factors and put"),
                 ([(z, {"do": "factors", "axis": "j", "values": zeros})], {}, "has no axis 'j'; it has batch, position, head, dim"),
                 ([(z, {"do": "factors", "axis": "head", "values": torch.ones(3)})], {}, r"has 4 entries along 'head'; there are factors of the shape \[3\]"),
                 ([(z, {"do": "factors", "axis": "head", "values": torch.full((4,), float("nan"))})], {}, "has values that are no numbers"),
                 ([(z, {"do": "put", "places": [None], "values": zeros})], {}, "has 4 axes"),
                 ([(z, {"do": "put", "places": [None, [10], None, None], "values": zeros})], {}, "has 10 entries along 'position'; there is no 10"),
                 ([(z, {"do": "put", "places": [None, None, [0], None], "values": torch.zeros(7)})], {}, r"gets values of the shape \[7\] in \[2, 10, 1, 4\] places"),
                 ([], {"indices": [24]}, "'validation' has the examples 0 to 23"),
                 ([], {"indices": []}, "are no list of 1 to"),
                 ([], {"split": "tst"}, "split is 'tst'; there are validation"),
                 ([], {"input": torch.zeros(1, 3, 12, 12)}, "is a picture or has vectors"),
                 ([(z, {"do": "read", "gradient": True})], {}, "asks for a gradient in a pass without"),
                 ([], {"after": ("blocks.9", torch.zeros(2, 10, 16))}, "blocks.9 is no block"),
                 ([], {"after": ("blocks.1", torch.zeros(2, 10, 15))}, "has a stream of the shape"),
                 ([(z, "read")], {"after": ("blocks.1", torch.zeros(2, 10, 16))}, "lies in a block that is not run"),
                 ([], {"weights": {"step": 3}}, "of step 3 are not kept"),
                 ([], {"weights": {"fresh": 3}}, r"give serve\(fresh=\)"),
                 ([], {"check": 1}, "the weights have changed since the question began")]

        def ask(client):
            wanted = client.forward()[0]
            for points, more, sentence in cases:
                with self.subTest(sentence), self.assertRaisesRegex(Refused, sentence):
                    client.forward(*points, **more)
            with self.assertRaisesRegex(Refused, r"has the shape \[2, 10, 4, 4\]; what was put has \[2\]"):
                client.forward((z, "exchange"), exchange=lambda _, tensor: torch.zeros(2))
            with self.assertRaisesRegex(Refused, "is no request"):
                client.ask("dance")
            self.assertTrue(torch.equal(client.forward()[0], wanted))
        self.asked(self.now, ask)
        with self.assertRaisesRegex(Refused, "speaks the protocol 1"):
            def other(client):
                client.send({"m": "hello", "protocol": 2})
                client.receive()
            self.asked(self.now, other, greet=False)

    def test_a_forward_that_takes_another_way_or_raises(self):
        class Odd(Pictures):
            way = 0

            def forward(self, images):
                if self.way == 2 or len(images) == 5:
                    raise ValueError("nothing with five")
                blocks = self.blocks
                if self.way == 1:
                    self.blocks = self.blocks[:2]
                try:
                    return super().forward(images)
                finally:
                    self.blocks = blocks
        torch.manual_seed(0)
        model = Odd()
        served = self.served(model, self.data, name="odd")

        def ask(client):
            client.forward()
            model.way = 1
            with self.assertRaisesRegex(Refused, "blocks.2.attn.hook_z was not met by the pass"):
                client.forward(("blocks.2.attn.hook_z", "read"))
            model.way = 0
            with self.assertRaisesRegex(Refused, "the model has raised ValueError: nothing with five"):
                client.forward(indices=range(5))
            client.forward(("blocks.2.attn.hook_z", "read"))
        self.asked(served, ask)

    def test_16_bits_scripts_and_counters(self):
        class Counts(Pictures):
            def __init__(self):
                super().__init__()
                with warnings.catch_warnings(action="ignore"):
                    self.seen, self.more = 0, torch.jit.script(nn.Sequential(nn.Linear(3, 3)))
                self.register_buffer("calls", torch.zeros(()))

            def forward(self, images):
                self.seen += 1
                self.calls += 1
                return self.more(super().forward(images))
        for model, more, far in (Counts(), {}, 2e-6), (Pictures().bfloat16(), {}, 2e-2), (Pictures(), {"amp": torch.bfloat16}, 2e-2):
            served = self.served(model, self.data, name="odd", **more)

            def ask(client):
                names = [each["name"] for each in client.ask("declare")[0]["points"]]
                base, (scores, read) = client.forward()[0], client.forward(*((name, "read") for name in names))
                torch.testing.assert_close(scores, base, rtol=0, atol=far)
                self.assertEqual({each.dtype for each in read.values()}, {torch.float32})
            self.asked(served, ask)
            served.close()
            self.assertEqual((getattr(model, "seen", 0), float(getattr(model, "calls", 0))), (0, 0.0))

    def test_surgery(self):
        def ask(client):
            before = client.ask("declare")[0]
            self.model.head = nn.Linear(16, 3)
            self.model.blocks.append(Block())
            self.now._checked = 0
            after = client.ask("declare")[0]
            self.assertEqual(len(after["blocks"]), len(before["blocks"]) + 1)
            client.forward(("blocks.3.attn.hook_z", "read"))
        self.asked(self.now, ask)

    def test_weights(self):
        run = relascope.Run(self.own_folder() / "run")
        self.addCleanup(run.done)
        run.weights(7, self.model.state_dict())

        def fresh(seed):
            torch.manual_seed(seed)
            return Pictures()
        served = self.served(self.model, self.data, name="weights", run=run, fresh=fresh)
        before, numbers = self.own(0, 1), torch.get_rng_state()
        with torch.no_grad():
            self.model.head.weight.add_(1)
        now = self.own(0, 1)
        other = fresh(3).eval()
        torch.set_rng_state(numbers)

        def ask(client):
            self.assertEqual(client.ask("declare")[0]["can"]["steps"], [7])
            self.assertTrue(torch.equal(client.forward()[0], now))
            self.assertTrue(torch.equal(client.forward(weights={"step": 7})[0], before))
            scores, read = client.forward(("blocks.1.attn.hook_z", "read"), weights={"fresh": 3})
            with torch.no_grad():
                torch.testing.assert_close(scores, other(self.data[0][:2]), rtol=0, atol=1e-6)
            self.assertTrue(torch.equal(client.forward()[0], now))
        self.asked(served, ask)
        self.assertTrue(torch.equal(torch.get_rng_state(), numbers))

    def test_tied_weights(self):
        """Other weights are those of all names of a tensor, also where a module has two names."""
        class Tied(nn.Module):
            def __init__(self):
                super().__init__()
                self.shared = nn.Embedding(30, 16)
                self.encoder = nn.ModuleDict({"embed": self.shared})
                self.blocks, self.out = nn.ModuleList([Block()]), nn.Linear(16, 30, bias=False)
                self.out.weight = self.shared.weight

            def forward(self, ids):
                return self.out(self.blocks[0](self.encoder["embed"](ids) + self.shared(ids)))

        def fresh(seed):
            torch.manual_seed(seed)
            return Tied()
        model, other, ids = fresh(1), fresh(3).eval(), torch.randint(30, (8, 7))
        run = relascope.Run(self.own_folder() / "run")
        self.addCleanup(run.done)
        run.weights(7, {name: each for name, each in other.state_dict().items() if name != "shared.weight"})  # as files without second names
        served = self.served(model, (ids, ids), name="tied", fresh=fresh, run=run)
        kept = {name: (each, each.clone()) for name, each in model.state_dict().items()}
        torch.backends.mha.set_fastpath_enabled(False)
        with torch.no_grad():
            before, wanted = model.eval()(ids[:2]), other(ids[:2])
        model.train()
        torch.backends.mha.set_fastpath_enabled(True)

        def ask(client):
            version = client.ask("checksum", version_only=True)[0]["version"]
            for weights in {"fresh": 3}, {"step": 7}:
                torch.testing.assert_close(client.forward(weights=weights)[0], wanted, rtol=0, atol=1e-6)
                self.assertTrue(torch.equal(client.forward(check=version)[0], before))
            served.snapshots[version] = relascope.answers.snapshot_of(model)
            with torch.no_grad():
                model.shared.weight.mul_(2)
            self.assertTrue(torch.equal(client.forward(check=version)[0], before))
            self.assertFalse(torch.equal(client.forward()[0], before))
            with torch.no_grad():
                model.shared.weight.div_(2)
        self.asked(served, ask)
        self.assertIs(model.shared.weight, model.out.weight)
        self.assertIs(model.encoder["embed"], model.shared)
        self.assertTrue(all(torch.equal(*each) for each in kept.values()))

    def test_versions(self):
        """What changes weights changes their version: also fused optimizers, which PyTorch does not count, and .data."""
        self.model.add_module("norm", nn.LayerNorm(16))
        served = self.served(self.model, self.data, name="versions")
        parameters = list(self.model.parameters())
        for each in parameters:
            each.grad = torch.ones_like(each)
        seen = [served.weights.number()]

        def changes():
            seen.append(served.weights.number())
            self.assertEqual(len(set(seen)), len(seen))
            self.assertEqual(served.weights.number(), seen[-1])
        for more in {}, {"foreach": True}, {"fused": True}:
            torch.optim.AdamW(parameters, 0.0, **more).step()
            changes()
        self.model.head.weight.data[:, 3:].mul_(2)
        changes()
        self.model.norm.weight.data = torch.zeros(16)
        changes()
        other = nn.Linear(2, 2)
        other(torch.ones(2)).sum().backward()
        torch.optim.SGD(other.parameters(), fused=True).step()
        self.assertEqual(served.weights.number(), seen[-1])

        def ask(client):
            version = client.ask("checksum", version_only=True)[0]["version"]
            client.forward(check=version)
            torch.optim.SGD(parameters, 0.1, fused=True).step()
            with self.assertRaisesRegex(Refused, "the weights have changed"):
                client.forward(check=version)
        self.asked(served, ask)

    def test_inputs_of_other_shapes(self):
        """Those that cannot be declared are refused with their shapes; vectors and shown pictures stand for what people see."""
        class Wave(nn.Module):
            def __init__(self, channels=1):
                super().__init__()
                self.cut, self.blocks, self.out = nn.Conv1d(channels, 16, 8, 8), nn.ModuleList([Block()]), nn.Linear(16, 3)

            def forward(self, wave):
                return self.out(self.blocks[0](self.cut(wave.reshape(len(wave), self.cut.in_channels, -1)).transpose(1, 2)).mean(1))
        labels = torch.zeros(8, dtype=torch.long)
        waves = torch.randn(8, 64)
        served = self.served(Wave(), (waves, labels), name="wave")

        def ask(client):
            self.assertEqual(client.ask("declare")[0]["input"], {"kind": "objects", "count": 1, "dim": 64})
            found, blob = client.ask("examples", split="validation", indices=[3])
            self.assertTrue(torch.equal(client.values(found["tensors"]["vectors"], blob), waves[3].reshape(1, 1, 64)))
        self.asked(served, ask)
        for shape, channels in ((8, 2, 4, 8), 2), ((8, 10, 4, 8), 10), ((8, 6, 8, 3), 3), ((8, 2, 2, 4, 8), 2):
            given = torch.randn(shape), labels
            with self.assertRaisesRegex(relascope.RunError, rf"inputs: are \[2, {str(list(shape[1:]))[1:-1]}\]; what can be shown are"):
                self.served(Wave(channels), given, name="refused")
        shown = self.served(Wave(10), (torch.randn(8, 10, 4, 8), labels), show={"images": np.zeros((8, 4, 8, 3), np.uint8)}, name="shown")

        def ask_shown(client):
            self.assertEqual(client.ask("declare")[0]["input"], {"kind": "image", "channels": 3, "height": 4, "width": 8})
            self.assertEqual(client.ask("examples", split="validation", indices=[3])[0]["tensors"]["pictures"]["sizes"], [1, 4, 8, 3])
        self.asked(shown, ask_shown)

    def test_scores_of_other_kinds(self):
        class Odd(Pictures):
            last = float("-inf")

            def forward(self, images):
                scores = super().forward(images).clone()
                scores[:, 2] = self.last
                return scores
        model = Odd()
        for model.last, said in (float("-inf"), "-inf of class 2"), (float("nan"), "nan of class 2"):
            served = self.served(model, self.data, name="odd")
            self.assertTrue(any("scores of 1 of 3 classes are not finite" in each and said in each for each in served.left_out), served.left_out)
            self.assertEqual(served.points, self.now.points)
            self.asked(served, lambda client: self.assertFalse(bool(client.forward()[0][:, 2].isfinite().any())))
        one = self.served(Pictures(), (self.data[0], self.data[1] % 2), call=lambda model, batch: model(batch[0])[:, :1], classes=["no", "yes"], name="one")

        def ask(client):
            self.assertEqual(client.ask("declare")[0]["output"], {"kind": "classes", "count": 1, "names": ["no", "yes"]})
        self.asked(one, ask)

    def test_data_that_is_drawn_and_inputs_of_nobody(self):
        class Drawn(torch.utils.data.Dataset):
            def __len__(self):
                return 6

            def __getitem__(self, index):
                return torch.randn(3, 12, 12) + random.random() + np.random.rand(), index % 3
        loader = torch.utils.data.DataLoader(Drawn(), 2, collate_fn=lambda found: (torch.stack([x for x, _ in found]), torch.tensor([y for _, y in found])))
        numbers = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()
        served = self.served(self.model, {"drawn": loader}, name="drawn", encode=lambda picture: torch.from_numpy(picture) * 2 - 1,
                             call=lambda model, batch: model(batch[0] if isinstance(batch, tuple) else batch)[:, 0])

        def ask(client):
            self.assertEqual(client.ask("declare")[0]["output"], {"kind": "classes", "count": 1})
            both, alone = client.forward(indices=[2, 5], split="drawn")[0], client.forward(indices=[5], split="drawn")[0]
            self.assertEqual(both.shape, (2, 1))
            torch.testing.assert_close(both[1:], alone, rtol=0, atol=1e-6)
            picture = torch.arange(432).reshape(1, 3, 12, 12) / 431
            torch.testing.assert_close(client.forward(input=picture)[0], self.own_of(picture * 2 - 1)[:, :1], rtol=0, atol=1e-6)
        self.asked(served, ask)
        self.assertTrue(torch.equal(torch.get_rng_state(), numbers[0]))
        self.assertEqual((random.getstate(), np.random.get_state()[1].tolist()), numbers[1:])

    def test_texts(self):
        class Words(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed, self.blocks, self.out = nn.Embedding(30, 16), nn.ModuleList([Block(), Block()]), nn.Linear(16, 30)

            def forward(self, input_ids, attention_mask=None):
                x = self.embed(input_ids)
                for block in self.blocks:
                    x = block(x)
                return self.out(x)

        class Tokenizer:
            pad_token_id = 0

            def decode(self, ids):
                return "".join(chr(97 + each) for each in ids)
        torch.manual_seed(0)
        data = [{"input_ids": list(range(1, 4 + k % 3)), "labels": [-100] + list(range(1, 3 + k % 3)), "text": "left out"} for k in range(6)]
        served = self.served(Words(), {"train": data, "validation": data[:4], "moved": [{**each, "labels": each["input_ids"]} for each in data],
                                       "long": [{"input_ids": list(range(1, 30)) * 3}] * 2},
                             tokenizer=Tokenizer(), name="words")

        def ask(client):
            found = client.ask("declare")[0]
            self.assertEqual(found["input"], {"kind": "tokens", "length": 87, "vocabulary": 30, "causal": False, "alone": True})
            self.assertEqual(found["output"], {"kind": "tokens", "vocabulary": 30})
            self.assertEqual([each["name"] for each in found["splits"]], ["train", "validation", "moved", "long"])
            seen, blob = client.ask("examples", split="train", indices=[0, 2])
            self.assertEqual(client.values(seen["tensors"]["tokens"], blob).tolist(), [[1, 2, 3, -1, -1], [1, 2, 3, 4, 5]])
            self.assertEqual(client.values(seen["tensors"]["labels"], blob).tolist(), [[-100, 1, 2, -100, -100], [-100, 1, 2, 3, 4]])
            self.assertEqual(seen["examples"][0], {"origin": "train 0", "length": 3, "pieces": ["b", "c", "d"], "text": "bcd"})
            long = list(range(1, 30)) * 3
            self.assertTrue(torch.equal(client.forward(input=torch.tensor([long]))[0], client.forward(indices=[0], split="long")[0]))
            labels, blob = client.ask("examples", split="moved", indices=[0, 2], only="labels")
            self.assertEqual(list(labels["tensors"]), ["labels"])
            self.assertEqual(client.values(labels["tensors"]["labels"], blob).tolist(), [[2, 3, -100, -100, -100], [2, 3, 4, 5, -100]])
            a, _ = client.forward(indices=[0], split="train")
            b, _ = client.forward(input=torch.tensor([[1, 2, 3]]))
            self.assertTrue(torch.equal(a, b))
            with self.assertRaisesRegex(Refused, "has ids outside of 0 to 29"):
                client.forward(input=torch.tensor([[1, 30]]))
        self.asked(served, ask)


if __name__ == "__main__":
    main(__doc__)
