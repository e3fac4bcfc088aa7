#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests relascope.serve() beside a training, in a notebook, with threads, and asked by this process: the training computes the same
bits, and somebody answers.

usage: python_served_training.py FOLDER_OF_RELASCOPE_CLI [TEST...]        exit status 77 without NumPy or PyTorch
"""
import asyncio
import contextlib
import os
import random
import resource
import signal
import socket
import stat
import subprocess
import sys
import textwrap
import threading
import time
import warnings

from run_support import TOP, WithRuns, main
from serve_support import Client, Packed, Pictures, Refused, Serving, pictures

import numpy as np
import relascope
import torch
from relascope.door import runtime_folder
from torch import nn


def setUpModule():
    WithRuns.begin("training")


# Asks for all that a scan and an ablation ask for, until the door is closed. Says how many passes it had.
ASKS = textwrap.dedent("""
    import sys, time
    sys.path[:0] = [%r, %r]
    name, sys.argv = sys.argv[1], ["client", "/"]
    from serve_support import *
    print("asks", flush=True)
    client, count = Client(name), 0
    try:
        while True:
            points = client.ask("declare")[0]["points"]
            names, gradients = [each["name"] for each in points], [each["name"] for each in points if each["gradient"]]
            read = client.forward(*((each, "read") for each in names), indices=[0, 1, 2])[1]
            client.forward(*((each, "exchange") for each in names), exchange=lambda name, tensor: tensor * 0.5)
            client.forward(("blocks.0.attn.hook_z", {"do": "factors", "axis": "head", "values": torch.tensor([1.0, 0, 1, 1])}))
            client.forward(*((each, {"do": "read", "gradient": True}) for each in gradients), gradients=True)
            client.forward(after=("blocks.0", read["blocks.0.hook_resid_post"][:2]))
            client.ask("examples", split="validation", indices=[0, 1]), client.ask("checksum")
            count += 5
    except (ConnectionError, Refused, OSError):
        print(count, flush=True)
""" % (str(TOP / "tests"), str(TOP / "resources/python")))


# A training on two processes, of which the first serves. Prints the checksum of the weights.
RANK = textwrap.dedent("""
    import os, sys, time
    sys.path[:0] = [%r, %r]
    served, place, folder, sys.argv = sys.argv[1] == "1", sys.argv[2], sys.argv[3], ["rank", "/"]
    from serve_support import *
    from relascope.answers import checksum_of
    rank = int(os.environ["RANK"])
    torch.distributed.init_process_group("gloo", init_method="file://" + place, rank=rank, world_size=2)
    model, (x, y) = pictures()
    wrapped, run = nn.parallel.DistributedDataParallel(model), None
    if rank == 0:
        run = relascope.Run(folder)
    now = relascope.serve(wrapped, (x, y), run=run, name="ranks") if served else None
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    while served and rank == 0 and not now._door.peers:
        now.answer(0.05)
    torch.manual_seed(rank)
    for step in range(1, 31):
        picked = torch.randint(24, (8,))
        nn.functional.cross_entropy(wrapped(x[picked]), y[picked]).backward()
        optimizer.step(), optimizer.zero_grad()
        end = time.monotonic() + (0.1 if served else 0)
        while run is not None:
            run.log(step, loss=0.0)
            if time.monotonic() > end:
                break
    print(checksum_of(model), flush=True)
    if run is not None:
        run.done()
    if now is not None:
        now.close()
    torch.distributed.destroy_process_group()
