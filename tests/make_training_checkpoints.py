#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes fixtures/training-checkpoints: a small GPT as nanoGPT's train.py and as llm.c saves it, with and without
biases, adapters, and what they compute (io.safetensors, as the golden cases have). The GPT is written here
from the description of that file format: Linear layers, exact GELU, learned positions, tied output.

usage: make_training_checkpoints.py   (a Python with torch, transformers and peft)
"""
import json
import pathlib
import struct

import torch
from torch import nn
from torch.nn import functional as F

OUT = pathlib.Path(__file__).resolve().parent / "fixtures/training-checkpoints"
LAYERS, HEADS, WIDTH, CONTEXT, VOCABULARY = 2, 2, 16, 24, 65


class Norm(nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.weight = nn.Parameter(1 + 0.1 * torch.randn(WIDTH))
        self.bias = nn.Parameter(0.1 * torch.randn(WIDTH)) if bias else None

    def forward(self, x):
        return F.layer_norm(x, (WIDTH,), self.weight, self.bias, 1e-5)


class Attention(nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.c_attn = nn.Linear(WIDTH, 3 * WIDTH, bias=bias)
        self.c_proj = nn.Linear(WIDTH, WIDTH, bias=bias)
        self.register_buffer("bias", torch.tril(torch.ones(CONTEXT, CONTEXT))[None, None])

    def forward(self, x):
        q, k, v = (part.unflatten(2, (HEADS, -1)).transpose(1, 2) for part in self.c_attn(x).split(WIDTH, 2))
        scores = q @ k.transpose(2, 3) / (WIDTH // HEADS) ** 0.5
        n = x.shape[1]
        scores = scores.masked_fill(self.bias[:, :, :n, :n] == 0, float("-inf"))
        return self.c_proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, bias, gelu):
        super().__init__()
        self.gelu = gelu
        self.ln_1, self.attn, self.ln_2 = Norm(bias), Attention(bias), Norm(bias)
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(WIDTH, 4 * WIDTH, bias=bias),
                                  "c_proj": nn.Linear(4 * WIDTH, WIDTH, bias=bias)})

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp["c_proj"](F.gelu(self.mlp["c_fc"](self.ln_2(x)), approximate=self.gelu))


class Gpt(nn.Module):
    def __init__(self, bias, gelu="none"):
        super().__init__()
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(VOCABULARY, WIDTH), "wpe": nn.Embedding(CONTEXT, WIDTH),
            "h": nn.ModuleList(Block(bias, gelu) for _ in range(LAYERS)), "ln_f": Norm(bias)})
        self.lm_head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.transformer["wte"].weight = self.lm_head.weight

    def forward(self, tokens):
        t = self.transformer
        x = t["wte"](tokens) + t["wpe"](torch.arange(tokens.shape[1]))
        for block in t["h"]:
            x = block(x)
        return self.lm_head(t["ln_f"](x))


def write_safetensors(tensors, path):
    head, body = {}, b""
    for name, tensor in tensors.items():
        raw = bytes(tensor.contiguous().view(-1).view(torch.uint8).tolist())
        head[name] = {"dtype": {torch.int64: "I64", torch.float32: "F32"}[tensor.dtype],
                      "shape": list(tensor.shape), "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


for name, bias, prefix in (("nanogpt", False, "_orig_mod."), ("nanogpt_biases", True, "")):
    torch.manual_seed(46)
    model = Gpt(bias)
    for one in model.parameters():
        one.data += 0.02 * torch.randn_like(one)
    folder = OUT / name
    folder.mkdir(parents=True, exist_ok=True)
    tokens = torch.randint(VOCABULARY, (1, 14))
    with torch.no_grad():
        write_safetensors({"input/tokens": tokens, "output/logits": model(tokens)}, folder / "io.safetensors")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    torch.save({"model": {prefix + key: value for key, value in model.state_dict().items()},
                "optimizer": optimizer.state_dict(),
                "model_args": {"n_layer": LAYERS, "n_head": HEADS, "n_embd": WIDTH, "block_size": CONTEXT,
                               "bias": bias, "vocab_size": VOCABULARY, "dropout": 0.0},
                "iter_num": 7, "best_val_loss": torch.tensor(1.25), "config": {"dataset": "small"}}, folder / "ckpt.pt")

# As llm.c's train_gpt2.py writes it, in both types, with rows that are padded to a multiple of 32.
for name, version, dtype in (("llmc", 3, torch.float32), ("llmc_bfloat16", 5, torch.bfloat16)):
    torch.manual_seed(47)
    model = Gpt(True, "tanh").to(dtype).float()
    folder = OUT / name
    folder.mkdir(parents=True, exist_ok=True)
    tokens = torch.randint(VOCABULARY, (1, 14))
    with torch.no_grad():
        write_safetensors({"input/tokens": tokens, "output/logits": model(tokens)}, folder / "io.safetensors")
    rows = -(-VOCABULARY // 32) * 32
    state = {key.removeprefix("transformer."): value for key, value in model.state_dict().items()}
    parts = [F.pad(state["wte.weight"], (0, 0, 0, rows - VOCABULARY)), state["wpe.weight"]]
    for part in ("ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj"):
        for kind in ("weight", "bias"):
            parts += [state[f"h.{layer}.{part}.{kind}"] for layer in range(LAYERS)]
    parts += [state["ln_f.weight"], state["ln_f.bias"]]
    header = torch.zeros(256, dtype=torch.int32)
    header[:8] = torch.tensor([20240326, version, CONTEXT, VOCABULARY, LAYERS, HEADS, WIDTH, rows])
    raw = [bytes(one.contiguous().view(-1).view(torch.uint8).tolist()) for one in [header] + [part.to(dtype) for part in parts]]
    (folder / "gpt2.bin").write_bytes(b"".join(raw))

# Adapters of two golden models, as PEFT writes them, and what the merged models compute: a linear layer that is stored
# transposed, one that is not, an embedding, a rank of its own, a module that was trained whole.
from peft import LoraConfig, get_peft_model  # noqa: E402
from transformers import AutoModelForCausalLM  # noqa: E402

for name, base, options in (
        ("adapter-gpt2", "gpt2_tied", {"target_modules": ["c_attn", "c_fc"], "fan_in_fan_out": True}),
        ("adapter-llama", "llama_gqa_untied", {"target_modules": ["q_proj", "down_proj", "embed_tokens"], "use_rslora": True,
                                               "rank_pattern": {"q_proj": 2}, "alpha_pattern": {"q_proj": 3},
                                               "modules_to_save": ["lm_head"]})):
    torch.manual_seed(46)
    model = AutoModelForCausalLM.from_pretrained(OUT.parent / "golden/public" / base, dtype=torch.float32)
    adapted = get_peft_model(model, LoraConfig(r=4, lora_alpha=8, task_type="CAUSAL_LM", **options))
    for key, one in adapted.named_parameters():
        if "lora_" in key or "modules_to_save" in key:
            one.data += 0.1 * torch.randn_like(one)
    folder = OUT / name
    adapted.save_pretrained(folder)
    (folder / "README.md").unlink(missing_ok=True)
    config = json.loads((folder / "adapter_config.json").read_text())
    config["base_model_name_or_path"] = "../../golden/public/" + base
    (folder / "adapter_config.json").write_text(json.dumps(config, indent=1) + "\n")
    tokens = torch.randint(model.config.vocab_size, (1, 14))
    with torch.no_grad():
        logits = adapted.merge_and_unload()(tokens).logits
    write_safetensors({"input/tokens": tokens, "output/logits": logits}, folder / "io.safetensors")
