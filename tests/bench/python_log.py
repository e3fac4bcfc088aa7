#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What relascope.Run.log and watch cost: the share of the processor time of a training loop, and the median of one call.

usage: python_log.py [STEPS]        with a Python that has PyTorch
"""
import pathlib
import statistics
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(TOP / "resources/python"), str(TOP / "resources/python/examples")]
import relascope
import torch
import vit


def main(steps=1000):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model, data = vit.ViT(), torch.Generator().manual_seed(1)
    optimizer, logged, probed, calls = torch.optim.AdamW(model.parameters(), 1e-3), 0.0, 0.0, []
    with tempfile.TemporaryDirectory() as folder:
        run = relascope.Run(folder + "/run", total_steps=steps)
        probe, _ = vit.batch(4, data)
        watch = relascope.watch(model, run, every=100, inputs=probe, outputs="logits", show={"images": probe, "patch": 6})
        watch.close()
        begin = time.thread_time()
        for step in range(1, steps + 1):
            images, labels = vit.batch(64, data)
            output = model(images)
            loss = torch.nn.functional.cross_entropy(output, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            values = {"loss": loss.item(), "accuracy": (output.argmax(1) == labels).float().mean().item()}
            before, seen = time.thread_time(), time.perf_counter()
            run.log(step, values)
            middle = time.thread_time()
            calls.append(time.perf_counter() - seen)
            if step % 100 == 0:
                watch.capture(step)
            logged, probed = logged + middle - before, probed + time.thread_time() - middle
        total = time.thread_time() - begin
        run.done()
    begin = time.thread_time()
    for _ in range(1_000_000):
        relascope.record("name", None)
    nobody = (time.thread_time() - begin) / 1_000_000
    print(f"{steps} steps of {1000 * total / steps:.2f} ms: log {100 * logged / total:.3f} % ({1e6 * logged / steps:.0f} us each, the median call takes "
          f"{1e6 * statistics.median(calls):.0f}), "
          f"{steps // 100} captures {100 * probed / total:.2f} % ({100000 * probed / steps:.1f} ms each); record without a watch "
          f"{1e9 * nobody:.0f} ns")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
