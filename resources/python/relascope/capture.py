# SPDX-License-Identifier: GPL-3.0-or-later
"""What a capture holds: the maps of the layers of a model, and the inputs that it saw (formats.md, section 10).

S is the number of inputs, n of their objects (tokens, patches), h of heads, d_r of relations. Everything may be given
for one input, without the first dimension. Tensors of PyTorch are taken wherever arrays are.
"""
from __future__ import annotations

import dataclasses
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from .files import array_of
from .reading import KINDS, RunError


class NotFinite(RunError):
    """A capture has values that are not finite, as of a training that has diverged."""


@dataclasses.dataclass
class Layer:
    """The maps of a layer. Rows i receive, columns j send.

    relation: r_ij, [S, n, n, d_r]. attention: weights after the softmax, [S, h, n, n]. relational_attention: those of
    relational heads, [S, h, n, n]. symbols: weights of the symbols that objects retrieve, [S, h, n, symbols]. causal:
    cells j > i are masked.
    """
    name: str = ""
    relation: Any = None
    attention: Any = None
    relational_attention: Any = None
    symbols: Any = None
    causal: bool = False

    def given(self) -> dict[str, Any]:
        """{kind: what is given of it}."""
        parts = zip(KINDS, (self.relation, self.relational_attention, self.attention, self.symbols))
        return {kind: values for kind, values in parts if values is not None}

    def maps(self) -> dict[str, np.ndarray]:
        """{kind: float32 [S, maps, rows, columns]}."""
        found = {}
        for kind, values in self.given().items():
            where = f"{self.name}: {kind}"
            maps = array_of(values, where)
            if maps.ndim == 3:
                maps = maps[None]
            if maps.ndim != 4 or 0 in maps.shape:
                wanted = "[samples, n, n, relations]" if kind == "relation" else "[samples, heads, rows, columns]"
                raise RunError(where, f"has the shape {list(maps.shape)}; {wanted} is needed")
            maps = np.moveaxis(maps, 3, 1) if kind == "relation" else maps
            if not np.isfinite(maps).all():
                raise NotFinite(where, "has values that are not finite")
            found[kind] = np.ascontiguousarray(maps, np.float32)
        return found


@dataclasses.dataclass
class Inputs:
    """The inputs whose maps are captured; give what there is.

    images: [S, height, width, channels] or, as PyTorch has them, [S, channels, height, width]; bytes, or floats from 0 to
    1; with `patch`, the side of the square patches that are the objects, or (height, width). `before`: how many tokens are
    before the patches, as 5 for a class token and four registers; without it the patches are the last objects.
    tokens: ids, [S, n], with `pieces`, the text of each token. vectors: [S, n, width]. names: of the objects, [S][n].
    pictures: of the objects, [S, n, height, width, channels]. masks: where each object is in the image, [S, n, height,
    width], 0 or more than 0. attributes: what is known of each pair, {name: [S, n, n]}: 0 and 1 are no and yes, other
    values have an order, and nan is not known.
    labels: the right class of each input, [S], with `classes`, their names. probabilities: the answer, [S, classes].
    origins: where each input is from, as "validation 12".
    """
    images: Any = None
    patch: Optional[Union[int, Sequence[int]]] = None
    before: Optional[int] = None
    tokens: Any = None
    pieces: Any = None
    vectors: Any = None
    names: Any = None
    pictures: Any = None
    masks: Any = None
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    labels: Any = None
    classes: Sequence[str] = ()
    probabilities: Any = None
    origins: Sequence[str] = ()

    @classmethod
    def of(cls, given: Union["Inputs", Mapping[str, Any], None]) -> "Inputs":
        if isinstance(given, cls):
            return given
        known = [field.name for field in dataclasses.fields(cls)]
        if given is not None and not isinstance(given, Mapping):
            raise RunError("inputs", "are no relascope.Inputs and no dictionary of " + ", ".join(known))
        for name in given or ():
            if name not in known:
                raise RunError("inputs", f"have no part '{name}'; there are {', '.join(known)}")
        return cls(**(given or {}))


def tokens_beside(counts: Sequence[int], patches: int, before: Optional[int] = None) -> Optional[tuple[int, int]]:
    """(n, before): how many objects n the maps of patches have, of the numbers of objects that maps have, and how many of
    them are before the patches; None if none fits. The patches are the last objects where nothing else is said, and up to
    16 tokens are beside them."""
    if before is not None:
        fitting = [n for n in counts if n >= patches + before]
        return (fitting[0], before) if fitting else None
    fitting = [n for n in counts if n in (patches, patches + 1)] or sorted(n for n in counts if 0 < n - patches <= min(16, patches))
    return (fitting[0], fitting[0] - patches) if fitting else None


