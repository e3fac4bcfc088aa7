# SPDX-License-Identifier: GPL-3.0-or-later
"""The door of a served model: a Unix socket of this user alone, its connections, and tensors in their messages."""
from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
import select
import socket
import struct
import time
from typing import Any, Callable, Mapping, Optional, Sequence

import numpy as np

from .frames import Channel, FrameError
from .passes import PassError
from .reading import RunError
from .version import __version__

PROTOCOL = 1
MOST_PEERS = 16
HOLD = 1.0  # seconds that a training waits between the scores of a pass and its gradients
_SIZES = {"float32": 4, "float64": 8, "float16": 2, "bfloat16": 2, "int64": 8, "int32": 4, "uint8": 1, "bool": 1}


class Gone(Exception):
    """The other side of a connection has ended, or cannot be understood any more."""


class Cancelled(Exception):
    """The other side does not want its answer any more."""


def runtime_folder() -> str:
    """The folder of sockets: $XDG_RUNTIME_DIR/relascope, else /tmp/relascope-UID, of its owner alone."""
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    folder = os.path.join(given, "relascope") if given and os.path.isdir(given) else f"/tmp/relascope-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    facts = os.lstat(folder)
    if not os.path.isdir(folder) or os.path.islink(folder) or facts.st_uid != os.getuid() or facts.st_mode & 0o077:
        raise RunError(folder, "is a link, belongs to another user or is open to others; remove it")
    return folder


@dataclasses.dataclass(eq=False)
class Peer:
    """A connection."""
    channel: Channel
    process: int = 0       # that has connected
    greeted: bool = False
    memory: bool = False
    waiting: list[tuple[dict, Any]] = dataclasses.field(default_factory=list)
    graph: Any = None      # scores, leaves and weights' version (None: of weights of its own) of a pass whose gradients may be asked for
    lost: bool = False     # the graph has been deleted before its time
    held: float = 0.0      # until when a training waits for who asks for gradients
    told: Any = None       # the request whose side has been told that it waits
    version: int = -1      # of the weights that its questions are about
    asked: float = 0.0     # when its last request came
    open: bool = True

    def hold(self) -> None:
        self.held = time.monotonic() + HOLD

    def holds(self) -> bool:
        """Whether the gradients of its pass are likely to be asked for now."""
        return self.graph is not None and time.monotonic() < self.held and not (self.waiting and self.waiting[0][0].get("m") == "forward")

    def lose_graph(self) -> None:
        """Forgets a graph; its gradients are an error of their own then."""
        if self.graph is not None:
            self.graph, self.lost = None, True

    def send(self, message: dict, tensors: Optional["Packed"] = None) -> None:
        parts, size = (tensors.parts, tensors.size) if tensors else ((), 0)
        try:
            self.channel.send(message, parts, size, self.memory)
        except (OSError, FrameError):
            self.open = False
            raise Gone from None

    def take(self) -> None:
        """Takes what has arrived."""
        try:
            alive = self.channel.receive()
            while (found := self.channel.next()) is not None:
                self.waiting.append(found)
                if len(self.waiting) > 256:
                    raise FrameError("more requests wait than one connection may have")
        except FrameError as error:
            with contextlib.suppress(Gone):
                self.send({"m": "error", "text": str(error), "key": "frame"})
            alive = False
        if not alive:
            self.open = False
            if not self.waiting:
                raise Gone

    def wait_for(self, seconds: float) -> None:
        waiting = select.poll()
        waiting.register(self.channel.socket, select.POLLIN)
        if not waiting.poll(int(seconds * 1000)):
            return
        self.take()

    def cancelled(self, number: Any) -> bool:
        """Whether a request is not wanted any more. Looks at what has arrived; takes no time."""
        for at, (message, _) in enumerate(self.waiting):
            if message.get("m") == "cancel" and message.get("id") == number:
                del self.waiting[at]
                return True
        return False


