# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the run folders of Relascope into NumPy arrays: metrics, relation maps, weights along training.

    import relascope
    run = relascope.read("runs/quick-dat-s0")
    run.metrics("validation")["accuracy"]           # a value for each of run.metrics("validation")["step"]
    run.capture(16).find("relation", 0, 0).values   # r_ij, [rows, columns]
    run.weights(12)["classifier.weight"]            # float32, as it was after step 12

Layers, indices, samples and tokens count from 0, as arrays do; the window and relascope-cli count layers and
indices from 1. Sizes are checked before they are used. What cannot be read raises RunError, which names the file and
the problem. The formats are in resources/docs/formats.md, sections 1 and 9 to 11. Python 3.9 or later.
"""
from __future__ import annotations

import collections
import json
import math
import os
import re
import warnings
import zlib

import numpy as np

__all__ = ["Capture", "Map", "Run", "RunError", "Safetensors"]

KINDS = ("relation", "attention-ra", "attention-sa", "symbols")
SPLITS = ("train", "validation", "test")

_NUMBERS = (int, float)
_MOST_TEXT = 1 << 30  # bytes of a file of lines
_MOST_HEADER, _MOST_TENSORS = 100_000_000, 1_000_000
_MOST_CELLS = 1 << 28  # of a map that is made at once: 1 GiB
_MOST_SIDE, _MOST_MAPS = 1 << 20, 1 << 16
_LONGEST_CHAIN = 16  # files of kept weights of which each is the difference to the next
_TYPES = {"BOOL": "?", "U8": "u1", "I8": "i1", "I16": "<i2", "U16": "<u2", "F16": "<f2", "BF16": "<u2", "I32": "<i4",
          "U32": "<u4", "F32": "<f4", "C64": "<c8", "F64": "<f8", "I64": "<i8", "U64": "<u8"}
_BITS = {**{name: 8 * np.dtype(code).itemsize for name, code in _TYPES.items()}, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
         "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8}


class RunError(Exception):
    """A file that cannot be read, and why; or something asked for that the run does not have."""

    def __str__(self):
        return ": ".join(map(str, self.args))


def _open(path):
    try:
        return open(path, "rb")
    except OSError as error:
        raise RunError(path, f"cannot be read: {error.strerror}") from None


def _read_text(path, most):
    with _open(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise RunError(path, f"is longer than {most} bytes")
    return data


def _parse(data, **how):
    """The JSON value, or None: damaged text, or nested deeper than Python follows."""
    try:
        return json.loads(data, **how)
    except (ValueError, RecursionError):
        return None


def _lines(path):
    """The objects of a .jsonl file; a last line without its end is still being written, and left out."""
    if not os.path.exists(path):
        return []
    found = []
    for number, line in enumerate(_read_text(path, _MOST_TEXT).split(b"\n")[:-1], 1):
        value = _parse(line)
        if isinstance(value, dict):
            found.append(value)
        else:
            warnings.warn(f"{path}: line {number} is damaged and left out", stacklevel=3)
    return found


def _steps(folder, ending):
    """The steps N of the entries step-N of a folder, ascending."""
    name = re.compile(r"step-(0|[1-9][0-9]{0,14})" + re.escape(ending))
    entries = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(int(match.group(1)) for match in map(name.fullmatch, entries) if match)


def _some(steps):
    """The steps for a message, the first and the last of many."""
    words = [str(step) for step in steps]
    return ", ".join(words if len(words) <= 24 else words[:20] + ["..."] + words[-3:]) or "none"


def _number(text, digits):
    """A decimal number of metadata; -1 for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= digits else -1


def _from_bfloat16(halves):
    """bfloat16, as 16-bit integers, is the upper half of a float32."""
    return (halves.astype(np.uint32) << 16).view(np.float32)


Entry = collections.namedtuple("Entry", "dtype shape begin end")


