#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures what a model that is served (relascope.serve) costs beside the model itself, as ratios of one run.

usage: served.py FOLDER_OF_RELASCOPE_CLI [--model NAME_IN_TIMM] [--threads 2] [--repeats 20]

Prints the median time of a forward pass of one picture, of the same pass served without points, of all maps of it, of all
maps with a head at zero (what X shows), and of `ablate` on 4 pictures beside the passes that it asks for.
"""
import argparse
import os
import statistics
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("programs")
parser.add_argument("--model", default="vit_small_patch16_224")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--repeats", type=int, default=20)
given = parser.parse_args()
os.environ["RELASCOPE"] = os.path.abspath(given.programs)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "resources", "python"))

import timm  # noqa: E402
import torch  # noqa: E402

import relascope  # noqa: E402


def median(task, repeats=None):
    """Milliseconds of a task, the median of some repeats after two that are not counted."""
    times = []
    for count in range((repeats or given.repeats) + 2):
        start = time.perf_counter()
        task()
        if count >= 2:
            times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(given.threads)
    model = timm.create_model(given.model, num_classes=10).eval()
    side = model.patch_embed.img_size[0]
    pictures, labels = torch.rand(16, 3, side, side), torch.arange(16) % 10
    sizes = []

    def call(model, batch):
        sizes.append(len(batch[0]))
        return model(batch[0])

    start = time.perf_counter()
    data = torch.utils.data.TensorDataset(pictures, labels)
    splits = {"validation": data, "test": torch.utils.data.Subset(data, [0])}
    served = relascope.serve(model, splits, call=call, name="bench")
    print(f"found and proved            {time.perf_counter() - start:9.1f} s")

    def forward(count=1):
        with torch.no_grad():
            model(pictures[:count])

    alone = median(forward)
    plain = median(lambda: relascope.analyse(served, "eval", split="test"))
    shown = median(lambda: relascope.maps(served, sample=0))
    edited = median(lambda: relascope.maps(served, sample=0, edit="layer 2 head 1 zero"))
    start, begun = len(sizes), time.perf_counter()
    relascope.analyse(served, "ablate", examples=4)
    whole, asked = time.perf_counter() - begun, sizes[start:]
    one = {size: median(lambda: forward(size), 5) / 1e3 for size in set(asked)}
    passes = sum(one[size] for size in asked)
    for name, value in (("a forward pass", alone), ("eval of one picture", plain), ("all maps", shown), ("all maps, a head at zero", edited)):
        print(f"{name:<28}{value:9.1f} ms   {value - alone:+9.1f} ms")
    print(f"ablate on 4 pictures        {whole:9.1f} s    {len(asked)} passes alone {passes:.1f} s: {whole / passes:.2f} times")


with tempfile.TemporaryDirectory() as folder:
    os.environ["XDG_RUNTIME_DIR"] = folder
    main()
