# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are written whole or not at all, in the formats of resources/docs/formats.md (sections 1 and 9)."""
from __future__ import annotations

import contextlib
import json
import math
import os
import zlib
from typing import Any, Mapping, Optional

import numpy as np

from .reading import RunError

class NotWritten(RunError):
    """A file that the system does not let be written, as on a disk that is full."""


_DTYPES = {"f4": "F32", "i8": "I64", "u1": "U8", "b1": "BOOL", "i1": "I8", "i2": "I16", "u2": "U16", "i4": "I32", "u4": "U32",
           "u8": "U64"}


_encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False)  # made once: every step writes a line


def _encode(value: Any) -> bytes:
    """JSON in UTF-8. What is no text, as half a surrogate pair, becomes a question mark: other readers would refuse it."""
    return _encoder.encode(value).encode(errors="replace")


def array_of(values: Any, name: str) -> np.ndarray:
    """A NumPy array of a tensor of PyTorch on any device, or of anything that NumPy takes. bfloat16 becomes float32."""
    if hasattr(values, "detach"):  # of PyTorch, which need not be there
        values = values.detach().cpu()
        if str(values.dtype) in ("torch.bfloat16", "torch.float16"):
            values = values.float()
        values = values.numpy()
    try:
        found = np.asarray(values)
    except ValueError:
        found = np.empty(0, object)
    if found.dtype.kind not in "fiub":
        raise RunError(name, "is no array of numbers, or its rows have different lengths")
    return found


def finite(value: float) -> Optional[float]:
    """As JSON has it: null for what is not finite."""
    return value if math.isfinite(value) else None


def sync_folder(path: str) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def write_whole(path: str, *parts: bytes, durable: bool = True) -> None:
    """Writes a temporary file beside `path` and renames it: a reader sees the old file or the new one, also after a
    kill. `durable`: also after a loss of power."""
    temporary = f"{path}.tmp-{os.getpid()}"
    try:
        with open(temporary, "wb") as file:
            file.writelines(parts)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
        if durable:
            sync_folder(os.path.dirname(path) or ".")
    except OSError as error:
        try:
            os.remove(temporary)
        except OSError:
            pass
        raise NotWritten(path, f"cannot be written: {error.strerror}") from None


def write_json(path: str, value: Any, durable: bool = True) -> None:
    write_whole(path, _encode(value) + b"\n", durable=durable)


def append_line(path: str, file: int, value: Mapping[str, Any]) -> None:
    """One object as one line, with one write call: a kill leaves at most one line without an end, which readers skip."""
    line, done = _encode(value) + b"\n", 0
    try:
        while done < len(line):
            done += os.write(file, line[done:])
    except OSError as error:
        if done:  # all or nothing
            with contextlib.suppress(OSError):
                os.ftruncate(file, os.fstat(file).st_size - done)
        raise NotWritten(path, f"cannot be written: {error.strerror}") from None


def cut_last_line(path: str) -> None:
    """Removes a last line without its end, which a kill has left."""
    if not os.path.exists(path):
        return
    with open(path, "rb+") as file:
        size = at = file.seek(0, os.SEEK_END)
        while at > 0:
            begin = max(0, at - (1 << 16))
            file.seek(begin)
            end = file.read(at - begin).rfind(b"\n")
            if end >= 0:
                at = begin + end + 1
                break
            at = begin
        if at < size:
            file.truncate(at)


def write_safetensors(path: str, tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> None:
    """A safetensors file: tensors sorted by alignment, then by name, the header padded to a multiple of 8."""
    stored = {}
    for name, values in tensors.items():
        values = np.asarray(values)
        code = values.dtype.str[1:]
        if code not in _DTYPES:
            raise RunError(path, f"tensor '{name}' is {values.dtype}, which is not written")
        stored[name] = np.ascontiguousarray(values, values.dtype.newbyteorder("<")).reshape(values.shape)
    order = sorted(stored, key=lambda name: (-stored[name].dtype.itemsize, name.encode()))
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    at = 0
    for name in order:
        values = stored[name]
        header[name] = {"dtype": _DTYPES[values.dtype.str[1:]], "shape": list(values.shape),
                        "data_offsets": [at, at + values.nbytes]}
        at += values.nbytes
    text = _encode(header)
    text += b" " * (-len(text) % 8)
    write_whole(path, len(text).to_bytes(8, "little"), text, *(stored[name].tobytes() for name in order))


def checksum(tensors: Mapping[str, np.ndarray]) -> int:
    """CRC-32 of the values in the order of the bytes of their names (section 11)."""
    crc = 0
    for name in sorted(tensors, key=lambda each: each.encode()):
        crc = zlib.crc32(np.ascontiguousarray(tensors[name]).tobytes(), crc)
    return crc
