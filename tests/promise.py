#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds the names that a released version had: tests/cli/promise.txt lists commands, options, keys of --json and columns of CSV,
and this test looks for each of them in the program. More names are no fault. One that is to end is announced two versions ahead, in
--help and the changelog, and leaves the list then.

usage: promise.py FOLDER_OF_PROGRAMS            exit status 1 where a name is gone
       promise.py FOLDER_OF_PROGRAMS --write    makes the list anew, of a version that is released
"""
import csv
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from same_answers import TOP, in_home

LIST = TOP / "tests/cli/promise.txt"
SMALL = "--set data.train_size=32 --set data.validation_size=16 --set data.test_size=16"
BY_WINDOW = "curves RUN --out o.csv"  # by the program of the window
# What is asked, so that answers show their keys; with o.csv the columns, too. Names of places are those of same_answers.py.
ASKED = f"""
presets --json
families --json
datasets --json
devices --json
train quick --steps 2 {SMALL} --out o.run --json
study relational-games-same --models dat,transformer --sizes 32 --seeds 1 --set train.steps=1 {SMALL} --out o.study --quiet --json
eval RUN --json --out o.csv
points RUN --json
inspect RUN --sample 3 --layer 1 --index 1 --json --out o.csv
scan RUN --seconds 600 --examples 100 --untrained 2 --json --out o.csv
ablate RUN --examples 20 --json --out o.csv
patch RUN --clean sample:0 --corrupt sample:8 --json --out o.csv
lens GPT2 --text 'a cat' --top 2 --json --out o.csv
attribute RUN --sample 3 --json --out o.csv
shares RUN --examples 20 --json --out o.csv
spread RUN --examples 20 --json --out o.csv
along RUN --sample 2 --layer 1 --index 1 --source 2 --to 8 --json --out o.csv
duel RUN RUN --other-checkpoint best --examples 20 --json --out o.csv
atlas RUN --examples 60 --untrained 1 --use-examples 20 --json --out o.csv
contrast RUN --examples 200 --untrained 1 --attribute 'same object' --layer 1 --index 1 --json --out o.csv
qk-components GPT2 --layer 1 --index 1 --kind attention-sa --json --out o.csv
qk-attribution RUN --sample 3 --layer 1 --index 1 --source 2 --to 8 --kind relation --json --out o.csv
heads GPT2 --json --out o.csv
pair-accuracy GPT2 --pairs PAIRS --untrained 1 --json --out o.csv
phenomena GPT2 --pairs PAIRS --json --out o.csv
symbol-heads RULES --examples 3 --json --out o.csv
parts RUN --json --out o.csv
data RUN --sample 3 --json
verify GPT2 --json
info GPT2 --json
info RUN --json
generate GPT2 --prompt 'a cat' --tokens 5 --temperature 0 --json
curves RUN --json
{BY_WINDOW}
compare RUN OLD/sorting --json
""".strip().splitlines()


def keys_of(value, path=""):
    """The keys of an answer, those within others as "cells[].after"."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{path}.{key}" if path else key
            yield from keys_of(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner, f"{path}[]")


def run(cli, words, **how):
    done = subprocess.run(f"'{cli}' {words}", shell=True, capture_output=True, text=True, **how)
    if done.returncode:
        sys.exit(f"promise.py: {words}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def commands_of(cli):
    """The names of commands, and {command: its options}."""
    names = re.findall(r"^  ([a-z][a-z-]*) ", run(cli, "--help").split("Subcommands:")[1], re.MULTILINE)
    for name in names:
        text = run(cli, f"{name} --help")
        listed = re.findall(r"^  ((?:-\w,)?--[a-z0-9,-]+)", text, re.MULTILINE)
        yield name, sorted({option for words in listed for option in words.split(",") if option.startswith("--")})


def names_of(cli):
    """The lines that the list has for this program."""
    for name, options in commands_of(cli):
        yield f"command {name}"
        yield from (f"option {name} {option}" for option in options)
    for asked in ASKED:
        if asked == BY_WINDOW and not cli.with_name("relascope").exists():
            continue
        with tempfile.TemporaryDirectory() as home:
            home = pathlib.Path(home)
            words, environment = in_home(home, asked)
            answer = run(cli, words, cwd=home, env={**environment, "CUDA_VISIBLE_DEVICES": ""})
            command = asked.split()[0]
            if "--json" in asked:
                yield from (f"json {command} {key}" for key in keys_of(json.loads(answer)))
            if (home / "o.csv").exists():
                columns = next(csv.reader(io.StringIO((home / "o.csv").read_text())))
                yield from (f"csv {command} {column}" for column in columns)


def main(folder, write=""):
    cli = pathlib.Path(folder).resolve() / "relascope-cli"
    found = list(dict.fromkeys(names_of(cli)))
    if write:
        version = run(cli, "--version").split()[1]
        lines = [f"# Names that released versions have and later ones keep, of {version}. Made by `python3 tests/promise.py build/bin --write`."]
        LIST.write_text("\n".join(lines + found) + "\n")
        return 0
    promised = [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    if not cli.with_name("relascope").exists():
        promised = [line for line in promised if not line.startswith("csv curves ")]
    gone = sorted(set(promised) - set(found))
    for line in gone:
        print(f"gone: {line}")
    print(f"{len(promised) - len(gone)} of {len(promised)} names are there")
    return int(bool(gone) or len(promised) < 1000)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
