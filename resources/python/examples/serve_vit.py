# SPDX-License-Identifier: GPL-3.0-or-later
"""The Vision Transformer of `vit.py`, written with `torch.nn` alone, is served while it trains and afterwards.

usage: python serve_vit.py FOLDER [STEPS [SECONDS]]     then, in another terminal: relascope-cli ablate served:serve_vit
"""
import sys

import relascope
import torch
from torch import nn
from vit import ViT, batch


def main(folder, steps=500, seconds=None):
    torch.manual_seed(0)
    model = ViT()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    data, held = torch.Generator().manual_seed(1), batch(256, torch.Generator().manual_seed(3))
    run = relascope.Run(folder, model={"name": "ViT"}, total_steps=steps)
    served = relascope.serve(model, {"validation": held}, classes=["right is darker", "left is darker"], run=run)
    print(f"served:{served.name} has {len(served.points)} points", *served.left_out, sep="\n", flush=True)
    for step in range(1, steps + 1):
        images, labels = batch(64, data)
        output = model(images)
        loss = nn.functional.cross_entropy(output, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run.log(step, loss=loss, accuracy=(output.argmax(1) == labels).float().mean())
    run.done()
    served.wait(seconds)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
