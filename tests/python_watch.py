#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests relascope.watch(): the maps are those that the modules compute, of PyTorch and of other packages, and what is none of
whole inputs is left out. The Python has PyTorch and the packages of watch-requirements.txt, as the one of tests/run.sh.

usage: python_watch.py FOLDER_OF_RELASCOPE_CLI [TEST...]        exit status 77 without NumPy or PyTorch
"""
import math
import os
import subprocess
import sys

from run_support import TOP, WithRuns, main
from watch_support import Watching

import numpy as np
import relascope
import torch
from torch import nn


def setUpModule():
    WithRuns.begin("watch")


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

    def test_weights_that_nobody_returns(self):
        """Of a model's own code, found by following its tensors: a softmax that is multiplied, and relations."""
        class Own(nn.Module):
            def __init__(self):
                super().__init__()
                self.q, self.k, self.v = (nn.Linear(8, 8) for _ in range(3))

            def forward(self, x):
                q, k, v = (layer(x).unflatten(2, (2, 4)).transpose(1, 2) for layer in (self.q, self.k, self.v))
                weights = torch.softmax(q @ k.mT / 2, -1)
                r = torch.einsum("bhid,bhjd->bijh", q, k)
                return (weights @ v).transpose(1, 2).flatten(2), torch.einsum("bhij,bijr->bihr", weights, r)

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList([Own(), Own()])

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)[0]
                return x
        torch.manual_seed(0)
        model, x = Model(), torch.randn(2, 5, 8)
        capture = self.captured(model, x, 1)
        self.assertEqual(capture.layers, ["layer 1", "layer 2"])
        own = model.blocks[0]
        q, k = (layer(x).unflatten(2, (2, 4)).transpose(1, 2) for layer in (own.q, own.k))
        self.same(capture, "attention-ra", 0, torch.softmax(q @ k.mT / 2, -1)[1])
        self.same(capture, "relation", 0, (q @ k.mT)[1])

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
