#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests relascope.serve() in a notebook that a real kernel of Jupyter runs: relascope-cli is answered between two cells, waits while a cell
runs, and a cell that trains computes the same bits, served or not.

usage: python_served_notebook.py FOLDER_OF_RELASCOPE_CLI [TEST...]        exit status 77 without NumPy, PyTorch, nbclient or ipykernel
"""
import contextlib
import json
import os
import subprocess
import sys
import textwrap
import time

import run_support
from run_support import TOP, WithRuns, main
from serve_support import Serving

PACKAGES = TOP / ".venv/share/relascope/notebook"
sys.path.append(str(PACKAGES))
try:
    import ipykernel  # noqa: F401
    import nbformat
    from nbclient import NotebookClient
except ImportError as error:
    print(f"{sys.executable} has no kernel of Jupyter: {error}; bash tests/run.sh installs nbclient and ipykernel")
    sys.exit(77)


def setUpModule():
    WithRuns.begin("notebook")


MODEL = """
import sys
sys.path[:0] = [%r, %r]
sys.argv = ["notebook", "/"]
from serve_support import pictures
import random, time, torch, relascope
from relascope.answers import checksum_of
model, (x, y) = pictures()
""" % (str(TOP / "tests"), str(TOP / "resources/python"))
SERVE = 'served = relascope.serve(model, (x, y), name="cells", run=globals().get("run"))'
TRAIN = """
model.train()
random.seed(5), torch.manual_seed(5)
optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
for step in range(1, 31):
    picked = torch.randint(24, (8,))
    loss = torch.nn.functional.cross_entropy(model(x[picked]), y[picked])
    optimizer.zero_grad(), loss.backward(), optimizer.step()
    if "run" in globals():
        run.log(step, loss=loss)
    time.sleep(0.1)
print(checksum_of(model), float(loss), random.random(), float(torch.rand(1)))
"""


class TestNotebook(Serving):
    @contextlib.contextmanager
    def notebook(self):
        """A function that runs a cell and returns what it prints."""
        folder = self.own_folder()
        given = {"JUPYTER_PATH": str(PACKAGES / "share/jupyter"), "JUPYTER_RUNTIME_DIR": str(folder), "IPYTHONDIR": str(folder / "ipython"),
                 "PYTHONPATH": str(PACKAGES), "PYDEVD_DISABLE_FILE_VALIDATION": "1", "OMP_NUM_THREADS": "1"}
        before = {name: os.environ.get(name) for name in given}
        os.environ.update(given)
        client = NotebookClient(nbformat.v4.new_notebook(), timeout=120, kernel_name="python3")
        client.create_kernel_manager().transport = "ipc"  # no ports

        def cell(text):
            made = nbformat.v4.new_code_cell(textwrap.dedent(text))
            client.nb.cells.append(made)
            client.execute_cell(made, len(client.nb.cells) - 1)
            return "".join(each["text"] for each in made.outputs if each.get("name") == "stdout")
        try:
            with client.setup_kernel():
                cell(MODEL)
                yield cell
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value

    def asking(self, *words):
        child = subprocess.Popen([run_support._program, *words, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        return child

    def answer(self, child):
        """What an analysis answers, and what it has said meanwhile."""
        out, said = child.communicate(timeout=120)
        self.assertEqual(child.returncode, 0, said)
        return json.loads(out), said

    def test_between_two_cells(self):
        with self.notebook() as cell:
            self.assertEqual(cell(SERVE + "\nprint(served.name)"), "cells\n")
            first, _ = self.answer(self.asking("ablate", "served:cells", "--examples", "24"))
            self.assertGreater(len(first["rows"]), 10)
            began, child = time.monotonic(), self.asking("ablate", "served:cells", "--examples", "24")
            cell("time.sleep(6)")
            self.assertGreater(time.monotonic() - began, 6)
            self.assertIsNone(child.poll(), "nothing is answered while a cell runs")
            second, said = self.answer(child)
            self.assertEqual(first["rows"], second["rows"])
            self.assertRegex(said, "waiting for (cells|the cell), 2 s")  # it may have asked before the cell
            self.assertEqual(cell("print(model.training, served.points[0])"), "True blocks.0.hook_resid_pre\n")
            cell(SERVE)  # the cell is run again
            self.assertEqual(self.answer(self.asking("ablate", "served:cells", "--examples", "24"))[0]["rows"], first["rows"])

    def test_a_cell_that_trains(self):
        """It ends with the same bits, whoever asks meanwhile; and who asks is answered about the weights that it began with."""
        printed, answers = {}, {}
        for way in "alone", "between cells", "in run.log":
            with self.subTest(way), self.notebook() as cell:
                if way == "in run.log":
                    cell(f"run = relascope.Run({str(self.own_folder() / 'run')!r})")
                if way != "alone":
                    cell(SERVE)
                    answers[way] = self.answer(self.asking("ablate", "served:cells", "--examples", "24"))[0]["rows"]
                    child = self.asking("ablate", "served:cells", "--examples", "24", "--cumulative", "--part-pairs")
                    end = time.monotonic() + 60
                    while "True" not in cell("print(any(peer.version >= 0 for peer in served._door.peers.values()))"):
                        self.assertIsNone(child.poll(), "it is answered before the cell")
                        self.assertLess(time.monotonic(), end)
                printed[way] = cell(TRAIN)
                if way != "alone":
                    if way == "between cells":
                        self.assertIsNone(child.poll(), "it is answered within the cell")
                    answer, said = self.answer(child)
                    self.assertEqual(answer["rows"], answers[way])
                    if way == "between cells":
                        self.assertIn("waiting for the cell, 2 s", said)
                self.assertEqual(printed[way], printed["alone"])

    def test_an_interrupted_cell(self):
        """What the user interrupts is the cell; questions are answered afterwards."""
        with self.notebook() as cell:
            cell(SERVE)
            cell("import os, signal, threading\n"
                 "threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
                 "try:\n    time.sleep(20)\nexcept KeyboardInterrupt:\n    print('interrupted')")
            self.answer(self.asking("ablate", "served:cells", "--examples", "8"))


if __name__ == "__main__":
    main(__doc__)
