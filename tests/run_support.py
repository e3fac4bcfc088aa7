# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests in Python share: relascope-cli as a process, small runs, and safetensors files as they lie on the disk.

Importing it ends the test with exit status 77, for skipped, where NumPy is missing."""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "resources/python"))
sys.dont_write_bytecode = True
try:
    import numpy  # noqa: F401
except ModuleNotFoundError:
    print(f"{sys.executable} has no NumPy; bash app/setup.sh installs it for Debian's Python")
    sys.exit(77)

SMALL = ("model.d_model=16", "model.dff=16", "data.train_size=64", "data.validation_size=32", "data.test_size=32",
         "train.batch_size=16", "train.keep_mib=0")
_program = ""


def run_cli(*words, code=0):
    """The finished process; an exit status other than `code` fails the test."""
    done = subprocess.run([_program, *map(str, words)], capture_output=True, text=True)
    if done.returncode != code:
        raise AssertionError(f"relascope-cli {words}: {done.returncode}, {done.stderr}")
    return done


def cli(*words):
    """What it writes to stdout."""
    return run_cli(*words).stdout


def said(*words, code=0):
    """What it writes to stderr."""
    return run_cli(*words, code=code).stderr


def train(out, *words):
    cli("train", *words, "--device", "cpu", "--threads", 1, "--out", out)


def train_small(out, *words, steps=10):
    """Quick with a smaller model, in a second."""
    train(out, "quick", *(word for each in SMALL for word in ("--set", each)), "--steps", steps, *words)


def read_file(path):
    """(header, data) of a safetensors file."""
    raw = pathlib.Path(path).read_bytes()
    length = struct.unpack("<Q", raw[:8])[0]
    return json.loads(raw[8:8 + length]), raw[8 + length:]


def write_file(path, header, data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


class WithRuns(unittest.TestCase):
    """Runs in a folder that all tests of a program share; begin() makes it, in setUpModule."""
    folder = pathlib.Path()

    @staticmethod
    def begin(name):
        WithRuns.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"relascope-{name}-"))
        unittest.addModuleCleanup(shutil.rmtree, WithRuns.folder)

    def own_folder(self):
        return pathlib.Path(tempfile.mkdtemp(dir=self.folder))

    def copy_of(self, name):
        copy = self.own_folder() / name
        shutil.copytree(self.folder / name, copy)
        return copy


def main(usage):
    global _program
    if len(sys.argv) < 2:
        sys.exit(usage)
    _program = os.path.join(sys.argv.pop(1), "relascope-cli")
    unittest.main(warnings="error")