def _shaped(values: Any, name: str, wanted: Sequence[Any]) -> np.ndarray:
    """The array with the dimensions `wanted`: numbers, or words for any; the first one may be left out."""
    found = array_of(values, name)
    if found.ndim == len(wanted) - 1:
        found = found[None]
    if found.ndim != len(wanted) or any(type(size) is int and size != there for size, there in zip(wanted, found.shape)):
        raise RunError(name, f"has the shape {list(found.shape)}; [{', '.join(map(str, wanted))}] is needed")
    return found


def scaled(values: np.ndarray) -> np.ndarray:
    """Normalized pixels from their least, 0, to their largest, 1; others as they are."""
    low, high = float(values.min()), float(values.max())
    return values if 0 <= low and high <= 1 else (values - low) / max(high - low, 1e-12)


def as_bytes(values: np.ndarray, name: str) -> np.ndarray:
    """Pixels as bytes."""
    if values.dtype.kind == "f":
        if not (np.isfinite(values).all() and values.size and values.min() >= 0 and values.max() <= 1):
            raise RunError(name, "are floats outside of 0 to 1; give bytes, or undo the normalization first")
        return np.rint(values * 255).astype(np.uint8)
    if values.dtype.kind == "b":
        return values.astype(np.uint8) * 255
    if values.size and (values.min() < 0 or values.max() > 255):
        raise RunError(name, "have values outside of 0 to 255")
    return values.astype(np.uint8)


def _words(given: Any, name: str, samples: int, n: int) -> list[list[str]]:
    """Of each input a list of n words."""
    words = [list(given)] if given and all(isinstance(word, str) for word in given) else [list(each) for each in given]
    if len(words) != samples or any(len(each) != n or not all(isinstance(word, str) for word in each) for each in words):
        raise RunError(name, f"have {[len(each) for each in words]} words; {n} for each of {samples} inputs are needed")
    return words


def _cut_out(images: np.ndarray, masks: np.ndarray) -> dict[str, np.ndarray]:
    """Pictures of the objects: the image within each mask, white outside, all of the size of the largest. Nothing where
    no mask has a pixel, or the pictures would take more than 64 MiB."""
    def extent(along: Any) -> tuple[np.ndarray, int]:
        """The first place of each object along an axis [S, n, places], and the most places that one takes."""
        first, last = along.argmax(-1), along.shape[-1] - 1 - along[..., ::-1].argmax(-1)
        size = int(np.where(along.any(-1), last - first + 1, 0).max())
        return np.minimum(first, along.shape[-1] - size), size
    samples, n = masks.shape[:2]
    (tops, height), (lefts, width) = extent(masks.any(3)), extent(masks.any(2))
    if height == 0 or samples * n * height * width * images.shape[3] > 64 << 20:
        return {}
    pictures = np.full((samples, n, height, width, images.shape[3]), 255, np.uint8)
    for s, k in np.ndindex(samples, n):
        part = slice(tops[s, k], tops[s, k] + height), slice(lefts[s, k], lefts[s, k] + width)
        inside = masks[s, k][part] > 0
        pictures[s, k][inside] = images[s][part][inside]
    return {"pictures": pictures}


