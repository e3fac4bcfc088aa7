# SPDX-License-Identifier: GPL-3.0-or-later
"""A client that speaks with a served model as Relascope does, and what the tests of relascope.serve share."""
import atexit
import contextlib
import os
import shutil
import socket
import tempfile
import threading

import watch_support  # noqa: F401: ends the test where there is no PyTorch
from run_support import WithRuns

import numpy as np
import relascope
import torch
from relascope.door import Packed, runtime_folder
from relascope.frames import Channel
from torch import nn


_PREFIX = "relascope-doors-"
if _PREFIX not in os.environ.get("XDG_RUNTIME_DIR", ""):  # of this program and those that it starts
    os.environ["XDG_RUNTIME_DIR"] = tempfile.mkdtemp(prefix=_PREFIX)
    atexit.register(shutil.rmtree, os.environ["XDG_RUNTIME_DIR"], ignore_errors=True)


class Refused(Exception):
    """The door has answered with a sentence. key: what it is about."""

    def __init__(self, message):
        super().__init__(message["text"])
        self.key, self.text = message["key"], message["text"]


class Client:
    """A connection to NAME.served."""

    def __init__(self, name, memory=True, greet=True):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(os.path.join(runtime_folder(), f"{name}.served"))
        self.channel, self.memory, self.last, self.waited = Channel(connection), memory, 0, []
        if greet:
            self.send({"m": "hello", "protocol": 1, "version": "0", "pid": os.getpid(), "memory": memory})
            self.hello = self.receive()[0]

    def close(self):
        self.channel.close()

    def send(self, message, packed=None):
        self.channel.send(message, packed.parts if packed else (), packed.size if packed else 0, self.memory)

    def receive(self, seconds=60):
        """The next message and its blob."""
        import select
        waiting = select.poll()
        waiting.register(self.channel.socket, select.POLLIN)
        while (found := self.channel.next()) is None:
            if not waiting.poll(seconds * 1000):
                raise TimeoutError
            if not self.channel.receive():
                raise ConnectionError("the door is closed")
        if found[0].get("m") == "error":
            raise Refused(found[0])
        if found[0].get("m") == "bye":
            raise ConnectionError("the program says good-bye")
        if found[0].get("m") == "waiting":
            self.waited.append(found[0])
            return self.receive(seconds)
        return found

    def ask(self, kind, packed=None, **more):
        """The answer to a request."""
        self.last += 1
        self.send({"m": kind, "id": self.last, **more}, packed)
        return self.receive()

    @staticmethod
    def values(described, blob):
        count = int(np.prod(described["sizes"]))
        if not count:
            return torch.zeros(described["sizes"])
        array = np.frombuffer(blob, described["dtype"], count, described["at"]).reshape(described["sizes"])
        return torch.from_numpy(array.copy())

    def forward(self, *points, indices=(0, 1), split="validation", exchange=None, input=None, after=None, **more):
        """(scores, {point: tensors}). A point is (name, action), an action a word or a dictionary whose tensors are packed.
        exchange(name, tensor) returns what is put, or None."""
        packed, listed = Packed(), []
        for name, action in points:
            action = {"do": action} if isinstance(action, str) else dict(action)
            if isinstance(action.get("values"), (torch.Tensor, np.ndarray)):
                action["values"] = packed.add(action["values"])
            listed.append([name, action])
        message = {"points": listed, **more}
        if input is None:
            message.update(split=split, indices=list(indices))
        else:
            message["input"] = packed.add(input)
        if after is not None:
            message["after"] = {"block": after[0], "stream": packed.add(after[1])}
        read = {}
        found, blob = self.ask("forward", packed, **message)
        while found["m"] == "point":
            tensor = self.values(found["tensor"], blob)
            read[found["name"]] = tensor
            if found.get("wait"):
                made = exchange(found["name"], tensor.clone()) if exchange else None
                if made is None:
                    self.send({"m": "unchanged", "id": self.last})
                else:
                    back = Packed()
                    self.send({"m": "put", "id": self.last, "tensor": back.add(made)}, back)
            found, blob = self.receive()
        self.answered = found
        return self.values(found["tensor"], blob), read


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2, self.a = nn.LayerNorm(16), nn.LayerNorm(16), nn.MultiheadAttention(16, 4, 0.1, batch_first=True)
        self.up, self.down, self.drop = nn.Linear(16, 32), nn.Linear(32, 16), nn.Dropout(0.1)

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.drop(self.a(y, y, y, need_weights=False)[0])
        return x + self.drop(self.down(torch.relu(self.up(self.norm2(x)))))


class Pictures(nn.Module):
    """A small model of images of 12 x 12 pixels in 9 patches behind a class token."""

    def __init__(self, depth=3):
        super().__init__()
        self.patches, self.first, self.places = nn.Conv2d(3, 16, 4, 4), nn.Parameter(torch.randn(1, 1, 16)), nn.Parameter(torch.randn(1, 10, 16))
        self.blocks, self.norm, self.head = nn.ModuleList([Block() for _ in range(depth)]), nn.LayerNorm(16), nn.Linear(16, 3)
        self.batch = nn.BatchNorm1d(16)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(len(x), -1, -1), x], 1) + self.places
        for block in self.blocks:
            x = block(x)
        return self.head(self.batch(self.norm(x)[:, 0]))


def pictures(**more):
    torch.manual_seed(0)
    return Pictures(**more), (torch.randn(24, 3, 12, 12), torch.randint(3, (24,)))


class Serving(WithRuns):
    def served(self, model, inputs, **more):
        made = relascope.serve(model, inputs, name=more.pop("name", "test"), **more)
        self.addCleanup(made.close)
        return made

    def asked(self, served, ask, seconds=120, **more):
        """What ask(client) returns, while this thread, which has the model, answers."""
        found = []

        def run():
            try:
                client = Client(served.name, **more)
                with contextlib.closing(client):
                    found.append(ask(client))
            except BaseException as error:  # noqa: BLE001: raised by the test
                found.append(error)
        thread = threading.Thread(target=run)
        thread.start()
        while thread.is_alive():
            served.answer(0.02)
        thread.join()
        if isinstance(found[0], BaseException):
            raise found[0]
        return found[0]
