#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes golden folders with the published package, or computes existing ones again.

  make_golden.py CONFIG.json FOLDER [--seed N]   a new case: random weights and inputs
  make_golden.py --again FOLDER...               stored weights and inputs; prints the differences

CONFIG.json is {"class": ..., "arguments": {...}} of the constructor: DualAttnTransformerLM,
TransformerLM, VisionDualAttnTransformer, VisionTransformer, Seq2SeqDualAttnTransformer or
Seq2SeqTransformer. What the folder holds: resources/docs/golden.md section 2.

Needs an environment of its own, no part of the program:
  python3 -m venv golden && golden/bin/pip install torch==2.11.0 numpy einops dual-attention==0.0.7
"""
import argparse
import importlib
import json
import pathlib
import struct
import sys

import numpy as np
import torch

MODULES = {"LM": "language_models", "Vision": "vision_models", "Seq2Seq": "seq2seq_models"}
DTYPES = {"F32": np.float32, "I64": np.int64}
TRAIN_STEPS, NEW_TOKENS = 10, 16
TOLERANCE = {"grad": 1e-4, "train": 1e-4}  # all others: 2e-5


def read_tensors(path):
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    return {name: torch.from_numpy(np.frombuffer(
        data[8 + length + e["data_offsets"][0]:8 + length + e["data_offsets"][1]],
        DTYPES[e["dtype"]]).reshape(e["shape"]).copy()) for name, e in header.items()}


def write_tensors(path, tensors):
    names = {torch.float32: "F32", torch.int64: "I64"}
    header, parts, at = {}, [], 0
    for name, tensor in sorted(tensors.items(), key=lambda item: (item[1].dtype != torch.int64, item[0])):
        part = tensor.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [at, at + len(part)]}
        parts.append(part)
        at += len(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


def build(config):
    name = config["class"]
    kind = next(module for part, module in MODULES.items() if name.endswith(part) or name.startswith(part))
    # Version 0.0.7 uses model_utils in disrca without importing it.
    importlib.import_module("dual_attention.relational_attention").model_utils = importlib.import_module(
        "dual_attention.model_utils")
    return getattr(importlib.import_module("dual_attention." + kind), name)(**config["arguments"])


def random_inputs(config):
    a = config["arguments"]
    if config["class"].endswith("LM"):
        tokens = torch.randint(a["vocab_size"], (2, min(17, a["max_block_size"])))
        targets = torch.randint(a["vocab_size"], tokens.shape)
        targets[0, :2] = -1  # ignored
        return {"input/tokens": tokens, "input/targets": targets,
                "generate/prompt": torch.randint(a["vocab_size"], (1, 5))}
    if config["class"].startswith("Vision"):
        c, width, height = a["image_shape"]
        return {"input/images": torch.rand(2, c, height, width), "input/targets": torch.randint(a["num_classes"], (2,))}
    n, m = min(13, a["in_block_size"]), min(9, a["out_block_size"])
    spec, out = a["input_spec"], a["output_spec"]["vocab_size"]
    source = torch.randint(spec["vocab_size"], (2, n)) if spec["type"] == "token" else torch.randn(2, n, spec["dim"])
    targets = torch.randint(a["out_dim"], (2, m))
    targets[0, -2:] = a["loss_ignore_idx"]
    return {"input/source": source, "input/target_in": torch.randint(out, (2, m)), "input/targets": targets}


def record(model):
    """Makes every block and attention note what it computes; the notes."""
    notes = {}

    def watch(name, module):
        forward, kind = module.forward, type(module).__name__

        def watched(*words, **options):
            if kind == "Attention":  # the fused kernel has no weights to show
                options["need_weights"] = True
            out = forward(*words, **options)
            if kind.endswith("Block"):
                notes["hidden/" + name] = out
            else:
                notes["scores/" + name] = out[1]
                if len(out) > 2:
                    notes["relations/" + name] = out[2]
            return out
        module.forward = watched

    recorded = ("Attention", "RelationalAttention", "RelationalCrossAttention", "DisentangledRelationalCrossAttention")
    for name, module in model.named_modules():
        kind = type(module).__name__
        if kind.endswith(("EncoderBlock", "DecoderBlock")) or kind in recorded:
            watch(name, module)
    return notes


def compute(model, config, inputs):
    targets = inputs["input/targets"]
    ignored = config["arguments"].get("loss_ignore_idx", -1)

    def logits_of():
        if "input/tokens" in inputs:
            return model(inputs["input/tokens"], targets)[0]  # without targets: the last position alone
        if "input/images" in inputs:
            return model(inputs["input/images"])
        return model(inputs["input/source"], inputs["input/target_in"], targets)[0]

    def loss_of(logits):
        return torch.nn.functional.cross_entropy(logits.flatten(0, -2), targets.flatten(), ignore_index=ignored)

    notes = record(model)
    logits = logits_of()
    loss = loss_of(logits)
    loss.backward()
    results = {"output/logits": logits, "output/loss": loss, **notes}
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:  # a frozen symbol library
            continue
        results["grad/" + name] = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
    results = {name: tensor.detach().clone() for name, tensor in results.items()}
    if "generate/prompt" in inputs:
        ids = inputs["generate/prompt"]
        with torch.no_grad():
            for _ in range(NEW_TOKENS):
                scores = model(ids[:, -config["arguments"]["max_block_size"]:])[0]
                ids = torch.cat([ids, scores[:, -1].argmax(-1, keepdim=True)], 1)
        results["generate/greedy"] = ids
    losses = []
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)
    for _ in range(TRAIN_STEPS):
        optimizer.zero_grad()
        loss = loss_of(logits_of())
        losses.append(loss.item())
        loss.backward()
        optimizer.step()
    results["train/adamw_losses"] = torch.tensor(losses)
    return results


def make(config_path, folder, seed):
    config = json.loads(config_path.read_text())
    torch.manual_seed(seed)
    model = build(config).eval()
    inputs = random_inputs(config)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    write_tensors(folder / "model.safetensors", model.state_dict())
    write_tensors(folder / "io.safetensors", {**inputs, **compute(model, config, inputs)})
    print(f"wrote {folder}")
    return True


def again(folder):
    """Whether the stored results are what the package computes now, within the tolerances."""
    config = json.loads((folder / "config.json").read_text())
    model = build(config).eval()
    model.load_state_dict(read_tensors(folder / "model.safetensors"))
    stored = read_tensors(folder / "io.safetensors")
    inputs = {k: v for k, v in stored.items() if k.startswith("input/") or k == "generate/prompt"}
    results = compute(model, config, inputs)
    worst, bad = 0.0, [f"{name} is stored but not computed" for name in stored.keys() - inputs.keys() - results.keys()]
    for name, ours in results.items():
        if name not in stored:
            bad.append(f"{name} is computed but not stored")
            continue
        difference = (ours.double() - stored[name].double()).abs()
        tolerance = 0 if ours.dtype == torch.int64 else TOLERANCE.get(name.split("/")[0], 2e-5)
        worst = max(worst, difference.max().item())
        if (difference > tolerance + tolerance * stored[name].double().abs()).any():
            bad.append(f"{name} differs by {difference.max().item():.3g}")
    print(f"{folder.name}: {len(results)} tensors, largest difference {worst:.2g}", *bad, sep="\n  ")
    return not bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.again:
        return 0 if all([again(folder) for folder in arguments.paths]) else 1
    if len(arguments.paths) != 2:
        parser.error("give CONFIG.json and FOLDER")
    return 0 if make(*arguments.paths, arguments.seed) else 1


if __name__ == "__main__":
    sys.exit(main())