class Safetensors:
    """A safetensors file: its header is checked here, tensors are read when they are asked for.

    path, metadata (strings by strings), entries: {name: (dtype as "F32", shape, begin, end)}.
    """

    def __init__(self, path):
        self.path, self._stat = str(path), None
        self._read_header()

    def need(self, holds, problem):
        if not holds:
            raise RunError(self.path, problem)

    def names(self):
        """The names of the tensors, sorted by their bytes."""
        return sorted(self.entries, key=lambda name: name.encode(errors="surrogatepass"))

    def stored(self, name, at=None):
        """The tensor as an array, bfloat16 as 16-bit integers; with `at` its part [at] along the first dimension."""
        self.need(name in self.entries, f"lacks the tensor '{name}'")
        dtype, shape, begin, end = self.entries[name]
        self.need(dtype in _TYPES, f"tensor '{name}' is {dtype}, which NumPy has no type for")
        if at is not None:
            self.need(shape and 0 <= at < shape[0], f"tensor '{name}' has the shape {list(shape)}: no part {at}")
            each = (end - begin) // shape[0]
            begin, end, shape = begin + at * each, begin + (at + 1) * each, shape[1:]
        try:
            return np.frombuffer(self._part(self._start + begin, end - begin), _TYPES[dtype]).reshape(shape).copy()
        except ValueError:
            raise RunError(self.path, f"tensor '{name}': NumPy does not take the shape {list(shape)}") from None

    def tensor(self, name, at=None):
        """The same with bfloat16 as float32."""
        values = self.stored(name, at)
        return _from_bfloat16(values) if self.entries[name].dtype == "BF16" else values

    def weights(self):
        """Every tensor by its name; a further name of a shared tensor gives the same array."""
        found = {name: self.tensor(name) for name in self.names()}
        found.update((name, found[kept]) for name, kept in self.shared().items())
        return found

    def shared(self):
        """Further names of shared tensors, which the metadata state: {name: name of the tensor that is stored}."""
        return {key: value for key, value in self.metadata.items() if value in self.entries and key not in self.entries}

    def _part(self, begin, count):
        with _open(self.path) as file:
            stat = os.fstat(file.fileno())
            self._stat = self._stat or stat
            file.seek(begin)
            data = file.read(count)
        same = all(getattr(stat, name) == getattr(self._stat, name) for name in ("st_ino", "st_size", "st_mtime_ns"))
        self.need(same, "has changed while it was read")
        return data

    def _read_header(self):
        prefix = self._part(0, 8)
        size = self._stat.st_size
        self.need(size >= 8, f"is {size} bytes long; a safetensors file has at least 8")
        length = int.from_bytes(prefix, "little")
        self.need(length <= _MOST_HEADER, f"is not a safetensors file: its header would have {length} bytes, and the format allows {_MOST_HEADER}")
        self.need(length <= size - 8, f"is {8 + length - size} bytes shorter than its header declares")
        self._start = 8 + length
        header = _parse(self._part(8, length), object_pairs_hook=self._without_twice)
        self.need(isinstance(header, dict), "has a header that is not a JSON object")
        self.metadata = header.pop("__metadata__", {})
        self.need(isinstance(self.metadata, dict) and all(isinstance(text, str) for text in self.metadata.values()),
                  "has metadata that are not strings")
        self.need(len(header) <= _MOST_TENSORS, f"has more than {_MOST_TENSORS} tensors")
        self.entries = {name: self._checked(name, entry) for name, entry in header.items()}
        at = 0
        for name, (_, _, begin, end) in sorted(self.entries.items(), key=lambda item: item[1][2:]):
            self.need(begin == at, f"tensor '{name}': data_offsets [{begin}, {end}] leave a hole or overlap; expected a "
                                   f"start of {at}")
            at = end
        there = size - self._start
        self.need(at <= there, f"is {at - there} bytes shorter than its header declares")
        self.need(at == there, f"has {there - at} bytes after its last tensor")

    def _without_twice(self, pairs):
        found = dict(pairs)
        self.need(len(found) == len(pairs), "has a key twice in its header")
        return found

    def _checked(self, name, entry):
        where = f"tensor '{name[:200]}': "
        self.need(isinstance(entry, dict) and set(entry) == {"dtype", "shape", "data_offsets"},
                  where + "needs dtype, shape and data_offsets, and nothing else")
        dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        self.need(isinstance(dtype, str) and dtype in _BITS, where + f"unknown dtype {str(dtype)[:40]}")
        for numbers, most, what in (shape, 64, "shape"), (offsets, 2, "data_offsets"):
            self.need(isinstance(numbers, list) and len(numbers) <= most and
                      all(type(number) is int and 0 <= number < 1 << 63 for number in numbers),
                      where + f"{what} is no list of at most {most} whole numbers")
        self.need(len(offsets) == 2 and offsets[0] <= offsets[1], where + "data_offsets needs two ascending numbers")
        bits, there = _BITS[dtype] * math.prod(shape), offsets[1] - offsets[0]
        self.need(bits == 8 * there, where + f"its shape and dtype need {bits / 8:.15g} bytes, its offsets give {there}")
        return Entry(dtype, tuple(shape), *offsets)


