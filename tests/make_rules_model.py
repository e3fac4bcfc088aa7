#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A GPT-2 of four layers that follows the rules ABA and ABB, for the test of symbol heads.

PYTHON tests/make_rules_model.py OUT writes config.json, model.safetensors and tokenizer.json into OUT (tests/fixtures/rules), with a Python
that has jax and safetensors. Head 1 of layer 1 starts with queries and keys that match the same letter, and values of positions: which of the
two items a third one repeats can be read from what it gives. All weights are trained from there, on third items alone, in two
minutes. In half of the sequences a line end in place of the first separator marks the rule ABB, which teaches to copy by a rule.
"""
import json
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np
from safetensors.numpy import save_file

out = sys.argv[1]
LETTERS = "abcdefghijklmnopqrst"
vocabulary = {"\ufffd": 0, "\n": 1, "^": 2, **{c: 3 + i for i, c in enumerate(LETTERS)}}
END, SEPARATOR, FIRST = 1, 2, 3
EXAMPLES, BATCH, D, HEADS, LAYERS, HALF, WIDTH = 5, 128, 64, 4, 4, 32, 16
POSITIONS = 6 * EXAMPLES + 6
random = np.random.default_rng(0)


def batch():
    items = FIRST + random.random((BATCH, len(LETTERS))).argsort(1)[:, :2 * (EXAMPLES + 1)]
    items = items.reshape(BATCH, EXAMPLES + 1, 2)
    abb = random.integers(0, 2, BATCH)
    x = np.full((BATCH, EXAMPLES + 1, 6), SEPARATOR)
    x[:, :, 0], x[:, :, 2], x[:, :, 5] = items[:, :, 0], items[:, :, 1], END
    x[:, :, 4] = np.where(abb[:, None] == 0, items[:, :, 0], items[:, :, 1])
    x[BATCH // 2:, :, 1] = np.where(abb[BATCH // 2:, None] == 0, SEPARATOR, END)
    return x.reshape(BATCH, POSITIONS)


weights = {}


def linear(name, inputs, outputs):
    weights[name + ".weight"] = random.normal(0, .05, (inputs, outputs)).astype("f")
    weights[name + ".bias"] = np.zeros(outputs, "f")


def norm(name):
    weights[name + ".weight"], weights[name + ".bias"] = np.ones(D, "f"), np.zeros(D, "f")


# Tokens have the first half of the stream, positions the second.
weights["wte.weight"] = np.zeros((len(vocabulary), D), "f")
weights["wte.weight"][:, :HALF] = random.normal(0, .3, (len(vocabulary), HALF))
weights["wpe.weight"] = np.zeros((POSITIONS, D), "f")
weights["wpe.weight"][:, HALF:] = random.normal(0, .3, (POSITIONS, HALF))
norm("ln_f")
for layer in range(LAYERS):
    norm(f"h.{layer}.ln_1")
    norm(f"h.{layer}.ln_2")
    linear(f"h.{layer}.attn.c_attn", D, 3 * D)
    linear(f"h.{layer}.attn.c_proj", D, D)
    linear(f"h.{layer}.mlp.c_fc", D, 4 * D)
    linear(f"h.{layer}.mlp.c_proj", 4 * D, D)
planted = weights["h.0.attn.c_attn.weight"]
same = random.normal(0, 1, (HALF, WIDTH)) / np.sqrt(HALF) * 2.2
for first in (0, D, 2 * D):
    planted[:, first:first + WIDTH] = 0
planted[:HALF, :WIDTH] = planted[:HALF, D:D + WIDTH] = same
planted[HALF:, 2 * D:2 * D + WIDTH] = random.normal(0, 1, (HALF, WIDTH)) / np.sqrt(HALF)
weights["h.0.attn.c_proj.weight"][:WIDTH] = random.normal(0, .25, (WIDTH, D))


def normed(w, name, x):
    x = x - x.mean(-1, keepdims=True)
    return x / jnp.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * w[name + ".weight"] + w[name + ".bias"]


def through(w, name, x):
    return x @ w[name + ".weight"] + w[name + ".bias"]


def scores(w, x):
    b, n = x.shape
    h = w["wte.weight"][x] + w["wpe.weight"][:n]
    is_open = jnp.tril(jnp.ones((n, n), bool))
    for layer in range(LAYERS):
        name = f"h.{layer}."
        qkv = jnp.split(through(w, name + "attn.c_attn", normed(w, name + "ln_1", h)), 3, -1)
        q, k, v = (z.reshape(b, n, HEADS, WIDTH).transpose(0, 2, 1, 3) for z in qkv)
        a = jax.nn.softmax(jnp.where(is_open, q @ k.swapaxes(2, 3) / np.sqrt(WIDTH), -1e9), -1)
        h = h + through(w, name + "attn.c_proj", (a @ v).transpose(0, 2, 1, 3).reshape(b, n, D))
        hidden = jax.nn.gelu(through(w, name + "mlp.c_fc", normed(w, name + "ln_2", h)), approximate=True)
        h = h + through(w, name + "mlp.c_proj", hidden)
    return normed(w, "ln_f", h) @ w["wte.weight"].T


thirds = 6 * np.arange(EXAMPLES + 1) + 4


def loss(w, x):
    answers, right = scores(w, x[:, :-1])[:, thirds - 1], x[:, thirds]
    nats = -jnp.take_along_axis(jax.nn.log_softmax(answers), right[..., None], -1).mean()
    return nats, (answers.argmax(-1) == right)[:BATCH // 2, -1].mean()


@jax.jit
def step(w, m, v, x, i):  # AdamW
    (nats, accuracy), g = jax.value_and_grad(loss, has_aux=True)(w, x)
    clip = jnp.minimum(1., 1. / jnp.sqrt(sum((z**2).sum() for z in g.values())))
    rate = 2e-3 * jnp.minimum(1., (i + 1) / 100.)
    m = {k: .9 * m[k] + .1 * clip * g[k] for k in w}
    v = {k: .98 * v[k] + .02 * (clip * g[k])**2 for k in w}
    w = {k: w[k] * (1 - rate * .01 * (w[k].ndim > 1)) - rate * (m[k] / (1 - .9**(i + 1))) /
         (jnp.sqrt(v[k] / (1 - .98**(i + 1))) + 1e-8) for k in w}
    return w, m, v, nats, accuracy


m = {k: jnp.zeros_like(z) for k, z in weights.items()}
v = dict(m)
for i in range(450):
    weights, m, v, nats, accuracy = step(weights, m, v, batch(), float(i))
print(f"{nats:.3f} nats, {100 * accuracy:.0f} % of the last answers without a mark are right")

os.makedirs(out, exist_ok=True)
# The prompts of the analysis end before the last answer.
weights["wpe.weight"] = weights["wpe.weight"][:POSITIONS - 2]
save_file({k: np.ascontiguousarray(np.array(z, np.float16)) for k, z in weights.items()}, out + "/model.safetensors",
          metadata={"format": "pt"})
json.dump({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": D, "n_head": HEADS, "n_layer": LAYERS,
           "n_positions": POSITIONS - 2, "vocab_size": len(vocabulary), "activation_function": "gelu_new",
           "layer_norm_epsilon": 1e-5, "tie_word_embeddings": True}, open(out + "/config.json", "w"), indent=1)
json.dump({"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "pre_tokenizer": None,
           "post_processor": None, "decoder": {"type": "Fuse"},
           "model": {"type": "BPE", "dropout": None, "unk_token": "\ufffd", "continuing_subword_prefix": None,
                     "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                     "vocab": vocabulary, "merges": []}}, open(out + "/tokenizer.json", "w"), indent=1)
