#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests relascope.serve(): the points that are found in models of PyTorch and other packages, and what is computed through them, by
a client that speaks as Relascope does. The Python has PyTorch and the packages of watch-requirements.txt.

usage: python_serve.py FOLDER_OF_RELASCOPE_CLI [TEST...]        exit status 77 without NumPy or PyTorch
"""
import json
import logging

from run_support import TOP, WithRuns, main
from serve_support import Serving

import relascope
import torch
from relascope import passes, proofs
from relascope.reading import Safetensors
from torch import nn

GOLDEN = TOP / "tests/fixtures/golden"
logging.disable()


def setUpModule():
    WithRuns.begin("serve")


def stored(path):
    file = Safetensors(str(path))
    return {name: torch.from_numpy(file.tensor(name).copy()) for name in file.entries}


def drawn(model, spread=0.15):
    """A model whose weights are all drawn, also those that begin as 0 or 1."""
    torch.manual_seed(0)
    for each in model.parameters():
        nn.init.normal_(each, 1.0 if each.ndim == 1 and each.mean() > 0.5 else 0.0, spread)
    return model


def found_in(model, given, call=None):
    """The points of a model, as proofs.find() gives them."""
    call = call or (lambda given: passes.first_stream(model(**given) if isinstance(given, dict) else model(given)))
    other = {name: each.flip(0) for name, each in given.items()} if isinstance(given, dict) else given.flip(0)
    return proofs.find(model, call, given, 2, other)[0], lambda: call(given)


WHOLE = ["attn.hook_attn_scores", "attn.hook_k", "attn.hook_pattern", "attn.hook_q", "attn.hook_v", "attn.hook_z", "hook_attn_out",
         "hook_mlp_out", "hook_resid_mid", "hook_resid_post", "hook_resid_pre"]


class TestPoints(Serving):
    def whole(self, model, given, *, without=(), more=(), blocks=2, last=True):
        """Every block has all points, each is met, and copies of all of them change nothing."""
        found, call = found_in(model, given)
        self.assertEqual(len(found.blocks), blocks)
        for block in found.blocks:
            names = [name[len(block.name) + 1:] for name in found.points if name.startswith(block.name + ".")]
            self.assertEqual(sorted(names), sorted({*WHOLE, *more} - set(without)))
            self.assertTrue(block.skip)
        self.assertEqual("ln_final.hook_normalized" in found.points, last)
        self.assertEqual(found.left_out, [])
        names = list(found.points)
        base = proofs.run(found, call, [], 2, lambda name, tensor: tensor)
        for change in (lambda name, tensor: tensor), (lambda name, tensor: tensor.clone()):
            scores = proofs.run(found, call, names, 2, change)
            self.assertLess(float((scores - base).abs().max()), 1e-5 * max(1.0, float(base.abs().max())))
        return found

    def test_torch_nn(self):
        class Model(nn.Module):
            def __init__(self, first, batch_first):
                super().__init__()
                self.embed, self.places, self.out, self.batch_first = nn.Embedding(20, 16), nn.Parameter(torch.zeros(7, 16)), nn.Linear(16, 3), batch_first
                layer = nn.TransformerEncoderLayer(16, 4, 32, 0.1, norm_first=first, batch_first=batch_first)
                self.encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(16) if first else None, enable_nested_tensor=False)

            def forward(self, x):
                x = self.embed(x) + self.places
                x = self.encoder(x if self.batch_first else x.transpose(0, 1))
                return self.out(x.mean(1 if self.batch_first else 0))
        for first in True, False:
            for batch_first in True, False:
                found = self.whole(drawn(Model(first, batch_first)), torch.arange(14).reshape(2, 7), last=first)
                self.assertEqual([block.path[-1][0] for block in found.blocks], ["encoder.layers.0", "encoder.layers.1"])

    def test_timm(self):
        import timm
        images = torch.rand(2, 3, 64, 64)
        for name, more, last in ("vit_tiny_patch16_224", {}, True), ("deit3_small_patch16_224", {}, True), ("beit_base_patch16_224", {}, False):
            model = drawn(timm.create_model(name, img_size=64, num_classes=3, depth=2, **more), 0.05)
            self.whole(model, images, last=last)
        model = timm.create_model("vit_tiny_patch16_224", img_size=64, num_classes=3, depth=2, qk_norm=True)
        self.whole(drawn(model, 0.1), images)
        images = torch.rand(2, 3, 56, 56)
        self.whole(drawn(timm.create_model("vit_small_patch14_dinov2", img_size=56, num_classes=3, depth=2), 0.05), images)
        self.whole(drawn(timm.create_model("eva02_tiny_patch14_224", img_size=56, num_classes=3, depth=2), 0.1), images, last=False,
                   more=("attn.hook_rot_q", "attn.hook_rot_k"))

    def test_transformers(self):
        import transformers
        common = {"vocab_size": 60, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
        grouped = {**common, "num_key_value_heads": 2}
        ids, rotated = torch.randint(5, 60, (2, 9)), ("attn.hook_rot_q", "attn.hook_rot_k")
        for kind, config, more, without, last in (
                ("GPT2LMHeadModel", transformers.GPT2Config(vocab_size=60, n_embd=32, n_layer=2, n_head=4, n_positions=32), (), (), True),
                ("LlamaForCausalLM", transformers.LlamaConfig(**grouped), rotated, (), True),
                ("MixtralForCausalLM", transformers.MixtralConfig(**grouped, num_local_experts=4), rotated, (), True),
                ("Qwen3ForCausalLM", transformers.Qwen3Config(**grouped, head_dim=8), rotated, (), True),
                ("Gemma2ForCausalLM", transformers.Gemma2Config(**grouped, head_dim=8), rotated, (), True),
                ("GPTNeoXForCausalLM", transformers.GPTNeoXConfig(**common), rotated, ("hook_resid_mid",), True),
                ("CohereForCausalLM", transformers.CohereConfig(**grouped), rotated, ("hook_resid_mid",), True),
                ("FalconForCausalLM", transformers.FalconConfig(vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=4), rotated,
                 ("hook_resid_mid",), True),
                ("OPTForCausalLM", transformers.OPTConfig(vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=64,
                                                          word_embed_proj_dim=32, max_position_embeddings=32), (), (), True),
                ("BloomForCausalLM", transformers.BloomConfig(vocab_size=60, hidden_size=32, n_layer=2, n_head=4), (), (), True),
                ("BertForSequenceClassification", transformers.BertConfig(**common, num_labels=3), (), (), False)):
            for how in "eager", "sdpa":
                with self.subTest(kind, how=how):
                    config._attn_implementation = how
                    try:
                        model = getattr(transformers, kind)(config)
                    except (ValueError, ImportError):  # which has no such form
                        continue
                    self.whole(drawn(model), {"input_ids": ids}, more=more, without=without, last=last)

    def test_two_stacks(self):
        import transformers
        ids = torch.randint(5, 60, (2, 9))
        for config in (transformers.BartConfig(vocab_size=60, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                                               decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=32),
                       transformers.T5Config(vocab_size=60, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4)):
            model = drawn(transformers.AutoModelForSeq2SeqLM.from_config(config))
            found, _ = found_in(model, {"input_ids": ids, "decoder_input_ids": ids[:, :6].contiguous()})
            self.assertEqual([block.name for block in found.blocks], ["encoder.0", "encoder.1", "decoder.0", "decoder.1"])
            decoder = {name[10:] for name in found.points if name.startswith("decoder.1.")}
            self.assertEqual(decoder, {*WHOLE, "hook_cross_attn_out", "hook_resid_mid_cross", *(f"cross_{name}" for name in WHOLE if name.startswith("attn."))})
            self.assertTrue(found.points["decoder.0.attn.hook_pattern"].causal)
            self.assertFalse(found.points["decoder.0.cross_attn.hook_pattern"].causal)
            self.assertEqual(found.points["decoder.0.cross_attn.hook_pattern"].sizes, (2, 4, 6, 9))

    def test_dual_attention(self):
        from dual_attention.language_models import DualAttnTransformerLM
        both = ["hook_k", "hook_q", "hook_attn_scores", "hook_pattern", "hook_z", "hook_rot_q", "hook_rot_k"]
        for symbols, options in ("position_relative", {"symbol_dim": 32, "max_rel_pos": 12}), \
                ("symbolic_attention", {"d_model": 32, "n_heads": 4, "n_symbols": 6, "trainable_symbols": True}):
            relative = symbols == "position_relative"
            model = drawn(DualAttnTransformerLM(
                vocab_size=20, d_model=32, n_layers=2, n_heads_sa=2, n_heads_ra=2, dff=64, dropout_rate=0.1, activation="swiglu", norm_first=True,
                max_block_size=12, symbol_retrieval=symbols, symbol_retrieval_kwargs=options, pos_enc_type="RoPE",
                ra_kwargs={"n_relations": 4, "use_relative_positional_symbols": relative}))
            ids = torch.randint(20, (2, 9))
            found, call = found_in(model, ids)
            names = {name[9:] for name in found.points if name.startswith("blocks.1.")}
            wanted = {*WHOLE, *(f"attn.{name}" for name in both), *(f"rel.{name}" for name in both)}
            wanted |= {f"rel.hook_{name}" for name in ("r", "attended_r", "z_sym", "z_rel", "rel_q", "rel_k", *(() if relative else ("s",)))}
            self.assertEqual(names, wanted | (set() if relative else {"sym.hook_attn_scores", "sym.hook_pattern"}))
            self.assertEqual(found.points["blocks.0.rel.hook_r"].sizes, (2, 9, 9, 4))
            # A relation without its weights, and a head without its slice before the projection, to the last bit.
            attention = model.layers.blocks[1].dual_attn.relational_attention
            factors = torch.tensor([1.0, 0, 1, 1])
            out = proofs.run(found, call, ["blocks.1.rel.hook_r"], 2, lambda name, tensor: tensor * factors)
            with torch.no_grad():
                attention.wr[:, :, 1] = 0
                self.assertTrue(torch.equal(proofs.run(found, call, [], 2, lambda name, tensor: tensor), out))

    def test_what_is_no_point(self):
        import timm
        import transformers
        swin = timm.create_model("swin_tiny_patch4_window7_224", img_size=64, window_size=4, embed_dim=24, depths=(1, 1, 1), num_heads=(1, 2, 4), num_classes=3)
        found, _ = found_in(swin, torch.rand(2, 3, 64, 64))
        self.assertEqual([name for name in found.points if name.endswith("pattern")], ["blocks.0.attn.hook_pattern"])
        self.assertIn("layers.0.blocks.0.attn.softmax: its maps [32, 1, 16, 16] are of pieces of the input", found.left_out)
        xcit = timm.create_model("xcit_nano_12_p16_224", img_size=64, depth=1, num_classes=3)
        self.assertIn("blocks.0: its maps are 32 x 32, not of the 16 positions", found_in(xcit, torch.rand(2, 3, 64, 64))[0].left_out)
        config = transformers.AlbertConfig(vocab_size=60, hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=64,
                                           embedding_size=16, num_labels=3)
        found, _ = found_in(drawn(transformers.AlbertForSequenceClassification(config)), {"input_ids": torch.randint(5, 60, (2, 9))})
        self.assertEqual([name for name in found.points if name.endswith("pattern")], [f"blocks.{k}.attn.hook_pattern" for k in range(3)])
        self.assertFalse(any("resid" in name for name in found.points))

        class Drawn(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.calls = nn.Linear(4, 3), 0

            def forward(self, x):
                self.calls += 1
                return self.a(x).mean(1) * self.calls
        with self.assertRaisesRegex(relascope.RunError, "answers differently each time"):
            found_in(Drawn(), torch.rand(2, 3, 4))

    def test_additions_outside_of_modules(self):
        """Modules that give what their caller adds to the stream."""
        class Attends(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm, self.qkv, self.out = nn.LayerNorm(16), nn.Linear(16, 48), nn.Linear(16, 16)

            def forward(self, x):
                q, k, v = (each.unflatten(2, (4, 4)).transpose(1, 2) for each in self.qkv(self.norm(x)).chunk(3, -1))
                return self.out((torch.softmax(q @ k.mT / 2, -1) @ v).transpose(1, 2).flatten(2))

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                feeds = (nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)) for _ in range(2))
                self.embed, self.layers = nn.Embedding(20, 16), nn.ModuleList([nn.ModuleList([Attends(), feed]) for feed in feeds])
                self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 3)

            def forward(self, x):
                x = self.embed(x)
                for attends, feed in self.layers:
                    x = attends(x) + x
                    x = feed(x) + x
                return self.head(self.norm(x).mean(1))
        model, ids = drawn(Model()), torch.arange(14).reshape(2, 7)
        found, call = found_in(model, ids)
        for block in range(2):
            self.assertEqual(sorted(name[9:] for name in found.points if name.startswith(f"blocks.{block}.")), WHOLE)
        values = {}
        proofs.run(found, call, list(found.points), 2, lambda name, tensor: values.setdefault(name, tensor))
        for block in "blocks.0.", "blocks.1.":
            mid = values[block + "hook_resid_pre"] + values[block + "hook_attn_out"]
            torch.testing.assert_close(values[block + "hook_resid_mid"], mid)
            torch.testing.assert_close(values[block + "hook_resid_post"], mid + values[block + "hook_mlp_out"])
        self.assertTrue(torch.equal(values["blocks.0.hook_resid_post"], values["blocks.1.hook_resid_pre"]))
        self.assertEqual([block.skip for block in found.blocks], [True, True])
        self.assertIn("ln_final.hook_normalized", found.points)

    def test_what_the_user_names(self):
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.q, self.k, self.v, self.out = (nn.Linear(8, 8) for _ in range(4))

            def forward(self, x):
                a = torch.sigmoid(self.q(x) @ self.k(x).mT)[:, None]
                a = relascope.point("attn.hook_pattern", a, "pattern")
                return x + self.out((a[:, 0] @ self.v(x)))

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks, self.head = nn.ModuleList([Block(), Block()]), nn.Linear(8, 3)

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return self.head(x).mean(1)
        model, x = Model(), torch.randn(2, 5, 8)
        self.assertIs(relascope.point("x", x), x)
        found, call = found_in(model, x)
        self.assertEqual([name for name in found.points if "pattern" in name], ["blocks.0.attn.hook_pattern", "blocks.1.attn.hook_pattern"])
        base = proofs.run(found, call, [], 2, lambda name, tensor: tensor)
        without = proofs.run(found, call, ["blocks.1.attn.hook_pattern"], 2, lambda name, tensor: tensor * 0)
        self.assertFalse(torch.equal(base, without))
        self.assertEqual({each.name for each in found.blocks}, {"blocks.0", "blocks.1"})
        compiled = torch.compile(Model(), backend="eager", fullgraph=True)
        self.assertEqual(compiled(x).shape, (2, 3))

    def test_models_over_processes_are_refused(self):
        """A model of fully_shard, here over one process, has parameters that no other process could ask about."""
        from torch import distributed
        from torch.distributed.fsdp import FSDPModule, fully_shard
        distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
        self.addCleanup(distributed.destroy_process_group)
        mesh = distributed.init_device_mesh("cpu", (1,))
        for whole in True, False:
            model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 3))
            fully_shard(model if whole else model[0], mesh=mesh)
            self.assertTrue(any(isinstance(each, FSDPModule) for each in model.modules()))
            with self.assertRaisesRegex(relascope.RunError, "model: is spread over processes; serve a copy on one"):
                relascope.serve(model, torch.rand(4, 2, 4), name="spread")


class TestGolden(Serving):
    """The public models, as transformers computes them, against what is stored of them."""

    def model(self, case, how):
        import transformers
        folder = GOLDEN / "public" / case
        kind = json.loads((folder / "config.json").read_text()).get("architectures", ["GPT2LMHeadModel"])[0]
        return getattr(transformers, kind).from_pretrained(folder, attn_implementation=how, dtype=torch.float32)

    def given(self, io):
        name = "input/tokens" if "input/tokens" in io else "input/images"
        return {"input_ids" if name == "input/tokens" else "pixel_values": io[name] if len(io[name]) > 1 else io[name].repeat(2, 1)}, len(io[name])

    def test_points_and_values(self):
        wanted = json.loads((GOLDEN / "public-interventions/points.json").read_text())
        for case in wanted:
            for how in "eager", "sdpa":
                with self.subTest(case, how=how):
                    io = stored(GOLDEN / "public" / case / "io.safetensors")
                    model = self.model(case, how)
                    given, n = self.given(io)
                    found, call = found_in(model, given)
                    self.assertEqual(set(wanted[case]) - set(found.points) - {"hook_embed", "hook_pos_embed"}, set())
                    self.assertEqual(set(found.points) - set(wanted[case]), set())
                    for name, point in found.points.items():
                        self.assertEqual(list(point.sizes[1:]), wanted[case][name]["shape"][1:])
                        if name != "hook_logits":
                            self.assertEqual(list(point.axes), wanted[case][name]["axes"])
                    values = {}
                    values["output/logits"] = proofs.run(found, call, list(found.points), 2, lambda name, tensor: values.setdefault(name, tensor))
                    for key in [key for key in io if key.startswith(("hidden/", "scores/", "output/logits"))]:
                        kind, _, at = key.partition("/")
                        name = {"output": key, "scores": f"blocks.{int(at) - 1 if at.isdigit() else 0}.attn.hook_pattern"}.get(kind) or \
                            ("blocks.0.hook_resid_pre" if at == "0" else "ln_final.hook_normalized" if at == "last_norm" else f"blocks.{int(at) - 1}.hook_resid_post")
                        torch.testing.assert_close(values[name][:n], io[key], rtol=1e-5, atol=1e-5)

    def test_edits(self):
        for folder in sorted((GOLDEN / "public-interventions").iterdir()):
            if not folder.is_dir():
                continue
            edit = json.loads((folder / "edit.json").read_text())
            io, own = stored(GOLDEN / "public" / edit["model"] / "io.safetensors"), stored(folder / "io.safetensors")
            for how in "eager", "sdpa":
                with self.subTest(folder.name, how=how):
                    given, n = self.given(io)
                    served = self.served(self.model(edit["model"], how), {"all": given}, name="golden")

                    def ask(client):
                        points = [self.action(client, each, own, n) for each in edit["edits"]]
                        maps = {key: f"blocks.{int(key[7:]) - 1}." + ("attn.hook_pattern" if key.startswith("scores") else "hook_resid_post")
                                for key in own if key.startswith(("scores/", "hidden/")) and key[7:].isdigit()}
                        scores, read = client.forward(*points, *((name, "read") for name in maps.values()), indices=list(range(n)), split="all")
                        torch.testing.assert_close(scores, own["output/logits"], rtol=1e-5, atol=1e-5)
                        for key, name in maps.items():
                            torch.testing.assert_close(read[name], own[key], rtol=1e-5, atol=1e-5)
                    self.asked(served, ask)
                    served.close()

    def action(self, client, edit, own, n):
        """An edit of the golden cases as an action of a pass."""
        name, op = edit["at"], edit["op"]
        heads = edit.get("head")
        declared = next(each for each in client.ask("declare")[0]["points"] if each["name"] == name)
        axes = declared["axes"]
        if op in ("zero", "scale"):
            factor = edit.get("factor", 0.0)
            if heads is None:
                return name, {"do": "factors", "axis": "dim", "values": torch.full((declared["sizes"][axes.index("dim")],), factor)}
            values = torch.ones(declared["sizes"][axes.index("head")])
            values[heads] = factor
            return name, {"do": "factors", "axis": "head", "values": values}
        if op == "mask":
            places = [None, heads if isinstance(heads, list) else None if heads is None else [heads], [edit["i"]], [edit["j"]]]
            return name, {"do": "put", "places": places, "values": torch.full((1,), float("-inf"))}
        first, last = map(int, edit["position"].split(":")) if isinstance(edit["position"], str) else (edit["position"], edit["position"] + 1)
        _, other = client.forward((name, "read"), input=own["B/tokens"], split=None)
        return name, {"do": "put", "places": [None, list(range(first, last)), None], "values": other[name][:, first:last]}


if __name__ == "__main__":
    main(__doc__)