class Map:
    """A relation or attention map: rows i receive, columns j send. Its values are made when they are first read.

    kind ("relation", "attention-ra", "attention-sa", "symbols"), layer, index, rows, columns; causal: cells j > i are
    masked; library_rows, of symbols: a value is the row of the symbol library for the pair, not a weight. fitted: of a
    relation that was fitted afterwards its file, else "".
    """
    fitted = ""

    def __init__(self, path, kind, layer, index, shape, causal, library_rows, make):
        self.kind, self.layer, self.index, self.causal, self.library_rows = kind, layer, index, causal, library_rows
        self.rows, self.columns = shape
        self._path, self._make, self._values = path, make, None

    def __repr__(self):
        return f"<Map {self.kind} of layer {self.layer}, index {self.index}, {self.rows} x {self.columns}>"

    def _repr_svg_(self):
        """As a notebook shows it; a large one by its words alone."""
        from . import picture
        return str(picture.map(self)) if self.rows * self.columns <= picture.MOST_CELLS else None

    @property
    def values(self):
        """All cells: float32 [rows, columns]."""
        if self._values is None:
            self._values = self.part(0, self.rows)
        return self._values

    def part(self, first, count):
        """The rows first .. first + count - 1: float32 [count, columns]."""
        if not 0 <= first <= first + count <= self.rows:
            raise RunError(self._path, f"{self!r} has no rows {first} to {first + count - 1}")
        if count * self.columns > _MOST_CELLS:
            raise RunError(self._path, f"{self!r}: {count * self.columns} cells are more than the {_MOST_CELLS} that are "
                                       "made at once; read fewer rows with part(first, count)")
        return self._make(self.index, first, count)


def _softmax(x):
    x = np.exp(x - x.max(axis=1, keepdims=True))
    return x / x.sum(axis=1, keepdims=True)


# The activations of relations; softmax runs over j.
_ACTIVATIONS = {
    "identity": lambda x: x, "relu": lambda x: np.maximum(x, 0), "tanh": np.tanh, "softmax": _softmax,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "silu": lambda x: x / (1 + np.exp(-x)),
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))}


