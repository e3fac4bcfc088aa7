# SPDX-License-Identifier: GPL-3.0-or-later
"""A small GPT-2 of `transformers`, with random weights, learns to repeat a sequence; its maps are captured.

usage: python language.py FOLDER [STEPS]        then: relascope FOLDER, while it trains or later
"""
import sys

import relascope
import torch
from transformers import GPT2Config, GPT2LMHeadModel

LETTERS = "abcdefghij"


def batch(count, generator):
    """Eight letters, twice."""
    once = torch.randint(len(LETTERS), (count, 8), generator=generator)
    return torch.cat([once, once], 1)


def main(folder, steps=500):
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(LETTERS), n_positions=16, n_embd=48, n_layer=2, n_head=4,
                                       resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0,
                                       attn_implementation="eager"))
    optimizer = torch.optim.AdamW(model.parameters(), 2e-3)
    data, probe = torch.Generator().manual_seed(1), batch(1, torch.Generator().manual_seed(2))
    run = relascope.Run(folder, model={"name": "small GPT-2", "n_layer": 2, "n_head": 4}, total_steps=steps)
    relascope.watch(model, run, every=50, inputs={"input_ids": probe},
                    show={"tokens": probe, "pieces": [LETTERS[i] for i in probe[0]]})
    for step in range(1, steps + 1):
        tokens = batch(32, data)
        loss = model(input_ids=tokens, labels=tokens).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run.log(step, loss=loss, examples=32 * step)
        if step % 50 == 0:
            held = batch(64, torch.Generator().manual_seed(3))
            with torch.no_grad():
                answers = model(input_ids=held).logits.argmax(-1)[:, 7:-1]
            run.log(step, split="validation", accuracy=(answers == held[:, 8:]).float().mean())
    run.weights(steps, model.state_dict())
    run.done()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