""" % (str(TOP / "tests"), str(TOP / "resources/python")))


class TestTraining(Serving):
    def asking(self, name):
        child = subprocess.Popen([sys.executable, "-W", "ignore", "-c", ASKS, name], stdout=subprocess.PIPE, text=True)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.kill)
        return child

    def trained(self, served, way="plain", steps=30):
        """All that a training leaves: losses, weights, flags, random numbers of three kinds; and the passes that were asked for."""
        random.seed(5)
        np.random.seed(5)
        model, (x, y) = pictures()
        model.train()
        model.blocks[1].eval()  # a part that its user has frozen
        run = relascope.Run(self.own_folder() / "run")
        forward = torch.compile(model, backend="eager") if way == "compile" else model
        optimizer, count, child = torch.optim.AdamW(model.parameters(), 1e-2), 0, None
        if served:
            now = relascope.serve(forward, (x, y), run=run, name="trained")
            child = self.asking("trained")
            child.stdout.readline()
        torch.manual_seed(5)
        losses = []
        for step in range(1, steps + 1):
            picked = torch.tensor([random.randrange(24) for _ in range(8)])
            given = x[picked] + 0.1 * torch.from_numpy(np.random.randn(8, 3, 12, 12).astype(np.float32))
            with torch.autocast("cpu", torch.bfloat16, enabled=way == "amp"):
                loss = nn.functional.cross_entropy(forward(given).float(), y[picked])
            loss.backward()
            if way != "accumulate" or step % 3 == 0:
                optimizer.step()
                optimizer.zero_grad()
            losses.append(float(loss.detach()))
            run.log(step, loss=loss)
            if served and step % 10 == 0:
                end = time.monotonic() + 0.5  # what a real step takes
                while time.monotonic() < end:
                    run.log(step, loss=loss)
                    time.sleep(0.02)
        if served:
            now.close()
            count = int(child.stdout.readline())
            child.wait()
        left = {"losses": torch.tensor(losses), "numbers": torch.get_rng_state(), "more": torch.tensor([random.random(), np.random.rand()]),
                **{f"state {name}": each.clone() for name, each in model.state_dict().items()},
                **{f"gradient {name}": each.grad.clone() for name, each in model.named_parameters() if each.grad is not None}}
        flags = [(name, module.training) for name, module in model.named_modules()]
        run.done()
        return left, flags, count

    def test_the_same_bits(self):
        for way in "plain", "accumulate", "amp", "compile":
            with self.subTest(way):
                alone, flags, _ = self.trained(False, way)
                served, others, count = self.trained(True, way)
                self.assertGreater(count, 4)
                self.assertEqual(flags, others)
                self.assertEqual(set(alone), set(served))
                for name, values in alone.items():
                    self.assertTrue(torch.equal(values, served[name]), name)

    def test_two_processes(self):
        def trained(served):
            folder = self.own_folder()
            ranks = [subprocess.Popen([sys.executable, "-W", "ignore", "-c", RANK, str(int(served)), str(folder / "place"), str(folder / "run")],
                                      stdout=subprocess.PIPE, text=True, env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "2", "OMP_NUM_THREADS": "1"})
                     for rank in range(2)]
            child = None
            if served:
                while not os.path.exists(os.path.join(runtime_folder(), "ranks.served")) and ranks[0].poll() is None:
                    time.sleep(0.05)
                child = self.asking("ranks")
            said = [each.communicate(timeout=200)[0].split() for each in ranks]
            return said, int(child.communicate(timeout=60)[0].split()[-1]) if child else 0
        alone, _ = trained(False)
        served, count = trained(True)
        self.assertEqual(alone, served)  # their running means are of their own batches
        self.assertGreater(count, 0)

    def test_one_question_one_set_of_weights(self):
        model, data = pictures()
        run = relascope.Run(self.own_folder() / "run")
        self.addCleanup(run.done)
        self.served(model, data, run=run)
        found, went_on, done = [], threading.Event(), threading.Event()

        def ask():
            client = Client("test")
            version = client.ask("checksum")[0]["version"]
            found.append(client.forward(check=version)[0])
            went_on.wait(20)
            found.append(client.forward(check=version)[0])
            found.append(client.forward()[0])
            client.close()
            done.set()
        thread = threading.Thread(target=ask)
        thread.start()
        end = time.monotonic() + 20
        while not found and time.monotonic() < end:
            run.log(1, loss=1.0)
        with torch.no_grad():
            model.head.weight.mul_(2)
        went_on.set()
        step = 2
        while not done.is_set() and time.monotonic() < end:
            run.log(step, loss=1.0)
            step += 1
        thread.join()
        self.assertTrue(torch.equal(found[0], found[1]))
        self.assertFalse(torch.equal(found[0], found[2]))

    def test_a_training_goes_on(self):
        """Answers for 2 seconds at most, then the training gets as long; whoever asks meanwhile is told so."""
        class Slow(Pictures):
            def forward(self, images):
                if len(images) == 3:
                    time.sleep(0.4)
                return super().forward(images)
        torch.manual_seed(0)
        run = relascope.Run(self.own_folder() / "run")
        self.addCleanup(run.done)
        self.served(Slow(), (torch.randn(8, 3, 12, 12), torch.zeros(8, dtype=torch.long)), run=run)
        client = Client("test", greet=False)
        client.send({"m": "hello", "protocol": 1, "memory": True})
        for number in range(20):
            client.send({"m": "forward", "id": number, "indices": [0, 1, 2], "points": []})
        began = time.monotonic()
        run.log(1, loss=1.0)
        took = time.monotonic() - began
        self.assertTrue(1.5 < took < 4, took)
        began = time.monotonic()
        run.log(2, loss=1.0)
        self.assertLess(time.monotonic() - began, 0.2)
        kinds = []
        with contextlib.suppress(TimeoutError):
            while True:
                kinds.append(client.receive(0.1)[0]["m"])
        self.assertTrue(client.waited and "a step of the training" in client.waited[0]["text"])
        self.assertIn("scores", kinds)
        client.close()

    def steps_until(self, run, done, step=None):
        """A training that goes on until a thread has ended: its steps."""
        number = 0
        while done.is_alive():
            number += 1
            if step is not None:
                step()
            run.log(number, loss=1.0)
            time.sleep(0.01)
        return number

    def test_gradients_between_steps(self):
        """The gradients of a pass are asked for before the training goes on, also after its 2 seconds, and while others ask; from a side
        that is late they are an error that says so."""
        class Slow(Pictures):
            takes = 0.0

            def forward(self, images):
                time.sleep(self.takes)
                return super().forward(images)
        torch.manual_seed(0)
        model, data = Slow(), pictures()[1]
        run = relascope.Run(self.own_folder() / "run")
        self.addCleanup(run.done)
        served = self.served(model, data, run=run)
        optimizer, said, model.takes = torch.optim.SGD(model.parameters(), 1e-3, fused=True), [], 0.7

        def step():
            for each in model.parameters():
                each.grad = torch.zeros_like(each)
            optimizer.step()

        def ask(late):
            client, other = Client("test"), Client("test")
            for _ in range(1 if late else 4):
                client.forward(("blocks.0.hook_resid_pre", {"do": "read", "gradient": True}), gradients=True)
                if not late:
                    other.send({"m": "checksum", "id": 1})
                time.sleep(1.8 if late else 0.2)
                packed = Packed()
                try:
                    said.append(client.ask("backward", packed, gradient=packed.add(torch.ones(2, 3)))[0]["m"])
                except Refused as refused:
                    said.append(refused.key)
            client.close(), other.close()
        for late in False, True:
            thread = threading.Thread(target=ask, args=(late,))
            thread.start()
            self.steps_until(run, thread, step)
        self.assertEqual(said, ["gradients"] * 4 + ["changed"])
        self.assertTrue(all(peer.graph is None for peer in served._door.peers.values()))

    def test_copies_are_deleted(self):
        model, data = pictures()
        run = relascope.Run(self.own_folder() / "run")
        self.addCleanup(run.done)
        served = self.served(model, data, run=run, fresh=lambda seed: Pictures())
        clients, long = [Client("test", greet=False) for _ in range(2)], relascope.serve.__globals__

        def step():
            with torch.no_grad():
                model.head.weight.add_(1)

        def ask():
            for client in clients:
                client.send({"m": "hello", "protocol": 1, "memory": True})
                client.receive()
                client.forward(check=client.ask("checksum", version_only=True)[0]["version"])
                client.forward(weights={"fresh": 1})
        thread = threading.Thread(target=ask)
        thread.start()
        self.steps_until(run, thread, step)
        self.assertTrue(served.snapshots and served.kept_steps)
        self.addCleanup(long.update, {"_REMEMBER": long["_REMEMBER"]})
        long["_REMEMBER"] = 0.2  # an idle connection
        time.sleep(0.3)
        run.log(1000, loss=1.0)
        self.assertEqual((served.snapshots, served.kept_steps), ({}, {}))
        long["_REMEMBER"] = 1000
        thread = threading.Thread(target=lambda: clients[0].forward(weights={"fresh": 1}))
        thread.start()
        self.steps_until(run, thread)
        self.assertTrue(served.kept_steps)
        for client in clients:  # and those that are closed
            client.close()
        run.log(2000, loss=1.0)
        self.assertEqual((served.snapshots, served.kept_steps), ({}, {}))

    def test_nothing_ends_the_training(self):
        """No descriptors, and whatever else: a warning, once."""
        model, data = pictures()
        run = relascope.Run(self.own_folder() / "run")
        self.addCleanup(run.done)
        served = self.served(model, data, run=run)
        most, held, clients = resource.getrlimit(resource.RLIMIT_NOFILE), [], [Client("test", greet=False) for _ in range(2)]
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 3, most[1]))
            try:
                with contextlib.suppress(OSError):
                    while True:
                        held.append(os.dup(0))
                for step in 1, 2, 3:
                    run.log(step, loss=1.0)
                began = time.process_time()
                served.wait(0.5)
                self.assertLess(time.process_time() - began, 0.3)
            finally:
                for each in held:
                    os.close(each)
                resource.setrlimit(resource.RLIMIT_NOFILE, most)
            self.assertEqual(["Too many open files" in str(each.message) for each in warned], [True])
        for client in clients:
            with self.assertRaisesRegex((Refused, ConnectionError), "no more files to open"):
                client.receive(5)
            client.close()
        self.asked(served, lambda client: client.forward())
        served._warned = False
        client = Client("test", greet=False)
        client.send({"m": "hello", "protocol": 1, "memory": True})
        served._answer = lambda *_: 1 // 0
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            run.log(4, loss=1.0)
        self.assertEqual(["ZeroDivisionError" in str(each.message) for each in warned], [True])
        client.close()

    def test_forks_and_full_backlogs(self):
        model, data = pictures()
        served = self.served(model, data)
        client = Client("test", greet=False)
        client.send({"m": "hello", "protocol": 1, "memory": True})
        served.answer(5)
        child = os.fork()
        if child == 0:  # as a worker of a DataLoader
            os._exit(0)
        os.waitpid(child, 0)
        client.send({"m": "checksum", "id": 1})
        self.assertTrue(served.answer(5))
        client.close()
        # Whoever has no time for connections is not taken for one that was killed.
        path, waiting = os.path.join(runtime_folder(), "busy.served"), []
        busy = socket.socket(socket.AF_UNIX)
        busy.bind(path)
        busy.listen(0)
        with contextlib.suppress(BlockingIOError):
            while len(waiting) < 100:
                waiting.append(socket.socket(socket.AF_UNIX))
                waiting[-1].setblocking(False)
                waiting[-1].connect(path)
        self.assertEqual(self.served(model, data, name="busy").name, "busy-2")
        self.assertTrue(os.path.exists(path))
        for each in *waiting, busy:
            each.close()
        self.assertEqual(self.served(model, data, name="busy").name, "busy")

    def test_what_a_look_costs(self):
        model, data = pictures()
        run = relascope.Run(self.own_folder() / "run")
        self.addCleanup(run.done)
        served = self.served(model, data, run=run)
        began = time.perf_counter()
        for _ in range(1000):
            served.logged()
        self.assertLess((time.perf_counter() - began) / 1000, 1e-4)

    def test_a_notebook(self):
        """Between cells the loop of the kernel answers."""
        model, data = pictures()

        async def cells():
            served = relascope.serve(model, data, name="notebook")
            found = []

            def ask():
                client = Client("notebook")
                found.append(client.forward(("blocks.0.attn.hook_pattern", "read"))[0])
                client.close()
            thread = threading.Thread(target=ask)
            thread.start()
            while thread.is_alive():
                await asyncio.sleep(0.01)
            served.close()
            self.assertEqual(found[0].shape, (2, 3))
        asyncio.run(cells())

    def test_threads_of_ones_own(self):
        model, data = pictures()
        served = self.served(model, data)
        wrong, stop = [], threading.Event()
        optimizer = torch.optim.SGD(model.parameters(), 1e-3)

        def train():
            while not stop.is_set():
                with served.lock:
                    if not model.training or any(module._forward_hooks for module in model.modules()):
                        wrong.append("a pass was in a step")
                    nn.functional.cross_entropy(model(data[0]), data[1]).backward()
                    optimizer.step()
                    optimizer.zero_grad()
        thread = threading.Thread(target=train)
        thread.start()
        self.asked(served, lambda client: [client.forward(("blocks.0.attn.hook_z", "exchange"), exchange=lambda name, tensor: tensor) for _ in range(20)])
        stop.set()
        thread.join()
        self.assertEqual(wrong, [])

    def test_names_and_ends(self):
        model, data = pictures()
        script = textwrap.dedent("""
            import os, signal, sys
            sys.path[:0] = [%r, %r]
            name, sys.argv = sys.argv[1], ["client", "/"]
            from serve_support import *
            served = relascope.serve(*pictures(), name=name)
            print(served.name, flush=True)
            if name == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            sys.stdin.read()
            """ % (str(TOP / "tests"), str(TOP / "resources/python")))
        other = subprocess.Popen([sys.executable, "-W", "ignore", "-c", script, "same"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(other.kill)
        self.assertEqual(other.stdout.readline(), "same\n")
        second = self.served(model, data, name="same")  # of another program
        self.assertEqual((second.name, os.fspath(second)), ("same-2", "served:same-2"))
        self.assertTrue(stat.S_ISSOCK(os.stat(os.path.join(runtime_folder(), "same-2.served")).st_mode))
        other.communicate("")
        first = self.served(model, data, name="same")  # of this one, as a cell that is run again: it takes the place
        self.assertEqual((first.name, second._door), ("same", None))
        self.assertFalse(os.path.exists(os.path.join(runtime_folder(), "same-2.served")))
        child = os.fork()
        if child == 0:  # a forked process does not serve, and leaves the socket there
            os._exit(0 if first._door is None else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        client = Client("same", greet=False)
        first.close()
        self.assertFalse(os.path.exists(os.path.join(runtime_folder(), "same.served")))
        with self.assertRaises(ConnectionError):
            client.receive(5)
        client.close()
        with self.assertRaisesRegex(relascope.RunError, "letters, digits"):
            relascope.serve(model, data, name="../x")
        with self.assertRaisesRegex(relascope.RunError, "which has no numbered examples"):
            relascope.serve(model, 3)
        with self.assertRaisesRegex(relascope.RunError, "classes: are 2; the model gives 3 scores"):
            relascope.serve(model, data, classes=["a", "b"])
        for _ in range(2):  # what a kill has left is nobody's name
            done = subprocess.run([sys.executable, "-W", "ignore", "-c", script, "killed"], capture_output=True, text=True)
            self.assertEqual((done.stdout, done.returncode), ("killed\n", -signal.SIGKILL), done.stderr)

    def test_wait(self):
        model, data = pictures()
        served = self.served(model, data)
        found = []

        def ask():
            client = Client("test")
            found.append(client.forward()[0])
            client.close()
        thread = threading.Thread(target=ask)
        thread.start()
        served.wait(2)
        thread.join()
        self.assertEqual(found[0].shape, (2, 3))
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        served.wait()


class TestExamples(Serving):
    def test_programs(self):
        """Each is asked while it trains or waits."""
        for name, first in ("serve_vit", "blocks.0"), ("serve_timm", "blocks.2"), ("serve_text", "blocks.1"):
            with self.subTest(name):
                program = TOP / f"resources/python/examples/{name}.py"
                self.assertLessEqual(len(program.read_text().splitlines()), 60)
                folder = self.own_folder() / "run"
                child = subprocess.Popen([sys.executable, "-W", "ignore", str(program), str(folder), "20", "600"], stdout=subprocess.PIPE,
                                         env={**os.environ, "PYTHONPATH": str(TOP / "resources/python"), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"})
                self.addCleanup(child.stdout.close)
                self.addCleanup(child.kill)
                end = time.monotonic() + 120
                while not os.path.exists(os.path.join(runtime_folder(), f"{name}.served")) and child.poll() is None and time.monotonic() < end:
                    time.sleep(0.1)
                client = Client(name)
                found = client.ask("declare")[0]
                heads = found["layers"][first]["heads"]
                base, read = client.forward((f"{first}.attn.hook_pattern", "read"))
                out, _ = client.forward((f"{first}.attn.hook_z", {"do": "factors", "axis": "head", "values": torch.zeros(heads)}))
                self.assertEqual(read[f"{first}.attn.hook_pattern"].shape[1], heads)
                self.assertGreater(float((base - out).abs().max()), 1e-5)
                client.ask("examples", split="validation", indices=[0, 1, 2])
                client.close()
                while relascope.read(folder).info["state"] != "done" and time.monotonic() < end:
                    time.sleep(0.1)
                time.sleep(1)  # until it waits
                child.send_signal(signal.SIGINT)
                self.assertEqual(child.wait(60), 0)


class TestEngine(Serving):
    """This process asks the engine, which asks this process."""

    def engine(self):
        """A program that speaks as `relascope-cli session` does, and answers a command with what a served model says."""
        path = self.own_folder() / "relascope-cli"
        path.write_text(textwrap.dedent("""\
            #!%s -Wignore
            import json, os, sys
            sys.path[:0] = [%r, %r]
            sys.argv = ["engine", "/"]
            from serve_support import Client
            from relascope.frames import FrameReader, frame
            reader, out = FrameReader(), sys.stdout.buffer
            def say(message, blob=b""):
                out.write(frame(message, blob)), out.flush()
            say({"m": "hello", "protocol": 2, "version": "0"})
            while data := os.read(0, 1 << 16):
                reader.append(data)
                while (found := reader.next()) is not None:
                    message = found[0]
                    if message["m"] == "command":
                        client = Client(message["words"][1].removeprefix("served:"))
                        scores, read = client.forward(("blocks.0.attn.hook_pattern", "read"), indices=[4])
                        say({"id": message["id"], "progress": 0.5})
                        client.forward(("blocks.0.attn.hook_z", "exchange"), exchange=lambda name, tensor: tensor)
                        say({"id": message["id"], "ok": {"code": 0}}, json.dumps({"words": message["words"], "scores": scores.tolist()}).encode())
            """ % (sys.executable, str(TOP / "tests"), str(TOP / "resources/python"))))
        path.chmod(0o755)
        return relascope.Engine(path)

    def test_analyse(self):
        model, data = pictures()
        served = self.served(model, data, name="asked")
        torch.backends.mha.set_fastpath_enabled(False)
        with torch.no_grad():
            wanted = model.eval()(data[0][4:5]).tolist()
        torch.backends.mha.set_fastpath_enabled(True)
        with self.engine() as engine:
            seen = []
            for which in served, "served:asked":
                answer = relascope.analyse(which, "ablate", engine=engine, progress=seen.append, examples=500)
                self.assertEqual(answer["words"], ["ablate", "served:asked", "--examples=500"])
                np.testing.assert_allclose(answer["scores"], wanted, rtol=0, atol=2e-6)
            self.assertEqual(seen, [0.5, 0.5])


if __name__ == "__main__":
    main(__doc__)
