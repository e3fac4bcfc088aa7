# SPDX-License-Identifier: GPL-3.0-or-later
"""A Dual Attention Transformer of the package `dual_attention` (0.0.7) learns whether two of nine cells are the same.

usage: python dual.py FOLDER [STEPS]        then: relascope FOLDER, while it trains or later
"""
import sys

import relascope
import torch
from dual_attention.vision_models import VisionDualAttnTransformer
from torch import nn


def batch(count, generator):
    """Images of 3 x 3 cells of 8 x 8 pixels, two of which hold one of four patterns."""
    patterns = torch.rand(4, 8, 8, generator=torch.Generator().manual_seed(5)).round()
    images, kind = torch.zeros(count, 1, 24, 24), torch.randint(4, (count, 2), generator=generator)
    same = torch.rand(count, generator=generator) < 0.5
    kind[same, 1] = kind[same, 0]
    for i in range(count):
        for place, which in zip(torch.randperm(9, generator=generator)[:2].tolist(), kind[i]):
            row, column = 8 * (place // 3), 8 * (place % 3)
            images[i, 0, row:row + 8, column:column + 8] = patterns[which]
    return images, (kind[:, 0] == kind[:, 1]).long()


def main(folder, steps=500):
    torch.manual_seed(0)
    model = VisionDualAttnTransformer(
        image_shape=(1, 24, 24), patch_size=(8, 8), num_classes=2, d_model=32, n_layers=2, n_heads_sa=2, n_heads_ra=2, dff=64,
        dropout_rate=0.0, activation="relu", norm_first=True, pool="mean", symbol_retrieval="symbolic_attention",
        symbol_retrieval_kwargs={"d_model": 32, "n_heads": 4, "n_symbols": 9, "trainable_symbols": True},
        ra_kwargs={"n_relations": 4, "symmetric_rels": True})
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    data, (probe, right) = torch.Generator().manual_seed(1), batch(4, torch.Generator().manual_seed(2))
    held = batch(256, torch.Generator().manual_seed(3))
    run = relascope.Run(folder, model={"name": "ViDAT", "n_heads_sa": 2, "n_heads_ra": 2}, total_steps=steps)
    relascope.watch(model, run, every=50, inputs=probe, outputs="logits",
                    show={"images": probe, "patch": 8, "labels": right, "classes": ["different", "same"]})
    for step in range(1, steps + 1):
        images, labels = batch(64, data)
        output = model(images)
        loss = nn.functional.cross_entropy(output, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run.log(step, loss=loss, accuracy=(output.argmax(1) == labels).float().mean(), examples=64 * step)
        if step % 50 == 0:
            with torch.no_grad():
                answers = model(held[0]).argmax(1)
            run.log(step, split="validation", accuracy=(answers == held[1]).float().mean())
    run.weights(steps, model.state_dict())
    run.done()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
