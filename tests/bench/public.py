# SPDX-License-Identifier: GPL-3.0-or-later
"""Times the smallest GPT-2, with random weights, in Relascope and in the package `transformers`.

    python3 tests/bench/public.py build/bin/relascope-bench [rounds]

Needs a Python with torch and transformers. A pass of 512 tokens, and 64 tokens generated after 16
with the cache. The two take turns, and the best of each counts, as other work disturbs both.
"""
import json
import subprocess
import sys
import time

import torch
import transformers


def ours(program):
    text = subprocess.run([program, "public", "--seconds", "3", "--json"],
                          capture_output=True, text=True, check=True).stdout
    return json.loads(text)["public"]


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main():
    program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 4
    torch.manual_seed(0)
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config()).eval()
    tokens = torch.randint(50257, (1, 512))
    passes, generated = {"ours": [], "theirs": []}, {"ours": [], "theirs": []}
    with torch.inference_mode():
        for _ in range(rounds):
            figures = ours(program)
            torch.set_num_threads(figures["threads"])
            passes["ours"].append(figures["pass_512_ms"] / 1000)
            generated["ours"].append(64 / figures["tokens_per_s"])
            for _ in range(3):
                passes["theirs"].append(timed(lambda: model(tokens)))
                generated["theirs"].append(timed(lambda: model.generate(
                    tokens[:, :16], max_new_tokens=64, min_new_tokens=64, do_sample=False,
                    pad_token_id=0)))
    print(f"transformers {transformers.__version__}, torch {torch.__version__}, "
          f"{torch.get_num_threads()} threads")
    for name, times in (("pass of 512 tokens", passes), ("64 tokens generated", generated)):
        a, b = min(times["ours"]), min(times["theirs"])
        print(f"{name}: {a:.3f} s here, {b:.3f} s there, ratio {b / a:.2f}")


main()