class Packed:
    """Tensors that travel in one message."""

    def __init__(self) -> None:
        self.parts: list[tuple[int, Any]] = []
        self.size = 0

    def add(self, values: Any) -> dict:
        """The description of an array or tensor, whose bytes follow."""
        if hasattr(values, "detach"):
            import torch
            values = values.detach()
            if values.is_floating_point() and values.dtype != torch.float32:
                values = values.float()
            values = values.cpu().contiguous().numpy()
        values = np.ascontiguousarray(values)
        at = (self.size + 63) // 64 * 64
        if values.nbytes:
            self.parts.append((at, values.reshape(-1).view(np.uint8)))
        self.size = at + values.nbytes
        return {"dtype": str(values.dtype), "sizes": list(values.shape), "at": at}


def unpack(given: Any, blob: Any, key: str) -> Any:
    """The tensor that a message describes, on the CPU. Raises PassError."""
    import torch
    if not isinstance(given, Mapping) or given.get("dtype") not in _SIZES or not isinstance(given.get("sizes"), list):
        raise PassError(key, "is no tensor; dtype, sizes and at are needed")
    sizes, at, width = given["sizes"], given.get("at"), _SIZES[given["dtype"]]
    if len(sizes) > 8 or any(type(size) is not int or not 0 <= size < 1 << 40 for size in sizes) or type(at) is not int or at < 0 or at % 64:
        raise PassError(key, f"is a tensor of the sizes {str(sizes)[:60]} at {str(at)[:20]}, which there is none of")
    count = 1
    for size in sizes:
        count *= size
    if at + count * width > len(blob):
        raise PassError(key, f"is a tensor of {count * width} bytes at {at}, of {len(blob)} that came")
    kind = getattr(torch, given["dtype"])
    if count == 0:
        return torch.empty(sizes, dtype=kind)
    if isinstance(blob, (bytes, bytearray)):
        found = torch.frombuffer(bytearray(memoryview(blob)[at:at + count * width]), dtype=kind).reshape(sizes).clone()
    else:
        found = torch.frombuffer(blob, dtype=kind, count=count, offset=at).reshape(sizes)
    if found.is_floating_point() and bool(found.isnan().any()):
        raise PassError(key, "has values that are no numbers (NaN)")
    return found


