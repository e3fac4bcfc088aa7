#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests what Python and agents are told while a program that serves a model does something else.

usage: python_served_waiting.py FOLDER_OF_RELASCOPE_CLI [TEST...]        exit status 77 without NumPy or PyTorch
"""
import contextlib
import io
import json
import subprocess
import sys
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


class TestWaiting(Serving):
    def setUp(self):
        self.sleeper = subprocess.Popen([sys.executable, "-W", "ignore", "-c", SLEEPS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.sleeper.communicate)
        self.addCleanup(self.sleeper.kill)
        self.assertEqual(self.sleeper.stdout.readline(), "serves\n")

    def sleep(self, seconds):
        self.sleeper.stdin.write(f"{seconds}\n")
        self.sleeper.stdin.flush()
        self.assertEqual(self.sleeper.stdout.readline(), "sleeps\n")

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


if __name__ == "__main__":
    main(__doc__)
