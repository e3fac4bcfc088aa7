#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a stored set of commands with two builds of relascope-cli and compares what they print and write, byte by byte:
every analysis as text, JSON and files, other commands that answer, and wrong words. For changes that must not change
an answer.

usage: same_answers.py OLD_RELASCOPE_CLI NEW_RELASCOPE_CLI [WORD...]   with words: the commands that have one of them
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = TOP / "tests/fixtures/golden"
PLACES = {"RUN": TOP / "resources/example/run", "OLD": TOP / "tests/fixtures/runs/0.5", "GPT2": GOLDEN / "public/gpt2_tied",
          "BERT": GOLDEN / "families/bert", "RULES": TOP / "tests/fixtures/rules", "PAIRS": TOP / "tests/fixtures/pairs/pairs.jsonl",
          "VIT": GOLDEN / "public/vit", "DAT": GOLDEN / "lm_symbolic_rope_gqa"}
# Commands have the names that both builds know.
COMMANDS = """
ablate RUN --examples 40
ablate RUN --examples 40 --json
ablate RUN --examples 40 --how zero,mean --what heads --out o.csv
ablate RUN --examples 40 --what relations --split train --out o.json
ablate RUN --examples 40 --edit 'layer 2 relation 1 zero' --checkpoint 384 --out o.tex
ablate GPT2 --pairs PAIRS
patch RUN --clean sample:0 --corrupt sample:8
patch RUN --clean sample:0 --corrupt sample:8 --over heads,relations --noising --json
patch GPT2 --clean 'text:aaa' --corrupt 'text:aab' --over resid --out o.csv
patch GPT2 --pairs PAIRS --pair 3 --json
patch GPT2 --clean tokens:1,2,3 --corrupt tokens:1,4,3
lens RUN --sample 3
lens RUN --sample 3 --split hexos --json
lens GPT2 --text 'a cat' --top 3
lens BERT --text 'a [MASK] sat' --json --out o.csv
lens GPT2 --tokens 1,2,3 --edit 'layer 1 sensory head 1 zero'
lens VIT --random 4
attribute RUN --sample 3 --json
attribute GPT2 --text 'a cat' --out o.csv
attribute RUN --sample 1 --logit occurs --minus absent
shares RUN --examples 20
shares GPT2 --pairs PAIRS --json
along RUN --sample 2 --layer 1 --index 1 --source 2 --to 8
along RUN --sample 2 --layer 1 --index 1 --source 2 --to 8 --json --out o.csv
inspect RUN --along --sample 2 --layer 1 --index 1 --source 2 --to 8
duel RUN RUN --other-checkpoint best --examples 20 --json
duel RUN RUN --other-edit 'layer 1 relation 1 zero' --examples 20 --out o.csv
atlas RUN --examples 60 --untrained 1 --use-examples 20 --json
atlas OLD/sorting --examples 40
scan RUN --seconds 5 --examples 20 --untrained 1 --out o.csv
contrast RUN --examples 200 --untrained 1 --attribute 'same object' --layer 1 --index 1
dictionary GPT2 --layer 1 --index 1 --kind attention-sa --json
origins RUN --sample 3 --layer 1 --index 1 --source 2 --to 8 --kind relation
origins GPT2 --text 'a cat sat' --layer 2 --index 1 --kind attention-sa --source 2 --to 1 --json --out o.csv
heads GPT2 --json
heads RULES --out o.csv
pair-accuracy GPT2 --pairs PAIRS --untrained 1
pair-accuracy GPT2 --pairs PAIRS --untrained 1 --json
phenomena GPT2 --pairs PAIRS --json
symbol-heads RULES --examples 3 --json
eval RUN
eval OLD/language --checkpoint best --json
eval BERT --data PAIRS
eval RUN --examples 50 --edit 'layer 1 relation 1 zero' --json
eval GPT2 --pairs PAIRS --untrained 1
inspect RUN --sample 3 --layer 1 --index 1
inspect RUN --sample 3 --layer 1 --index 1 --json
inspect RUN --step 279 --out o.csv
inspect OLD/sorting --sample 2 --json
inspect OLD/sorting OLD/sorting --other-step best --sample 2
inspect GPT2 --text 'a cat' --kind attention-sa --layer 1 --index 1
generate GPT2 --prompt 'a cat' --tokens 5 --temperature 0 --json
points RUN --json
info GPT2 --json
compare RUN OLD/sorting --json
compare RUN OLD/set --options
curves RUN
curves RUN --axis epoch --out o.csv
data RUN --sample 3
data OLD/set --statistics
verify GPT2 --json
lens RUN --top no
lens RUN --tipp 3
lens RUN --sample 999999
lens GPT2
lens RUN --image nothing.png
patch RUN --clean sample:0
patch RUN --clean sample:0 --corrupt sample:8 --pairs PAIRS
patch RUN --clean sampel:0 --corrupt sample:8
ablate RUN --split tset
ablate GPT2
ablate RUN --text a.txt --data b.npz
ablate RUN --groups haeds
ablate RUN --examples -5
heads RUN
pair-accuracy RUN
duel RUN
symbol-heads GPT2 --examples 3
atlas RUN --fields a,b
lens RUN --help
patch RUN --help
ablate RUN --help
duel RUN --help
scan RUN --help
pair-accuracy RUN --help
heads RUN --help
along RUN --help
origins RUN --help
""".strip().splitlines()
# What takes time says so, and differs.
TIMES = re.compile(rb"(\"seconds\": |about |in )[0-9.]+( s| min|)|[0-9.]+ (ms|s)\b")


def in_home(home, command):
    """A command about copies in that folder, and the environment that it runs in."""
    words = command
    for name, place in PLACES.items():
        if re.search(rf"\b{name}\b", words):
            copy = home / name.lower()
            (shutil.copytree if place.is_dir() else shutil.copy)(place, copy)
            words = re.sub(rf"\b{name}\b", str(copy), words)
    return words, {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "XDG_RUNTIME_DIR": str(home)}


def ran(cli, command):
    """{name: bytes} of what a command prints, writes and returns."""
    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home)
        words, environment = in_home(home, command)
        before = {file for file in home.rglob("*")}
        done = subprocess.run(f"'{cli}' {words} --threads 2" if "--help" not in words else f"'{cli}' {words}", shell=True,
                              capture_output=True, cwd=home, env=environment)
        found = {"exit": b"%d" % done.returncode, "stdout": done.stdout, "stderr": done.stderr}
        for file in sorted(home.glob("o.*")):
            if file not in before:
                found[file.name] = file.read_bytes()
        return {name: TIMES.sub(b"TIME", text.replace(str(home).encode(), b"HOME").replace(str(cli).encode(), b"CLI"))
                for name, text in found.items()}


def main(old, new, words):
    wanted = [line for line in COMMANDS if not words or any(word in line.split() for word in words)]
    different = 0
    for command in wanted:
        before, after = ran(old, command), ran(new, command)
        unlike = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
        different += bool(unlike)
        print(("DIFFERS" if unlike else "same   "), before["exit"].decode(), command, flush=True)
        for name in unlike:
            a, b = (side.get(name, b"").decode(errors="replace").splitlines() for side in (before, after))
            for line in a:
                if line not in b:
                    print(f"    {name} - {line[:240]}")
            for line in b:
                if line not in a:
                    print(f"    {name} + {line[:240]}")
    print(f"{len(wanted) - different} of {len(wanted)} commands give the same")
    return different > 0


if __name__ == "__main__":
    sys.exit(main(*(pathlib.Path(path).resolve() for path in sys.argv[1:3]), sys.argv[3:]))
