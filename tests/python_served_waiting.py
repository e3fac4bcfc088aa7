#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests what Python and agents are told while a program that serves a model does something else, and questions about one on another
machine.

usage: python_served_waiting.py FOLDER_OF_RELASCOPE_CLI [TEST...]        exit status 77 without NumPy or PyTorch
"""
import contextlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap

import run_support
from run_support import TOP, WithRuns, main
from serve_support import Serving

import relascope

# Serves a model: sleeps as long as a line says, and answers until the next one.
SLEEPS = textwrap.dedent("""
    import select, sys, time
    sys.path[:0] = [%r, %r]
    sys.argv = ["sleeper", "/"]
    from serve_support import pictures
    import relascope
    model, inputs = pictures()
    served = relascope.serve(model, inputs, name="sleeper")
    print("serves", flush=True)
    while line := sys.stdin.readline():
        print("sleeps", flush=True)
        time.sleep(float(line))
        while not select.select([sys.stdin], [], [], 0)[0]:
            served.answer(0.1)
    served.close()
""" % (str(TOP / "tests"), str(TOP / "resources/python")))
WAITING = r"^waiting for sleeper, (\d+) s: it answers between two steps, or two cells$"


def setUpModule():
    WithRuns.begin("waiting")


class Asleep(Serving):
    FOLDER = None  # of sockets

    def setUp(self):
        environment = {**os.environ, **({"XDG_RUNTIME_DIR": str(self.FOLDER)} if self.FOLDER else {})}
        self.sleeper = subprocess.Popen([sys.executable, "-W", "ignore", "-c", SLEEPS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment)
        self.addCleanup(self.sleeper.communicate)
        self.addCleanup(self.sleeper.kill)
        self.assertEqual(self.sleeper.stdout.readline(), "serves\n")

    def sleep(self, seconds):
        self.sleeper.stdin.write(f"{seconds}\n")
        self.sleeper.stdin.flush()
        self.assertEqual(self.sleeper.stdout.readline(), "sleeps\n")


class TestWaiting(Asleep):
    def test_python(self):
        engine, texts = relascope.Engine(run_support._program), []
        self.addCleanup(engine.close)
        self.sleep(4)
        answer = relascope.analyse("served:sleeper", "inspect", sample=1, kind="attention-sa", engine=engine, waiting=texts.append)
        self.assertEqual(len(answer["probabilities"]), 3)
        self.assertGreater(len(texts), 1)
        for text in texts[:-1]:
            self.assertRegex(text, WAITING)
        self.assertEqual(texts[-1], "")  # it has come
        self.sleep(4)
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            relascope.analyse("served:sleeper", "inspect", sample=2, kind="attention-sa", engine=engine)
        self.assertRegex(said.getvalue(), WAITING.replace("$", r"\n\Z"))  # once

    def test_agents(self):
        server = subprocess.Popen([run_support._program, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(server.communicate)
        self.addCleanup(server.kill)

        def call(number):
            arguments = {"path": "served:sleeper", "sample": 1, "kind": "attention-sa", "picture": False}
            server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call",
                                           "params": {"name": "inspect", "arguments": arguments, "_meta": {"progressToken": "t"}}}) + "\n")
            server.stdin.flush()
        self.sleep(4)
        call(1)
        told = []
        while (message := json.loads(server.stdout.readline())).get("id") != 1:
            told.append(message["params"])
        self.assertFalse(message["result"].get("isError"), message)
        waits = [each for each in told if "message" in each]
        self.assertGreater(len(waits), 1)
        for each in waits:
            self.assertRegex(each["message"], WAITING)
            self.assertEqual(each["progressToken"], "t")
        done = [each["progress"] for each in waits]
        self.assertEqual(done, sorted(set(done)))  # the protocol wants it to rise
        # One that waits can be cancelled.
        self.sleep(30)
        call(2)
        self.assertRegex(json.loads(server.stdout.readline())["params"]["message"], WAITING)
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}) + "\n")
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "info", "arguments": {"path": "none"}}}) + "\n")
        server.stdin.flush()
        while (message := json.loads(server.stdout.readline())).get("id") != 3:
            self.assertNotEqual(message.get("id"), 2)
        self.assertTrue(message["result"]["isError"])
        self.assertIsNone(self.sleeper.poll())


# In place of ssh: this machine is gpu1, with sockets of its own.
SSH = """#!/bin/sh
while [ $# -gt 0 ] && [ "$1" != gpu1 ]; do shift; done
[ $# -gt 0 ] || { echo "no route to the machine" >&2; exit 255; }
shift
HOME=%(far)s XDG_RUNTIME_DIR=%(far)s PATH=%(far)s/bin:$PATH exec sh -c "$*"
"""


class TestFar(Asleep):
    @classmethod
    def setUpClass(cls):
        cls.FOLDER = far = pathlib.Path(tempfile.mkdtemp(prefix="relascope-doors-far-"))
        cls.addClassCleanup(shutil.rmtree, far)
        (far / "bin").mkdir()
        (far / "bin/relascope-cli").symlink_to(os.path.abspath(run_support._program))
        (far / "here").mkdir()
        (far / "here/ssh").write_text(SSH % {"far": far})
        (far / "here/ssh").chmod(0o755)
        before = os.environ["PATH"]
        os.environ["PATH"] = f"{far / 'here'}:{before}"
        cls.addClassCleanup(os.environ.__setitem__, "PATH", before)
        cls.engine = relascope.Engine(run_support._program)
        cls.addClassCleanup(cls.engine.close)

    def cli(self, *words, **more):
        return subprocess.run([run_support._program, *words], capture_output=True, text=True, timeout=120, **more)

    def test_it_is_asked_there(self):
        self.sleep(0)
        for more in (), ("--json",):
            words = "--sample", "1", *more
            there = self.cli("lens", "served:sleeper", *words, env={**os.environ, "XDG_RUNTIME_DIR": str(self.FOLDER)})
            here = self.cli("lens", "served:sleeper@gpu1", *words)
            self.assertEqual((here.returncode, here.stdout), (0, there.stdout), here.stderr)
        self.assertEqual(dict(relascope.analyse("served:sleeper@gpu1", "lens", sample=1, engine=self.engine)), json.loads(there.stdout))
        self.assertIn("No process of yours serves a model as sleeper", self.cli("lens", "served:sleeper", "--sample", "1").stderr)
        # What it waits for there is said here.
        self.sleep(4)
        texts = []
        relascope.analyse("served:sleeper@gpu1", "lens", sample=1, engine=self.engine, waiting=texts.append)
        self.assertRegex(texts[0], WAITING)
        self.assertEqual(texts[-1], "")

    def test_refusals(self):
        self.sleep(0)
        for words, said in ((("lens", "served:sleeper@gpu1", "--sample", "24"), "24 is out of range"), (("lens", "served:none@gpu1"), "as none"),
                            (("lens", "served:sleeper@gpu1", "--out", "x.csv"), "would be written on gpu1"),
                            (("lens", "served:sleeper@-oProxyCommand"), "is no machine that ssh can reach"),
                            (("duel", "served:sleeper@gpu1", "served:sleeper@gpu2"), "names models on gpu1 and on gpu2"),
                            (("lens", "served:sleeper@nowhere"), "no route to the machine")):
            with self.subTest(words):
                found = self.cli(*words)
                self.assertNotEqual(found.returncode, 0)
                self.assertIn(said, found.stderr)
        for path, said in ("served:none@gpu1", "as none"), ("served:sleeper@nowhere", "nowhere cannot be reached: no route to the machine"):
            with self.assertRaisesRegex(relascope.EngineError, said):
                relascope.analyse(path, "lens", sample=1, engine=self.engine)


if __name__ == "__main__":
    main(__doc__)
