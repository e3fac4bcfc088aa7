# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames that processes of Relascope speak (architecture.md, section 3): a CBOR map (RFC 8949) and a blob of bytes.

    "RSF1" | u32 bytes of the message | u64 bytes of the blob | message | blob, little-endian

Every size is checked before memory is taken for it.
"""
from __future__ import annotations

import array
import fcntl
import mmap
import os
import select
import socket
import struct
from typing import Any, Optional

MAGIC = b"RSF1"
MOST_MESSAGE, MOST_BLOB, MOST_DEPTH = 16 << 20, 512 << 20, 32
MOST_MEMORY = 8 << 30  # bytes of a blob in shared memory
LEAST_MEMORY = 64 << 10  # from here on a blob travels in it
_HEADER = struct.Struct("<4sIQ")


class FrameError(Exception):
    """Bytes that are no frame; the connection cannot be used any more."""


def _head(major: int, number: int) -> bytes:
    if number < 24:
        return bytes([major << 5 | number])
    for code, form, most in (24, ">B", 1 << 8), (25, ">H", 1 << 16), (26, ">I", 1 << 32), (27, ">Q", 1 << 64):
        if number < most:
            return bytes([major << 5 | code]) + struct.pack(form, number)
    raise FrameError(f"the number {number} is too large for a message")


def encode(value: Any, depth: int = 0) -> bytes:
    """CBOR of dictionaries, lists, texts, bytes, numbers, booleans and None."""
    if depth > MOST_DEPTH:
        raise FrameError("a message is nested too deeply")
    if value is None or isinstance(value, bool):
        return {None: b"\xf6", False: b"\xf4", True: b"\xf5"}[value]
    if isinstance(value, int):
        return _head(0, value) if value >= 0 else _head(1, -1 - value)
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    if isinstance(value, str):
        text = value.encode()
        return _head(3, len(text)) + text
    if isinstance(value, bytes):
        return _head(2, len(value)) + value
    if isinstance(value, (list, tuple)):
        return _head(4, len(value)) + b"".join(encode(each, depth + 1) for each in value)
    if isinstance(value, dict):
        return _head(5, len(value)) + b"".join(encode(str(key)) + encode(each, depth + 1) for key, each in value.items())
    raise FrameError(f"a message cannot hold {type(value).__name__}")


class _Decoder:
    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise FrameError("a message ends within a value")
        self.at += count
        return self.data[self.at - count:self.at]

    def value(self, depth: int = 0) -> Any:
        if depth > MOST_DEPTH:
            raise FrameError("a message is nested too deeply")
        first = self.take(1)[0]
        major, info = first >> 5, first & 31
        if major == 7:
            if info in (20, 21, 22, 23):
                return {20: False, 21: True}.get(info)
            if info in (25, 26, 27):
                return struct.unpack({25: ">e", 26: ">f", 27: ">d"}[info], self.take(1 << (info - 24)))[0]
            raise FrameError("a message has a value that is not known")
        if info > 27:
            raise FrameError("a message has a length that is not stated")
        number = info if info < 24 else int.from_bytes(self.take(1 << (info - 24)), "big")
        if major < 2:
            return number if major == 0 else -1 - number
        if major in (2, 3):
            data = self.take(number)
            try:
                return data if major == 2 else data.decode()
            except UnicodeDecodeError:
                raise FrameError("a message has a text that is not UTF-8") from None
        if major == 6 or number > len(self.data) - self.at:  # each value has a byte at least
            raise FrameError("a message has more values than bytes")
        if major == 4:
            return [self.value(depth + 1) for _ in range(number)]
        found = {}
        for _ in range(number):
            key = self.value(depth + 1)
            if not isinstance(key, str):
                raise FrameError("a message has a key that is no text")
            found[key] = self.value(depth + 1)
        return found


def decode(data: bytes) -> Any:
    """The value of CBOR. Raises FrameError unless it is one whole value."""
    decoder = _Decoder(data)
    value = decoder.value()
    if decoder.at != len(data):
        raise FrameError("a message has bytes behind its value")
    return value


def frame(message: dict, blob: bytes = b"") -> bytes:
    """The bytes of a frame."""
    data = encode(message)
    if len(data) > MOST_MESSAGE or len(blob) > MOST_BLOB:
        raise FrameError(f"a request of {len(data) + len(blob)} bytes is too large")
    return _HEADER.pack(MAGIC, len(data), len(blob)) + data + blob


class FrameReader:
    """Puts frames together from bytes as they arrive."""

    def __init__(self) -> None:
        self._data = bytearray()

    def append(self, data: bytes) -> None:
        self._data += data

    def next(self) -> Optional[tuple[dict, bytes]]:
        """The next whole frame, if it has arrived: its message and its blob. Raises FrameError."""
        if len(self._data) < _HEADER.size:
            return None
        magic, message, blob = _HEADER.unpack_from(self._data)
        if magic != MAGIC or message > MOST_MESSAGE or blob > MOST_BLOB:
            raise FrameError("what arrived is no frame of Relascope")
        end = _HEADER.size + message + blob
        if len(self._data) < end:
            return None
        found = decode(bytes(self._data[_HEADER.size:_HEADER.size + message]))
        data = bytes(self._data[_HEADER.size + message:end])
        del self._data[:end]
        if not isinstance(found, dict):
            raise FrameError("a message is no map")
        return found, data


def from_memory(descriptor: int, size: int) -> mmap.mmap:
    """A blob in shared memory that another process has sent; closes the descriptor. Raises FrameError unless it has the size that the
    message says, and cannot become smaller, which would end whoever reads it."""
    try:
        if not 0 < size <= MOST_MEMORY:
            raise FrameError(f"a message has {size} bytes of shared memory; 1 to {MOST_MEMORY} are allowed")
        try:
            seals = fcntl.fcntl(descriptor, fcntl.F_GET_SEALS)
        except OSError:
            seals = 0
        if not seals & fcntl.F_SEAL_SHRINK:
            raise FrameError("shared memory is not sealed against shrinking")
        if os.fstat(descriptor).st_size != size:
            raise FrameError(f"shared memory has {os.fstat(descriptor).st_size} bytes, and its message says {size}")
        try:
            return mmap.mmap(descriptor, size, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
        except (OSError, ValueError) as error:
            raise FrameError(f"shared memory cannot be read: {error}") from None
    finally:
        os.close(descriptor)


def in_memory(parts: Any, size: int) -> int:
    """A sealed file in memory of `size` bytes with (offset, bytes) in it; its descriptor."""
    descriptor = os.memfd_create("relascope", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(descriptor, size)
        for at, data in parts:
            view = memoryview(data).cast("B")
            while view:
                done = os.pwrite(descriptor, view[:1 << 30], at)
                at, view = at + done, view[done:]
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


class Channel:
    """Frames over a Unix socket, with shared memory. Never blocks but in send(), for `patience` seconds."""

    def __init__(self, connection: socket.socket, patience: float = 3.0):
        self.socket, self._reader, self._descriptors = connection, FrameReader(), list[int]()
        connection.setblocking(False)
        self._patience = patience

    def close(self) -> None:
        for each in self._descriptors:
            os.close(each)
        self._descriptors.clear()
        self.socket.close()

    def receive(self) -> bool:
        """Takes what has arrived. False: the other side is gone. Raises FrameError."""
        size = socket.CMSG_SPACE(16 * 4)
        try:
            data, more, flags, _ = self.socket.recvmsg(1 << 20, size, socket.MSG_CMSG_CLOEXEC)
        except (BlockingIOError, InterruptedError):
            return True
        except OSError:
            return False
        for level, kind, held in more:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                numbers = array.array("i")
                numbers.frombytes(held[:len(held) - len(held) % numbers.itemsize])
                self._descriptors.extend(numbers)
        if flags & socket.MSG_CTRUNC or len(self._descriptors) > 16:
            raise FrameError("more shared memory was sent than messages ask for")
        if not data:
            return False
        self._reader.append(data)
        return True

    def next(self) -> Optional[tuple[dict, Any]]:
        """The next whole frame, its blob as bytes or as shared memory. Raises FrameError."""
        found = self._reader.next()
        if found is None:
            return None
        message, blob = found
        size = message.get("memory")
        if type(size) is int:
            if blob or not self._descriptors:
                raise FrameError("a message says that it has shared memory, and none came with it")
            return message, from_memory(self._descriptors.pop(0), size)
        return message, blob

    def send(self, message: dict, parts: Any = (), size: int = 0, memory: bool = True) -> None:
        """Sends a frame whose blob of `size` bytes is made of (offset, bytes). Raises OSError where the other side is gone or takes
        nothing for a while."""
        descriptor = -1
        if memory and size >= LEAST_MEMORY:
            descriptor, message = in_memory(parts, size), {**message, "memory": size}
            data = frame(message)
        else:
            blob = bytearray(size)
            for at, each in parts:
                view = memoryview(each).cast("B")
                blob[at:at + len(view)] = view
            data = frame(message, bytes(blob))
        try:
            self._send_all(data, descriptor)
        finally:
            if descriptor >= 0:
                os.close(descriptor)

    def _send_all(self, data: bytes, descriptor: int) -> None:
        rest = memoryview(data)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))] if descriptor >= 0 else []
        waiting: Any = None
        while rest:
            try:
                done = self.socket.sendmsg([rest], rights)
            except (BlockingIOError, InterruptedError):
                if waiting is None:
                    waiting = select.poll()
                    waiting.register(self.socket, select.POLLOUT)
                if not waiting.poll(int(self._patience * 1000)):
                    raise OSError("the other side takes nothing") from None
                continue
            rest, rights = rest[done:], []