class _Writer:
    """Tensors and metadata of a capture, as they are found out."""

    def __init__(self, step: int, inputs: Inputs, layers: Sequence[Layer]):
        self.inputs, self.grid = inputs, (0, 0, 0)  # rows, columns, tokens before them
        self.tensors: dict[str, np.ndarray] = {}
        self.sides: list[int] = []  # how many objects each has
        self.metadata = {"step": str(step), "layers": str(len(layers))}
        self.maps = [(layer, layer.maps()) for layer in layers]
        every = [(f"{layer.name}: {kind}", values) for layer, maps in self.maps for kind, values in maps.items()]
        if not every:
            raise RunError("layers", "have no maps; give a relascope.Layer with relation or attention")
        self.samples, self.n = every[0][1].shape[0], every[0][1].shape[3]
        for name, values in every:
            if values.shape[0] != self.samples:
                raise RunError(name, f"has {values.shape[0]} samples; {every[0][0]} has {self.samples}")
        self.read_image()
        self.read_sequence()
        self.read_answers()
        self.read_pairs()
        self.write_maps()

    def of_each(self, name: str, *dimensions: Any) -> np.ndarray:
        return _shaped(getattr(self.inputs, name), name, (self.samples, *dimensions))

    def read_image(self) -> None:
        self.tensors["images"] = np.zeros((self.samples, 0, 0, 3), np.uint8)
        before = self.inputs.before
        if before is not None and (self.inputs.patch is None or type(before) is not int or before < 0):
            raise RunError("before", f"is {before!r}; a number of tokens from 0 on, with patch, is needed")
        if self.inputs.images is None:
            if self.inputs.patch is not None:
                raise RunError("patch", "needs images")
            return
        images = array_of(self.inputs.images, "images")
        if images.ndim == 3:
            images = images[None]
        if images.ndim == 4 and images.shape[3] not in (1, 3) and images.shape[1] in (1, 3):
            images = np.moveaxis(images, 1, 3)
        if images.ndim != 4 or images.shape[0] != self.samples or images.shape[3] not in (1, 3) or 0 in images.shape:
            raise RunError("images", f"have the shape {list(images.shape)}; [{self.samples}, height, width, 1 or 3] is needed")
        self.tensors["images"] = as_bytes(images, "images")
        if self.inputs.patch is None:
            return
        patch = self.inputs.patch
        sides = (patch, patch) if isinstance(patch, int) else tuple(patch)
        height, width = images.shape[1:3]
        if len(sides) != 2 or min(sides) < 1 or height % sides[0] or width % sides[1]:
            raise RunError("patch", f"is {patch}, which does not divide images of {height} x {width}")
        rows, columns = height // sides[0], width // sides[1]
        counts = [values.shape[2] for _, maps in self.maps for values in maps.values()]
        found = tokens_beside(counts, rows * columns, self.inputs.before)
        if found is None:
            raise RunError("patch", f"makes {rows} x {columns} patches, but no map has {rows * columns} rows"
                           + (f" behind {self.inputs.before} others" if self.inputs.before is not None else ", or a few more for other "
                              "tokens") + f"; there are maps of {', '.join(map(str, sorted(set(counts))))} rows")
        self.n, self.grid = found[0], (rows, columns, found[1])

    def read_sequence(self) -> None:
        given, n = self.inputs, None if self.grid[0] else "n"
        if given.tokens is not None:
            self.tensors["tokens"] = self.of_each("tokens", "n").astype(np.int64)
            n = self.tensors["tokens"].shape[1]
        elif given.vectors is not None:
            self.tensors["vectors"] = self.of_each("vectors", "n", "width").astype(np.float32)
            n = self.tensors["vectors"].shape[1]
        elif n is not None or given.names or given.pictures is not None or given.masks is not None:
            n = self.n  # objects that have no numbers of their own are counted
            self.tensors["tokens"] = np.tile(np.arange(n, dtype=np.int64), (self.samples, 1))
        if n is None:
            return self.add_side("patches", [])
        if self.grid[0] == 0:
            self.n = n
        if "vectors" in self.tensors and not 1 <= self.tensors["vectors"].shape[2] <= 1 << 20:
            raise RunError("vectors", f"have the width {self.tensors['vectors'].shape[2]}")
        labels = self.read_words(n)
        if given.pictures is not None:
            pictures = as_bytes(self.of_each("pictures", n, "height", "width", "channels"), "pictures")
            if pictures.shape[4] not in (1, 3) or 0 in pictures.shape:
                raise RunError("pictures", f"have the shape {list(pictures.shape)}; the last number must be 1 or 3")
            self.tensors["pictures"] = pictures
        if given.masks is not None:
            height, width = self.tensors["images"].shape[1:3]
            if height == 0:
                raise RunError("masks", "need images")
            masks = self.of_each("masks", n, height, width)
            self.tensors["masks"] = (masks > 0).astype(np.uint8) * 255
            if given.pictures is None:
                self.tensors.update(_cut_out(self.tensors["images"], self.tensors["masks"]))
        self.add_side("patches" if self.grid[0] else "tokens" if given.tokens is not None else "objects",
                      [] if self.grid[0] else labels or [str(k + 1) for k in range(n)])

    def read_words(self, n: int) -> list[str]:
        given = self.inputs
        if given.pieces is not None:
            if given.tokens is None:
                raise RunError("pieces", "need tokens")
            pieces = _words(given.pieces, "pieces", self.samples, n)
            if self.samples == 1:
                text = [piece.encode() for piece in pieces[0]]
                self.tensors["pieces"] = np.frombuffer(b"".join(text), np.uint8)[None]
                self.tensors["piece_ends"] = np.cumsum([len(piece) for piece in text]).astype(np.int64)[None]
                return pieces[0]
        if given.names is None and given.pieces is None:
            return []
        words = pieces if given.pieces is not None else _words(given.names, "names", self.samples, n)
        for sample, each in enumerate(words):
            self.metadata.update((f"word_{sample}_{k}", word) for k, word in enumerate(each))
        return words[0]

    def read_answers(self) -> None:
        given = self.inputs
        labels = np.full(self.samples, -1) if given.labels is None else np.atleast_1d(array_of(given.labels, "labels"))
        if labels.shape != (self.samples,) or labels.dtype.kind not in "iu":
            raise RunError("labels", f"have the shape {list(labels.shape)} of {labels.dtype}; {self.samples} whole numbers "
                                     "are needed")
        self.tensors["labels"] = labels.astype(np.int64)
        self.tensors["probabilities"] = np.zeros((self.samples, 0), np.float32)
        if given.probabilities is not None:
            outputs = self.of_each("probabilities", len(given.classes) or "classes").astype(np.float32)
            if not np.isfinite(outputs).all():
                raise NotFinite("probabilities", "have values that are not finite")
            self.tensors["probabilities"] = outputs
        self.metadata.update((f"class_{c}", str(name)) for c, name in enumerate(given.classes))
        if len(given.origins) not in (0, self.samples):
            raise RunError("origins", f"are {len(given.origins)}; one for each of {self.samples} inputs is needed")
        self.metadata.update((f"origin_{sample}", str(origin)) for sample, origin in enumerate(given.origins))

    def read_pairs(self) -> None:
        for name, values in self.inputs.attributes.items():
            if not name or "/" in name:
                raise RunError("attributes", f"have the name '{name}'; a name without / is needed")
            where = f"attributes: {name}"
            pairs = _shaped(values, where, (self.samples, self.n, self.n))
            if pairs.dtype.kind == "f" and np.isinf(pairs).any():
                raise RunError(where, "has infinite values; nan says that it is not known")
            whole = pairs.dtype.kind in "biu" and pairs.min() >= 0 and pairs.max() <= 255
            self.tensors[f"attribute/{name}"] = pairs.astype(np.uint8 if whole else np.float32)

    def add_side(self, name: str, labels: Sequence[str]) -> None:
        at = len(self.sides)
        self.sides.append(self.n)
        self.metadata[f"side_{at}"] = name
        self.metadata.update((f"side_{at}_{k}", label) for k, label in enumerate(labels))

    def side_of(self, size: int) -> int:
        """The side with that many objects; a new one where it is none of the inputs."""
        if size not in self.sides:
            self.metadata[f"side_{len(self.sides)}"] = f"{size} objects"
            self.metadata.update((f"side_{len(self.sides)}_{k}", str(k + 1)) for k in range(size))
            self.sides.append(size)
        return self.sides.index(size)

    def write_maps(self) -> None:
        for at, (layer, maps) in enumerate(self.maps):
            key = f"layer_{at}"
            first = next((values for kind, values in maps.items() if kind != "symbols"), None)
            if first is None:  # symbols alone have no columns of objects
                first = next(iter(maps.values()))[:, :, :, :1].repeat(self.n, 3) if maps else np.zeros((1, 1, self.n, self.n))
            self.metadata.update({key: layer.name or f"layer {at + 1}", f"{key}_rows": str(self.side_of(first.shape[2])),
                                  f"{key}_columns": str(self.side_of(first.shape[3]))})
            for kind, values in maps.items():
                if kind != "symbols" and values.shape[2:] != first.shape[2:]:
                    raise RunError(f"{layer.name}: {kind}", f"has maps of {values.shape[2]} x {values.shape[3]}, others of the "
                                   f"layer {first.shape[2]} x {first.shape[3]}")
                self.tensors[f"{kind}/{at}"] = values
                if layer.causal and kind != "symbols":
                    self.metadata[f"causal_{kind}/{at}"] = "1"
                if kind == "symbols":
                    self.metadata[f"library_rows_{kind}/{at}"] = "0"
        self.metadata.update({"grid_rows": str(self.grid[0]), "grid_columns": str(self.grid[1]),
                              "class_token": "1" if self.grid[2] in (1, 2, 5) else "0",  # also beside a distillation token, registers
                              "first_tokens": str(self.grid[2])})


def capture_parts(step: int, inputs: Union[Inputs, Mapping[str, Any], None],
                  layers: Sequence[Union[Layer, Mapping[str, Any]]]) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The tensors and the metadata of a capture. Throws RunError, which names the part that does not fit."""
    made = []
    for at, layer in enumerate(layers):
        if isinstance(layer, Mapping):
            try:
                layer = Layer(**layer)
            except TypeError:
                known = [field.name for field in dataclasses.fields(Layer)]
                raise RunError(f"layers[{at}]", f"has a part that is unknown; there are {', '.join(known)}") from None
        if not isinstance(layer, Layer):
            raise RunError(f"layers[{at}]", "is no relascope.Layer and no dictionary")
        made.append(dataclasses.replace(layer, name=layer.name or f"layer {at + 1}"))
    found = _Writer(step, Inputs.of(inputs), made)
    return found.tensors, found.metadata