class Capture:
    """What the probe recorded of one sample with the weights after a step.

    step, sample, samples (how many there are), maps, layers (their names), classes, probabilities, label, origin as
    "validation 12", words and target_words (of tokens and objects that have names), and arrays: what else is stored of
    the sample, as "images", "tokens", "vectors", "pictures".
    """

    def __init__(self, path, step, sample=0):
        self.path, self.step, self.sample = str(path), step, sample
        self._read(Safetensors(path))

    def find(self, kind, layer, index=0):
        """The map of that kind, layer and index."""
        for found in self.maps:
            if (found.kind, found.layer, found.index) == (kind, layer, index):
                return found
        there = collections.Counter(f"{found.kind} of layer {found.layer}" for found in self.maps)
        raise RunError(self.path, f"has no {kind} of layer {layer}, index {index}; it has " +
                       (", ".join(f"{count} {name}" for name, count in there.items()) or "no maps"))

    def _read(self, file):
        metadata = file.metadata
        layers = _number(metadata.get("layers", ""), 4)
        file.need(layers >= 0, "lacks the metadata 'layers' of a capture")
        for name, rank in ("labels", 1), ("probabilities", 2):
            file.need(name in file.entries and len(file.entries[name].shape) == rank,
                      f"lacks the tensor '{name}' of a capture")
        self.samples = file.entries["labels"].shape[0]
        file.need(0 <= self.sample < self.samples, f"has {self.samples} samples, so there is no sample {self.sample}")
        self.label, self.probabilities = int(file.tensor("labels", self.sample)), file.tensor("probabilities", self.sample)
        self.layers = [metadata.get(f"layer_{i}", f"layer {i + 1}") for i in range(layers)]
        self.classes, self.origin = self._numbered(metadata, "class_"), metadata.get(f"origin_{self.sample}", "")
        self.arrays = {name: file.tensor(name, self.sample) for name in file.names()
                       if "/" not in name and name not in ("labels", "probabilities")}
        self.words, self.target_words = self._words(file, ""), self._words(file, "target_")
        self.maps = []
        for kind in KINDS:
            for layer in range(layers):
                self._read_maps(file, kind, layer, f"{kind}/{layer}")
        for name in file.names():
            if name.startswith("fitted/"):
                self._read_fitted(file, name, layers)

    @staticmethod
    def _numbered(metadata, prefix):
        found = []
        while f"{prefix}{len(found)}" in metadata:
            found.append(metadata[f"{prefix}{len(found)}"])
        return found

    def _words(self, file, prefix):
        if prefix + "piece_ends" not in self.arrays or prefix + "pieces" not in self.arrays:
            return self._numbered(file.metadata, f"{prefix}word_{self.sample}_")
        text, ends = self.arrays[prefix + "pieces"].tobytes(), self.arrays[prefix + "piece_ends"].ravel().tolist()
        pieces = list(zip([0] + ends[:-1], ends))
        file.need(all(0 <= begin <= end <= len(text) for begin, end in pieces), "has text pieces with invalid ends")
        return [text[begin:end].decode(errors="replace") for begin, end in pieces]

    def _read_maps(self, file, kind, layer, key):
        values = None
        if key in file.entries:
            values = self._floats(file, key, self.sample)
            shape, make = values.shape, lambda index, first, count: values[index, first:first + count]
        elif key + "/queries" in file.entries:
            shape, make = self._factors(file, key)
        elif "symbols_" + key in file.metadata:
            shape, make = self._positions(file, key)
        else:
            return
        file.need(1 <= shape[0] <= _MOST_MAPS and all(1 <= side <= _MOST_SIDE for side in shape[1:]),
                  f"'{key}' does not have the shape of a capture")
        stated = file.metadata.get("library_rows_" + key)
        library_rows = stated == "1"
        if stated is None and kind == "symbols" and values is not None and shape[1] == shape[2]:
            library_rows = bool((values > 1).any())  # earlier versions do not state it; weights are at most 1
        self.maps += [Map(self.path, kind, layer, index, shape[1:], "causal_" + key in file.metadata, library_rows, make)
                      for index in range(shape[0])]

    def _read_fitted(self, file, name, layers):
        numbers = [_number(word, 5) for word in name.split("/")[1:]]
        file.need(len(numbers) == 2 and 0 <= numbers[0] < layers and numbers[1] >= 0, f"'{name}' is no map of a layer")
        values = self._floats(file, name, self.sample)
        file.need(values.shape[0] == 1, f"'{name}' does not have the shape of a capture")
        found = Map(self.path, "relation", *numbers, values.shape[1:], False, False, lambda _, first, count: values[0, first:first + count])
        found.fitted = file.metadata.get("fact_" + name, "")
        self.maps.append(found)

    @staticmethod
    def _floats(file, name, sample):
        file.need(name in file.entries, f"lacks the tensor '{name}'")
        entry = file.entries[name]
        file.need(entry.dtype == "F32" and len(entry.shape) == 4, f"tensor '{name}' does not have the shape of a capture")
        return file.tensor(name, sample)

    def _factors(self, file, key):
        """Cell (i, j) of map m is activation(scale <queries[m, i], keys[g, :, j]>), for consecutive maps m of a group g."""
        queries = self._floats(file, key + "/queries", self.sample)
        one = key + "/keys" in file.entries and file.entries[key + "/keys"].shape[:1] == (1,)
        keys = self._floats(file, key + "/keys", 0 if one else self.sample)
        (maps, rows, width), (groups, height, columns) = queries.shape, keys.shape
        file.need(maps and width and groups and width == height and maps % groups == 0,
                  f"'{key}' has queries and keys that do not fit together")
        activation, masked = file.metadata.get("activation_" + key, ""), "masked_" + key in file.metadata
        file.need(activation in _ACTIVATIONS, f"'{key}' has the unknown activation '{activation[:40]}'")
        stated = file.metadata.get("scale_" + key, "")
        file.need(re.fullmatch(r"-?[0-9.]{1,40}(e[-+]?[0-9]{1,2})?", stated), f"'{key}' has no scale, but '{stated[:40]}'")
        scale = float(stated)

        def make(index, first, count):
            cells = queries[index, first:first + count].astype(np.float64) @ keys[index * groups // maps]
            hidden = np.arange(columns) > np.arange(first, first + count)[:, None] if masked else np.False_
            with np.errstate(all="ignore"):
                cells = np.where(hidden, -np.inf if activation == "softmax" else 0, scale * cells)
                return np.where(hidden, 0, _ACTIVATIONS[activation](cells)).astype(np.float32)
        return (maps, rows, columns), make

    @staticmethod
    def _positions(file, key):
        """Symbols by position have no values: 1 where j = i, or the library row of the offset j - i."""
        stated = file.metadata["symbols_" + key]
        numbers = [_number(word, 7) for word in stated.split(" ")]
        file.need(len(numbers) in (2, 3) and min(numbers) >= 0, f"'{key}' has the shape '{stated[:40]}', which is none")
        rows, columns, *most = numbers

        def make(_, first, count):
            offset = np.arange(columns) - np.arange(first, first + count)[:, None]
            return (np.clip(offset, -most[0], most[0]) + most[0] if most else offset == 0).astype(np.float32)
        return (1, rows, columns), make


class _KeptFile(Safetensors):
    """One file of weights kept along training; its header is checked."""

    def __init__(self, folder, step):
        super().__init__(os.path.join(folder, f"step-{step}.safetensors"))
        self.form, self.base, self.step = self.metadata.get("form", ""), -1, self._whole("step")
        self.need(self._whole("kept") == 1, f"metadata 'kept' is {self.metadata['kept']}; format 1 is read")
        self.need(self.step == step, f"metadata 'step' is {self.step}, but its name says {step}")
        self.need(self.form in ("float32", "bfloat16", "xor"),
                  f"metadata 'form' is '{self.form[:40]}'; float32, bfloat16 and xor are known")
        self.checksum = self._whole("crc32")
        if self.form == "xor" and "base" in self.metadata:
            self.base, self.base_checksum = self._whole("base"), self._whole("base_crc32")
            self.need(self.base < step, f"metadata 'base' is {self.base}, not a step before {step}")
        self.packed = {}  # the shapes of compressed tensors
        floats = {"float32": "F32", "bfloat16": "BF16"}.get(self.form)
        for name, (dtype, stored, *_) in self.entries.items():
            stated = self.metadata.get("shape/" + name)
            if self.form != "xor" or stated is None:
                self.need(dtype == floats or dtype[0] not in "BF" or dtype == "BOOL",
                          f"tensor '{name}' is {dtype} in a file of form {self.form}")
                continue
            shape = tuple(_number(size, 18) for size in stated.split(",")) if stated else ()
            self.need(len(shape) <= 32 and all(size >= 0 for size in shape),
                      f"tensor '{name}': the shape '{stated[:40]}' is not one")
            self.need(dtype == "U8" and len(stored) == 1, f"tensor '{name}' is {dtype}, not compressed bytes")
            self.need(2 * math.prod(shape) <= stored[0] * 1032 + 1032,  # no stream holds more
                      f"tensor '{name}': {stored[0]} compressed bytes cannot hold the shape '{stated[:40]}'")
            self.packed[name] = shape

    def _whole(self, key):
        stated = self.metadata.get(key, "")
        self.need(_number(stated, 15) >= 0, f"metadata '{key}' of kept weights is '{stated[:40]}', not a whole number")
        return int(stated)

    def values(self, base):
        """{name: array}, bfloat16 as 16-bit integers; of a file with a base, `base` holds those of that step."""
        if self.base >= 0:
            self.need(set(base) == set(self.entries) and
                      all(base[name].shape == shape and base[name].dtype == "<u2" for name, shape in self.packed.items()),
                      f"has other tensors than its base, step {self.base}")
            crc = self._crc(base)
            self.need(crc == self.base_checksum, f"metadata 'base_crc32' is {self.base_checksum}, but step {self.base} has "
                      f"{crc}: it is not the base that this file was made from")
        found = {name: self._unpacked(name, base) if name in self.packed else self.stored(name) for name in self.names()}
        crc = self._crc(found)
        self.need(crc == self.checksum,
                  f"metadata 'crc32' is {self.checksum}, but the weights have {crc}: the file is damaged")
        return found

    def _crc(self, values):
        crc = 0
        for name in self.names():
            crc = zlib.crc32(values[name].tobytes(), crc)
        return crc

    def _unpacked(self, name, base):
        numbers, stream, planes = math.prod(self.packed[name]), zlib.decompressobj(), b""
        try:
            planes = stream.decompress(self.stored(name).tobytes(), 2 * numbers + 1)
        except zlib.error:
            pass
        self.need(len(planes) == 2 * numbers and stream.eof and not stream.unused_data,
                  f"tensor '{name}': its compressed bytes are damaged")
        upper, lower = np.frombuffer(planes, "u1").reshape(2, numbers).astype("<u2")
        values = (upper << 8 | lower).reshape(self.packed[name])
        return values ^ base[name] if self.base >= 0 else values


class Run:
    """A run folder. It is read anew at each call, so that a run that trains can be followed."""

    def __init__(self, path):
        self.path = os.fspath(path)
        if not os.path.isfile(self._at("run.json")):
            raise RunError(self.path, "is a run of several seeds; open its folders seed-0, seed-1 and so on"
                           if os.path.isfile(self._at("seed-0", "run.json")) else "is no run folder: it has no run.json")
        self.info  # another format is refused here

    def __repr__(self):
        return f"<Run {self.path}>"

    def _at(self, *names):
        return os.path.join(self.path, *names)

    @property
    def info(self):
        """run.json: preset, variant, state, step, results, options and so on."""
        info = _parse(_read_text(self._at("run.json"), 16 << 20))
        if not isinstance(info, dict):
            raise RunError(self._at("run.json"), "is not a JSON object")
        if info.get("format") != 1:
            raise RunError(self._at("run.json"), f"has the format {str(info.get('format'))[:40]}; format 1 is read")
        return info

    def metrics(self, split="train"):
        """The points of a split ("train", "validation", "test") as {name: array}: "step" and "examples" are int64, all
        others float64, such as "epoch", "seconds", "loss", "accuracy". nan where a point has no finite value."""
        path = self._at("metrics.jsonl")
        if split not in SPLITS:
            raise RunError(path, f"has no split '{split}'; there are {', '.join(SPLITS)}")
        points = [line for line in _lines(path) if split == (line.get("split") if line.get("split") in SPLITS else "train")]
        names = dict.fromkeys(("step", "epoch", "examples", "seconds"))
        names.update((name, None) for p in points for name, value in p.items() if value is None or type(value) in _NUMBERS)
        try:
            found = {name: np.array([p[name] if type(p.get(name)) in _NUMBERS else np.nan for p in points], np.float64)
                     for name in names}
        except OverflowError:
            raise RunError(path, "has a number that is too large") from None
        for name in ("step", "examples"):
            if not (np.abs(found[name]) <= 1 << 53).all():  # exact up to there
                raise RunError(path, f"has a line without a whole number '{name}'")
            found[name] = found[name].astype(np.int64)
        return found

    def events(self):
        """The lines of events.jsonl, a dictionary each: step, time (seconds since 1970), level, text."""
        return _lines(self._at("events.jsonl"))

    def captures(self):
        """The captured steps, ascending."""
        return _steps(self._at("captures"), ".safetensors")

    def capture(self, step, sample=0):
        """What was captured of a sample after a step."""
        if step not in self.captures():
            raise RunError(self._at("captures"), f"has no capture of step {step}; there are {_some(self.captures())}")
        return Capture(self._at("captures", f"step-{step}.safetensors"), step, sample)

    def kept_steps(self):
        """The steps whose weights are kept and can be used, ascending; a warning names those that cannot."""
        found = []
        for step in _steps(self._at("weights"), ".safetensors"):
            try:
                file = _KeptFile(self._at("weights"), step)
                file.need(file.base < 0 or file.base in found, f"needs the weights of step {file.base}, which are not there")
                found.append(step)
            except RunError as error:
                warnings.warn(f"left out: {error}", stacklevel=2)
        return found

    def weights(self, step):
        """The weights kept after a step: {parameter name: array}, floating-point numbers as float32."""
        try:
            return self._kept(step)
        except RunError:  # a run that trains may have replaced a file between two looks
            return self._kept(step)

    def _kept(self, step):
        folder, chain = self._at("weights"), []
        if step not in _steps(folder, ".safetensors"):
            raise RunError(folder, f"has no weights of step {step}; kept are {_some(_steps(folder, '.safetensors'))}")
        while not chain or chain[-1].base >= 0:
            chain.append(_KeptFile(folder, chain[-1].base if chain else step))
            chain[0].need(len(chain) <= _LONGEST_CHAIN, f"is made of more than {_LONGEST_CHAIN} files")
            chain[0].need(len(chain) < 2 or chain[-1].form == "xor",
                          f"needs step {chain[-1].step}, whose form is {chain[-1].form}, not xor")
        values, first = None, chain[0]
        for file in reversed(chain):
            values = file.values(values)
        found = {name: _from_bfloat16(array) if name in first.packed or first.entries[name].dtype == "BF16" else array
                 for name, array in values.items()}
        found.update((name, found[kept]) for name, kept in first.shared().items())
        return found

    def checkpoints(self):
        """The steps of the checkpoints, ascending."""
        return [step for step in _steps(self._at("checkpoints"), "")  # the manifest is written last
                if os.path.isfile(self._at("checkpoints", f"step-{step}", "manifest.json"))]

    def checkpoint(self, step):
        """The weights of a checkpoint: {parameter name: array}."""
        if step not in self.checkpoints():
            raise RunError(self._at("checkpoints"), f"has no step {step}; there are {_some(self.checkpoints())}")
        return Safetensors(self._at("checkpoints", f"step-{step}", "model.safetensors")).weights()
