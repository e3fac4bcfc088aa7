#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Minimal pairs, and the scores of two golden models by transformers.

PYTHON tests/make_pairs_golden.py OUT GOLDEN writes pairs.jsonl and expected.json into OUT (tests/fixtures/pairs), with a Python that has
torch and transformers. GOLDEN is tests/fixtures/golden/public. The scores are sums of the log-probabilities of the tokens behind the
beginning token and the prefix, in double precision.
"""
import json
import os
import sys

import torch
import transformers
from tokenizers import Tokenizer

out, golden = sys.argv[1:]
os.makedirs(out, exist_ok=True)
pairs = [
    {"sentence_good": "The hackers that the user knows are old.", "sentence_bad": "The hackers that the user knows is old.",
     "field": "morphology", "linguistics_term": "subject_verb_agreement", "UID": "agreement"},
    {"sentence_good": "The user read these books.", "sentence_bad": "The user read this books.",
     "field": "morphology", "linguistics_term": "determiner_noun_agreement", "UID": "determiner"},
    {"sentence_good": "No user has ever read it.", "sentence_bad": ["The user has ever read it.", "A user has ever read it."],
     "field": "semantics", "linguistics_term": "npi_licensing", "UID": "polarity"},
    {"sentence_good": "It is so.", "sentence_bad": "It is so.", "UID": "equal"},
    {"prefix": "The file of the users", "sentence_good": " is old.", "sentence_bad": " are old.", "UID": "prefix"}]
with open(out + "/pairs.jsonl", "w") as file:
    file.writelines(json.dumps(pair) + "\n" for pair in pairs)
expected = {}
for name, beginning in (("gpt2_tied", "<|endoftext|>"), ("llama3_scaled_tied", "<|begin_of_text|>")):
    tokenizer = Tokenizer.from_file(f"{golden}/{name}/tokenizer.json")
    model = transformers.AutoModelForCausalLM.from_pretrained(f"{golden}/{name}", dtype=torch.float32).eval()
    rows = []
    for pair in pairs:
        bad, prefix = pair["sentence_bad"], pair.get("prefix", "")
        row = []
        for sentence in [pair["sentence_good"]] + (bad if isinstance(bad, list) else [bad]):
            whole = prefix + sentence
            ids = [tokenizer.token_to_id(beginning)] + tokenizer.encode(whole, add_special_tokens=False).ids
            first = 1 + len(tokenizer.encode(prefix, add_special_tokens=False).ids) if prefix else 1
            with torch.no_grad():
                logs = model(torch.tensor([ids])).logits[0].double().log_softmax(-1)
            row.append({"sum": sum(logs[i - 1, ids[i]].item() for i in range(first, len(ids))), "tokens": len(ids) - first})
        rows.append(row)
    expected[name] = {"read_before": beginning, "scores": rows}
with open(out + "/expected.json", "w") as file:
    file.write(json.dumps(expected, indent=1) + "\n")
