# SPDX-License-Identifier: GPL-3.0-or-later
"""A small GPT-2 of `transformers` learns to repeat a sequence, and is served: lists of ids of several lengths, with labels.

usage: python serve_text.py FOLDER [STEPS [SECONDS]]     then, in another terminal: relascope-cli lens served:serve_text --sample 0
"""
import sys

import relascope
import torch
from transformers import GPT2Config, GPT2LMHeadModel

LETTERS = "_abcdefghij"


class Letters:
    """What a tokenizer is asked for here; one of transformers is given as it is."""
    pad_token_id = 0

    def decode(self, ids):
        return "".join(LETTERS[each] for each in ids)


def example(generator):
    """Four to eight letters, twice; the second time they are to be known."""
    length = int(torch.randint(4, 9, (1,), generator=generator))
    once = torch.randint(1, len(LETTERS), (length,), generator=generator)
    return {"input_ids": torch.cat([once, once]), "labels": torch.cat([torch.full_like(once, -100), once])}


def main(folder, steps=500, seconds=None):
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(LETTERS), n_positions=16, n_embd=48, n_layer=2, n_head=4, resid_pdrop=0.0,
                                       embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0))
    optimizer, draw = torch.optim.AdamW(model.parameters(), 2e-3), torch.Generator().manual_seed(1)
    held = [example(torch.Generator().manual_seed(100 + k)) for k in range(64)]
    run = relascope.Run(folder, model={"name": "small GPT-2"}, total_steps=steps)
    served = relascope.serve(model, {"validation": held}, tokenizer=Letters(), run=run)
    for step in range(1, steps + 1):
        once = torch.randint(1, len(LETTERS), (32, 8), generator=draw)
        tokens = torch.cat([once, once], 1)
        loss = model(input_ids=tokens, labels=tokens).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run.log(step, loss=loss)
    run.done()
    served.wait(seconds)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
