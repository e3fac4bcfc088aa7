#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the tokenizers of the golden cases with the `tokenizers` package on 10,000 lines: words, code, CJK, emoji,
combining marks, control characters and odd spaces, names of special tokens, numbers, letters of many scripts. The ids must be
equal, and give the text back (after NFC, where the tokenizer has it).

usage: tokenizers_compared.py FOLDER_OF_RELASCOPE_CLI [FOLDER_OF_TOKENIZER...]   exit status 77 without `tokenizers`
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unicodedata

try:
    from tokenizers import Tokenizer
except ModuleNotFoundError:
    print(f"{sys.executable} has no tokenizers; run it with a Python that has them")
    sys.exit(77)

TOP = pathlib.Path(__file__).resolve().parent.parent
cli = pathlib.Path(sys.argv[1]) / "relascope-cli"
GOLDEN = TOP / "tests/fixtures/golden"
folders = [pathlib.Path(name) for name in sys.argv[2:]] or sorted(
    file.parent for part in ("public", "public-tokenizers") for file in GOLDEN.glob(part + "/*/tokenizer.json"))

WORDS = (TOP / "resources/docs/models.md").read_text().split()
CODE = (TOP / "core/model/language/language.cpp").read_text().splitlines()
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|begin_of_text|>", "<|padding|>", "<unk>", "</s>"]
MARKS = "\u0301\u0308\u0323\u030a\u0327"
CONTROL = [1, 2, 7, 8, 9, 11, 12, 27, 127, 0x85, 0xa0, 0x180e, 0x2003, 0x2028, 0x200b, 0x3000, 0xfeff]
SCRIPTS = [(32, 127), (0xa1, 0x24f), (0x370, 0x600), (0x900, 0xe00), (0xac00, 0xd7a3), (0x1f300, 0x1faff)]
draw = random.Random(7)


def some(most, one):
    return "".join(one() for _ in range(draw.randrange(1, most)))


def letter():
    """Of any script, and of Unicode 3.2: the package orders marks that came after its tables (U+09FE) otherwise."""
    while True:
        one = chr(draw.randrange(*draw.choice(SCRIPTS)))
        if unicodedata.ucd_3_2_0.category(one) != "Cn" or ord(one) > 0xffff:
            return one


def line(kind):
    word = draw.choice(WORDS)
    return (lambda: " ".join(draw.choice(WORDS) for _ in range(draw.randrange(1, 15))),
            lambda: draw.choice(CODE),
            lambda: some(20, lambda: chr(draw.randrange(0x4e00, 0x9fff))),
            lambda: some(8, lambda: draw.choice("\U0001f600\U0001f916\u200d\U0001f467\u2708\ufe0f\U0001f1e9")) + " " + word,
            lambda: some(10, lambda: draw.choice("aeiounAEO") + draw.choice(MARKS)),
            lambda: word + some(5, lambda: chr(draw.choice(CONTROL))) + word,
            lambda: word + draw.choice(SPECIAL) + " " * draw.randrange(0, 5) + word,
            lambda: some(25, lambda: draw.choice("0123456789 .,-")) + "I'll don't WE'RE",
            lambda: some(20, letter))[kind]()


text = "\n".join(line(i % 9) for i in range(10000))
with tempfile.TemporaryDirectory() as home:
    lines, ids = pathlib.Path(home) / "lines.txt", pathlib.Path(home) / "ids.txt"
    lines.write_bytes(text.encode())

    def tokenize(file, folder, *options):
        return subprocess.run([cli, "tokenize", file, "--tokenizer", folder, *options], capture_output=True,
                              check=True).stdout.decode()

    good = True
    for folder in folders:
        theirs = Tokenizer.from_file(str(folder / "tokenizer.json"))
        same = json.loads(tokenize(lines, folder, "--typed", "--json"))["ids"] == theirs.encode(text).ids
        ids.write_text(" ".join(map(str, theirs.encode(text, add_special_tokens=False).ids)))
        whole = text if theirs.normalizer is None else unicodedata.normalize("NFC", text)
        back = tokenize(ids, folder, "--decode").rstrip("\n") == whole.rstrip("\n")
        print(f"{folder.name}: ids {'equal' if same else 'DIFFER'}, text {'back' if back else 'NOT BACK'}")
        good = good and same and back
sys.exit(0 if good else 1)
