# SPDX-License-Identifier: GPL-3.0-or-later
"""A Vision Transformer of `timm` learns whether the left half of a picture is brighter, and is served.

usage: python serve_timm.py FOLDER [STEPS [SECONDS]]     then, in another terminal: relascope-cli heads served:serve_timm
"""
import sys

import relascope
import timm
import torch
from torch.utils.data import DataLoader, TensorDataset


def pictures(count, seed):
    draw = torch.Generator().manual_seed(seed)
    images = torch.rand(count, 3, 32, 32, generator=draw)
    brighter = torch.rand(count, generator=draw) < 0.5
    images[brighter, :, :, :16] += 0.2
    images[~brighter, :, :, 16:] += 0.2
    return TensorDataset(images, brighter.long())


def main(folder, steps=200, seconds=None):
    torch.manual_seed(0)
    model = timm.create_model("vit_tiny_patch16_224", img_size=32, patch_size=8, embed_dim=48, depth=3, num_heads=4, num_classes=2)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    run = relascope.Run(folder, model={"name": "a ViT of timm"}, total_steps=steps)
    served = relascope.serve(model, {"validation": DataLoader(pictures(128, 1), 32)}, classes=["right", "left"], run=run)
    step = 0
    while step < steps:
        for images, labels in DataLoader(pictures(512, 2 + step), 32):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            run.log(step, loss=loss)
            if step == steps:
                break
    run.done()
    served.wait(seconds)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
