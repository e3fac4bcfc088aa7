#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times training steps of the published package dual-attention 0.0.7 on the workloads of
relascope-bench.

    python3 package.py DEVICE SECONDS BENCH_JSONL [WORKLOAD]...

BENCH_JSONL has a line for each result of `relascope-bench --json`: the same batch is used, halved until it
fits. Prints one JSON object a workload: batch, ms a step, most memory, parameters, and ms with
torch.compile for workloads given as NAME+compile.
"""
import json
import sys
import time

import torch

BATCH = {"relgames_dat": 512, "relgames_transformer": 512, "cifar_vidat": 32, "lm_dat_512": 2,
         "lm_dat_512_dropout": 2, "lm_transformer_512": 2, "lm_dat_1024": 2, "lm_dat_343m": 8}


def language(d, layers, heads, relations, symbols, symbol_heads, vocabulary, context, **more):
    from dual_attention.language_models import DualAttnTransformerLM
    kv = more.get("kv")
    return DualAttnTransformerLM(
        vocab_size=vocabulary, d_model=d, n_layers=layers, n_heads_sa=heads, n_heads_ra=heads,
        dff=4 * d, dropout_rate=more.get("dropout", 0.0), activation="gelu", norm_first=True, max_block_size=context,
        symbol_retrieval="symbolic_attention", pos_enc_type="RoPE", bias=more.get("bias", True),
        symbol_retrieval_kwargs=dict(d_model=d, n_heads=symbol_heads, n_symbols=symbols,
                                     trainable_symbols=more.get("trainable", True)),
        sa_kwargs=dict(n_kv_heads=kv), ra_kwargs=dict(n_kv_heads=kv, n_relations=relations))


def model_of(name):
    from dual_attention.language_models import TransformerLM
    from dual_attention.vision_models import VisionDualAttnTransformer, VisionTransformer
    if name == "lm_dat_512":
        return language(512, 4, 4, 32, 512, 4, 8192, 512)
    if name == "lm_dat_512_dropout":
        return language(512, 4, 4, 32, 512, 4, 8192, 512, dropout=0.1)
    if name == "lm_dat_1024":
        return language(512, 2, 4, 32, 512, 4, 8192, 1024)
    if name == "lm_dat_343m":
        return language(1024, 24, 8, 64, 1024, 8, 50304, 1024, kv=4, bias=False, trainable=False)
    if name == "lm_transformer_512":
        return TransformerLM(vocab_size=8192, d_model=512, n_layers=4, n_heads=8, dff=2048,
                             dropout_rate=0.0, activation="gelu", norm_first=True,
                             max_block_size=512, pos_enc_type="RoPE", bias=False)
    small = dict(image_shape=(3, 36, 36), patch_size=(12, 12), num_classes=2, d_model=128,
                 n_layers=2, dff=256, dropout_rate=0.1, activation="swiglu", norm_first=True,
                 bias=False, pool="mean")
    if name == "relgames_transformer":
        return VisionTransformer(n_heads=2, **small)
    if name == "relgames_dat":
        return VisionDualAttnTransformer(
            n_heads_sa=1, n_heads_ra=1, symbol_retrieval="positional_symbols",
            symbol_retrieval_kwargs=dict(symbol_dim=128, max_length=10),
            ra_kwargs=dict(symmetric_rels=True), **small)
    if name == "cifar_vidat":
        return VisionDualAttnTransformer(
            image_shape=(3, 32, 32), patch_size=(4, 4), num_classes=10, d_model=384, n_layers=8,
            n_heads_sa=6, n_heads_ra=6, dff=384, dropout_rate=0.0, activation="gelu",
            norm_first=True, bias=True, pool="mean", symbol_retrieval="position_relative",
            symbol_retrieval_kwargs=dict(symbol_dim=384, max_rel_pos=65),
            sa_kwargs=dict(n_kv_heads=3),
            ra_kwargs=dict(n_kv_heads=3, symmetric_rels=True, use_relative_positional_symbols=True))
    raise ValueError(name)


def batch_of(name, batch, device):
    if not name.startswith("lm_"):
        side, classes = (32, 10) if name == "cifar_vidat" else (36, 2)
        return (torch.rand(batch, 3, side, side, device=device),
                torch.randint(classes, (batch,), device=device))
    tokens, vocabulary = (1024, 50304) if "343m" in name else (1024 if "1024" in name else 512, 8192)
    return (torch.randint(vocabulary, (batch, tokens), device=device),
            torch.randint(vocabulary, (batch, tokens), device=device))


def time_steps(name, model, batch, device, seconds):
    """Median ms of a step, most memory in MiB."""
    cuda = device != "cpu"
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3, fused=True)
    x, targets = batch_of(name, batch, device)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda" if cuda else "cpu", torch.bfloat16, enabled="343m" in name and cuda):
            scores = model(x)
            scores = (scores[0] if isinstance(scores, tuple) else scores).float()
        torch.nn.functional.cross_entropy(scores.flatten(0, -2), targets.flatten()).backward()
        optimizer.step()
        if cuda:
            torch.cuda.synchronize()

    for _ in range(3):
        step()
    if cuda:
        torch.cuda.reset_peak_memory_stats()
    times, begin = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        step()
        times.append(1000 * (time.perf_counter() - start))
    peak = torch.cuda.max_memory_allocated() / 2**20 if cuda else 0
    return sorted(times)[len(times) // 2], peak


def measure(name, batch, device, seconds, compiled):
    torch.manual_seed(0)
    plain = model_of(name).to(device).train()
    model = torch.compile(plain) if compiled else plain
    while batch >= 1:
        try:
            ms, peak = time_steps(name, model, batch, device, seconds)
        except torch.OutOfMemoryError:
            ms = None
        if ms is not None:
            tokens = batch_of(name, 1, "cpu")[0].shape[1] if name.startswith("lm_") else 0
            return {"workload": name, "compiled": compiled, "batch": batch, "step_ms": round(ms, 3),
                    "peak_mb": round(peak), "tokens_per_s": round(1000 * batch * tokens / ms),
                    "examples_per_s": round(1000 * batch / ms, 1),
                    "parameters": sum(p.numel() for p in plain.parameters())}
        for parameter in plain.parameters():  # the exception is gone, and what it held
            parameter.grad = None
        torch.cuda.empty_cache()
        batch //= 2
    return {"workload": name, "compiled": compiled, "problem": "does not fit"}


def main():
    device, seconds, known = sys.argv[1], float(sys.argv[2]), {}
    try:
        for line in open(sys.argv[3]):
            for name, figures in json.loads(line).items():
                known[name] = int(figures.get("batch", 0)) or BATCH.get(name, 1)
    except OSError:
        pass
    torch.set_float32_matmul_precision("highest")
    for word in sys.argv[4:]:
        name, _, how = word.partition("+")
        batch = 1 if device == "cpu" else known.get(name, BATCH[name])
        try:
            found = measure(name, batch, device, seconds, how == "compile")
        except Exception as error:  # the others are measured still
            found = {"workload": name, "compiled": how == "compile",
                     "problem": f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"}
        print(json.dumps(found), flush=True)
        if device != "cpu":
            torch.cuda.empty_cache()


main()