class Door:
    """The socket NAME.served, where sessions of Relascope connect to, and their requests. Nothing here blocks."""

    def __init__(self, name: str):
        folder = runtime_folder()
        self.trouble = ""  # what could not be done, and is no error of who polls
        self.peers: dict[int, Peer] = {}
        for number in range(1, 1000):
            self.name = name if number == 1 else f"{name}-{number}"
            self.path = os.path.join(folder, f"{self.name}.served")
            self._listening = self._bound()
            if self._listening is not None:
                break
        else:
            raise RunError("name", f"'{name}' is taken a thousand times")
        self._listening.setblocking(False)
        self._spare = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)  # given up where there are no others
        self._ready = select.epoll()
        self._ready.register(self._listening, select.EPOLLIN)

    def _bound(self) -> Any:
        """A socket at the path; None if another program serves there."""
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        for attempt in range(2):
            before = os.umask(0o177)
            try:
                made.bind(self.path)
                made.listen(MOST_PEERS)
                return made
            except OSError as error:
                if attempt or error.errno != errno.EADDRINUSE:
                    made.close()
                    if attempt:
                        return None
                    raise RunError(self.path, f"cannot be made: {error.strerror or error}") from None
            finally:
                os.umask(before)
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
                try:
                    other.settimeout(1)
                    other.connect(self.path)
                except ConnectionRefusedError:  # its program was killed
                    with contextlib.suppress(OSError):
                        os.unlink(self.path)
                    continue
                except FileNotFoundError:  # it has just ended
                    continue
                except OSError:  # it is there, and has no time
                    pass
                made.close()
                return None
        return None

    def fileno(self) -> int:
        return self._ready.fileno()

    def poll(self, seconds: float) -> bool:
        """Takes what has arrived within that time. Whether any request waits."""
        for _ in range(4):  # who has just connected may have asked already
            found = self._ready.poll(seconds)
            for file, _ in found:
                self._take(file)
            if not found or any(peer.waiting for peer in self.peers.values()):
                break
            seconds = 0
        return any(peer.waiting for peer in self.peers.values())

    def _take(self, file: int) -> None:
        if file == self._listening.fileno():
            return self._accept()
        peer = self.peers.get(file)
        if peer is not None:
            try:
                peer.take()
                if not peer.open:  # its last requests would be answered to nobody
                    self.drop(peer)
            except Gone:
                self.drop(peer)

    def _accept(self) -> None:
        try:
            made, _ = self._listening.accept()
        except (BlockingIOError, InterruptedError, ConnectionError):
            return
        except OSError as error:
            return self._turn_away(error)
        with contextlib.suppress(OSError):
            process, user, _ = struct.unpack("3i", made.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            channel = Channel(made)
            if user != os.getuid():
                return channel.close()
            peer = Peer(channel, process)
            if len(self.peers) >= MOST_PEERS:
                with contextlib.suppress(Gone):
                    peer.send({"m": "error", "text": f"{self.name} is asked by {MOST_PEERS} others already", "key": "connections"})
                return channel.close()
            self.peers[made.fileno()] = peer
            self._ready.register(made, select.EPOLLIN)

    def _turn_away(self, error: OSError) -> None:
        """Ends a connection that this program has no descriptor for; it would be found again and again."""
        self.trouble = f"a connection is turned away: {error.strerror or error}"
        try:
            if self._spare >= 0:
                os.close(self._spare)
                self._spare = -1
            made, _ = self._listening.accept()
            with contextlib.closing(made):
                Peer(Channel(made)).send({"m": "error", "key": "connections", "text": f"the program that serves {self.name} has no more files to open "
                                          f"({error.strerror or error})"})
        except (OSError, Gone):
            time.sleep(0.01)
        finally:
            if self._spare < 0:
                with contextlib.suppress(OSError):
                    self._spare = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def drop(self, peer: Peer) -> None:
        file = next((file for file, each in self.peers.items() if each is peer), None)
        if file is not None:
            del self.peers[file]
            with contextlib.suppress(OSError, ValueError):
                self._ready.unregister(file)
        peer.open, peer.graph = False, None
        peer.channel.close()

    def next(self, of: Callable[[Peer], bool] = lambda peer: True) -> Optional[tuple[Peer, dict, Any]]:
        """The next request, of the connections in turn. of: which connections."""
        for peer in sorted(self.peers.values(), key=lambda each: each.asked):
            if peer.waiting and of(peer):
                message, blob = peer.waiting.pop(0)
                peer.asked = time.monotonic()
                return peer, message, blob
        return None

    def greet(self, peer: Peer, message: dict, facts: Mapping[str, Any]) -> bool:
        """Answers hello. False: the connection is of no use."""
        if message.get("m") != "hello" or message.get("protocol") != PROTOCOL:
            peer.send({"m": "error", "key": "protocol", "text": f"this is relascope {__version__}, which speaks the protocol {PROTOCOL} of served "
                       "models; use the same version of Relascope on both sides"})
            return False
        # Another process than the one that asks is a relay, as of ssh, which passes on no memory.
        peer.greeted, peer.memory = True, message.get("memory") is True and message.get("pid", peer.process) == peer.process
        peer.send({"m": "hello", "protocol": PROTOCOL, "version": __version__, "pid": os.getpid(), "memory": True, **facts})
        return True

    def leave(self) -> None:
        """In a forked process: closes its copies of the sockets. What is registered is shared with the process that serves, and stays."""
        for peer in self.peers.values():
            peer.channel.close()
        self._shut()

    def close(self, message: Optional[dict] = None) -> None:
        """message: a last one to all."""
        for peer in list(self.peers.values()):
            with contextlib.suppress(Gone):
                if message is not None and peer.greeted:
                    peer.send(message)
            self.drop(peer)
        if message is not None:
            with contextlib.suppress(OSError):
                os.unlink(self.path)
        self._shut()

    def _shut(self) -> None:
        self._ready.close()
        self._listening.close()
        if self._spare >= 0:
            os.close(self._spare)
            self._spare = -1


__all__: Sequence[str] = ("Cancelled", "Door", "Gone", "Packed", "Peer", "runtime_folder", "unpack")
