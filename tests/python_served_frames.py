#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests the door of relascope.serve() with what is hostile: frames that are none, regions that are not what they say, and sides that
end at any moment. $RELASCOPE_FRAMES and $RELASCOPE_KILLS are how many.

usage: python_served_frames.py FOLDER_OF_RELASCOPE_CLI [TEST...]        exit status 77 without NumPy or PyTorch
"""
import contextlib
import fcntl
import os
import random
import signal
import socket
import subprocess
import sys
import textwrap
import time

from run_support import TOP, WithRuns, main
from serve_support import Client, Packed, Refused, Serving, pictures

import relascope
import torch
from relascope import frames
from relascope.door import runtime_folder


def setUpModule():
    WithRuns.begin("frames")


class TestHostile(Serving):
    """Frames that are none, regions that are not what they say, and sides that end at any moment."""

    def setUp(self):
        self.model, self.data = pictures(depth=1)
        self.now = self.served(self.model, self.data, name="hostile")
        self.now.patience = 0.5
        self.wanted = self.asked(self.now, lambda client: client.forward()[0])

    def alive(self):
        self.assertTrue(torch.equal(self.asked(self.now, lambda client: client.forward()[0]), self.wanted))
        self.assertEqual(len(self.now._door.peers), 0)

    def raw(self):
        made = socket.socket(socket.AF_UNIX)
        made.connect(os.path.join(runtime_folder(), "hostile.served"))
        return made

    def test_frames(self):
        """As many as $RELASCOPE_FRAMES, mutated in any place; none ends the program or takes long."""
        draw = random.Random(1)
        packed = Packed()
        values = packed.add(torch.ones(4))
        ones, z = torch.ones(4).numpy().tobytes(), "blocks.0.attn.hook_z"
        messages = [({"m": "hello", "protocol": 1, "version": "0", "pid": 1, "memory": True}, b""), ({"m": "declare", "id": 1}, b""),
                    ({"m": "examples", "id": 2, "split": "validation", "indices": [0, 1]}, b""), ({"m": "unchanged", "id": 3}, b""),
                    ({"m": "forward", "id": 3, "split": "validation", "indices": [0], "points": [[z, {"do": "exchange"}]]}, b""),
                    ({"m": "forward", "id": 5, "indices": [1], "points": [[z, {"do": "factors", "axis": "head", "values": values}]]}, ones),
                    ({"m": "forward", "id": 6, "indices": [1], "points": [[z, {"do": "put", "places": [None, [1], [2], None], "values": values}]]}, ones),
                    ({"m": "forward", "id": 8, "indices": [1], "gradients": True, "points": [[z, {"do": "read", "gradient": True}]]}, b""),
                    ({"m": "forward", "id": 9, "indices": [1], "after": {"block": "blocks.0", "stream": values}, "weights": {"step": 1}, "check": 2}, ones),
                    ({"m": "forward", "id": 9, "input": values, "points": [], "weights": {"fresh": 1}}, ones), ({"m": "cancel", "id": 3}, b""),
                    ({"m": "checksum", "id": 4}, b""), ({"m": "put", "id": 3, "tensor": values}, ones), ({"m": "backward", "id": 7, "gradient": values}, ones), ({"m": "declare", "memory": 1 << 40, "id": 8}, b"")]
        strange = [None, True, -1, 0, 7, 1 << 40, -(1 << 63), (1 << 64) - 1, 1.5, float("nan"), "", "x", z, "blocks.0", [], [[]], {}, b"x",
                   {"dtype": "bool", "sizes": [1 << 39] * 3, "at": 0}, {"dtype": "int64", "sizes": [2, -1], "at": 64}, [None] * 9, [1 << 30], ["x", "y"]]

        def odd(value, chance):
            if draw.random() < chance:
                return draw.choice(strange)
            if isinstance(value, dict):
                return {key: odd(each, chance) for key, each in value.items() if draw.random() > chance / 3}
            return [odd(each, chance) for each in value] if isinstance(value, list) else value
        whole = [frames.frame(message, blob) for message, blob in messages]
        count, sent, worst = int(os.environ.get("RELASCOPE_FRAMES", "3000")), 0, 0.0
        got, asked, self.now.patience = 0, 0, 0.01
        while sent < count:
            made = self.raw()
            made.setblocking(False)
            with contextlib.closing(made), contextlib.suppress(OSError):
                if draw.random() < 0.9:
                    made.send(whole[0])
                for _ in range(draw.randrange(1, 60)):
                    message, blob = draw.choice(messages)
                    frame = bytearray(frames.frame(odd(message, draw.choice((0, 0.05, 0.1, 0.3))) if draw.random() < 0.95 else message, blob))
                    for _ in range(draw.choice((1, 2, 8)) if draw.random() < 0.05 else 0):
                        at = draw.randrange(len(frame))
                        if draw.random() < 0.6:
                            frame[at] = draw.randrange(256)
                        elif draw.random() < 0.5:
                            del frame[at:at + draw.randrange(1, 9)]
                        else:
                            frame[at:at] = bytes(draw.randrange(256) for _ in range(draw.randrange(1, 9)))
                    sent += 1
                    made.send(frame)
                    if draw.random() < 0.8:
                        began = time.monotonic()
                        asked += self.now.answer(0.0)
                        worst = max(worst, time.monotonic() - began)
                    with contextlib.suppress(BlockingIOError):
                        got += len(made.recv(1 << 20))
                asked += self.now.answer(0.0)
        for _ in range(50):
            self.now.answer(0.01)
        self.assertLess(worst, 5)
        self.assertGreater(asked, count // 4)
        if count > 10000:
            print(f"{sent} frames, {asked} times answered, {got} bytes back, {worst:.3f} s at most")
        self.now.patience = 5.0
        self.alive()

    def test_regions(self):
        def region(size, sealed=True, says=None):
            descriptor = os.memfd_create("x", os.MFD_ALLOW_SEALING)
            os.ftruncate(descriptor, size)
            if sealed:
                fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
            client = Client("hostile")
            stream = {"dtype": "float32", "sizes": [4], "at": 0}  # of a shape that this block does not have
            message = {"m": "forward", "id": 1, "indices": [0], "after": {"block": "blocks.0", "stream": stream}, "memory": says or size}
            socket.send_fds(client.channel.socket, [frames.frame(message)], [descriptor])
            os.close(descriptor)
            return client

        def ask(*args, **more):
            def run(first):
                client = region(*args, **more)
                with contextlib.closing(client):
                    return client.receive()[0]
            return self.asked(self.now, run)
        for args, more, sentence in ((4096,), {}, r"has a stream of the shape \[4\]"), ((4096,), {"sealed": False}, "not sealed against shrinking"), ((4096,), {"says": 8192}, "has 4096 bytes, and its message says 8192"), \
                ((4096,), {"says": 1 << 50}, "bytes of shared memory; 1 to"):
            with self.assertRaisesRegex(Refused, sentence):
                ask(*args, **more)

        def without(client):
            client.send({"m": "declare", "id": 1, "memory": 100})
            client.receive()
        with self.assertRaisesRegex(Refused, "none came with it"):
            self.asked(self.now, without)

        def many(client):
            descriptor = os.memfd_create("x")
            with contextlib.suppress(OSError):
                for _ in range(40):
                    socket.send_fds(client.channel.socket, [frames.frame({"m": "cancel", "id": 1})], [descriptor])
            os.close(descriptor)
            client.receive()
        with self.assertRaisesRegex((Refused, ConnectionError), "more shared memory was sent|closed"):
            self.asked(self.now, many)
        self.alive()

    def test_many_connections(self):
        clients = [self.raw() for _ in range(16)]
        for _ in range(20):
            self.now.answer(0.005)
        with self.assertRaisesRegex(Refused, "is asked by 16 others already"):
            self.asked(self.now, lambda client: client.receive(), greet=False)
        for each in clients:
            each.close()
        for _ in range(20):
            self.now.answer(0.005)
        self.alive()

    def test_a_side_that_stops_in_the_middle(self):
        """A client that asks for an exchange and says nothing, and one that cancels."""
        def silent(client):
            with self.assertRaisesRegex(Refused, "no answer came within 0.5 seconds"):
                client.ask("forward", indices=[0], points=[["blocks.0.attn.hook_z", {"do": "exchange"}]])
                client.receive()
        self.asked(self.now, silent)

        def cancels(client):
            with self.assertRaisesRegex(Refused, "cancelled"):
                client.ask("forward", indices=[0], points=[["blocks.0.attn.hook_z", {"do": "exchange"}]])
                client.send({"m": "cancel", "id": client.last})
                client.receive()
            client.forward()
        self.asked(self.now, cancels)
        self.alive()

    def test_kills_of_the_client(self):
        """A client that is killed at random frames: the program goes on, and nothing is left behind."""
        count = int(os.environ.get("RELASCOPE_KILLS", "12"))
        script = textwrap.dedent("""
            import socket, sys
            sys.path.insert(0, %r)
            from relascope import frames
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(%r)
            channel = frames.Channel(connection)
            connection.setblocking(True)

            def receive():
                while (found := channel.next()) is None:
                    if not channel.receive():
                        sys.exit()
                return found
            channel.send({"m": "hello", "protocol": 1, "version": "0", "pid": 1, "memory": True})
            receive()
            channel.send({"m": "declare", "id": 0})
            names = [each["name"] for each in receive()[0]["points"]]
            print(flush=True)
            for number in range(1, 1 << 30):
                channel.send({"m": "forward", "id": number, "indices": [0, 1, 2], "points": [[name, {"do": "exchange"}] for name in names]})
                while (found := receive())[0]["m"] == "point":
                    channel.send({"m": "put", "id": number, "tensor": found[0]["tensor"]}, [(0, found[1])], len(found[1]))
            """ % (str(TOP / "resources/python"), os.path.join(runtime_folder(), "hostile.served")))
        draw, descriptors = random.Random(2), len(os.listdir("/proc/self/fd"))
        while count > 0:
            child = subprocess.Popen([sys.executable, "-W", "ignore", "-c", script], stdout=subprocess.PIPE)
            self.addCleanup(child.kill)
            os.set_blocking(child.stdout.fileno(), False)
            while not child.stdout.read():
                self.now.answer(0.02)
            frames_left, sent = draw.randrange(1, 60), Client.receive
            real = relascope.door.Peer.send

            def send(peer, *args, **more):
                nonlocal frames_left
                frames_left -= 1
                if frames_left == 0:
                    child.send_signal(signal.SIGKILL)
                    if draw.random() < 0.5:
                        child.wait()
                return real(peer, *args, **more)
            relascope.door.Peer.send = send
            try:
                end = time.monotonic() + 60
                while child.poll() is None and time.monotonic() < end:
                    self.now.answer(0.01)
            finally:
                relascope.door.Peer.send = real
            self.assertIsNotNone(child.poll())
            child.stdout.close()
            for _ in range(5):
                self.now.answer(0.01)
            self.assertEqual(len(self.now._door.peers), 0)
            self.assertTrue(all(not module._forward_hooks and not module._forward_pre_hooks and "forward" not in vars(module) for module in self.model.modules()))
            count -= 1
        self.alive()
        self.assertEqual(len(os.listdir("/proc/self/fd")), descriptors)


if __name__ == "__main__":
    main(__doc__)
