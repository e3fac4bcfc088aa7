# SPDX-License-Identifier: GPL-3.0-or-later
"""A small Vision Transformer of torch.nn modules learns which of two squares is darker; its maps are captured.

usage: python vit.py FOLDER [STEPS]        then: relascope FOLDER, while it trains or later
"""
import sys

import relascope
import torch
from torch import nn


class ViT(nn.Module):
    def __init__(self, side=24, patch=6, width=32, heads=4, depth=2):
        super().__init__()
        self.patches = nn.Conv2d(1, width, patch, patch)
        self.first = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(0.02 * torch.randn(1, (side // patch) ** 2 + 1, width))
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(width, heads, 2 * width, 0.1, batch_first=True, norm_first=True) for _ in range(depth))
        self.answer = nn.Linear(width, 2)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(len(x), -1, -1), x], 1) + self.places
        for block in self.blocks:
            x = block(x)
        return self.answer(x[:, 0])


def batch(count, generator):
    images = torch.zeros(count, 1, 24, 24)
    grey = 0.2 + 0.8 * torch.rand(count, 2, generator=generator)
    images[:, 0, 6:12, 0:6], images[:, 0, 12:18, 18:24] = grey[:, :1, None], grey[:, 1:, None]
    return images, (grey[:, 0] < grey[:, 1]).long()


def main(folder, steps=500):
    torch.manual_seed(0)
    data, model = torch.Generator().manual_seed(1), ViT()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    probe, right = batch(4, torch.Generator().manual_seed(2))
    run = relascope.Run(folder, model={"name": "small ViT", "width": 32, "depth": 2}, total_steps=steps)
    relascope.watch(model, run, every=50, inputs=probe, outputs="logits",
                    show={"images": probe, "patch": 6, "labels": right, "classes": ["left is darker", "right is darker"]})
    for step in range(1, steps + 1):
        images, labels = batch(64, data)
        output = model(images)
        loss = nn.functional.cross_entropy(output, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run.log(step, loss=loss, accuracy=(output.argmax(1) == labels).float().mean(), examples=64 * step)
    run.weights(steps, model.state_dict())
    run.done()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
