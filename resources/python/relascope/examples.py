# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of a served model: what it is called with, by number, and what people see of them."""
from __future__ import annotations

import contextlib
import inspect
import os
import time
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np

from .capture import Inputs, as_bytes, scaled, tokens_beside
from .files import array_of
from .passes import PassError, first_stream, own_numbers, seed, tensors_of
from .reading import RunError
from .watch import _moved, _parameters, _place_of

_LABELS = ("labels", "label", "targets", "target", "y")
_NAMES = ("train", "training", "validation", "valid", "val", "dev", "test")
MOST_SHOWN = 256
_LOOKS = 2.0  # seconds that the lengths of examples may take


class Split:
    """Examples of one kind, by number."""

    def __init__(self, name: str, given: Any):
        self.name, self._given, self._collate = name, given, None
        if hasattr(given, "dataset") and hasattr(given, "collate_fn"):  # a DataLoader
            self._given, self._collate = given.dataset, given.collate_fn
        if isinstance(self._given, Mapping):
            self.size = len(next(iter(self._given.values()), ()))
        elif isinstance(self._given, tuple):
            self.size = len(self._given[0]) if self._given else 0
        elif hasattr(self._given, "__len__") and hasattr(self._given, "__getitem__"):
            self.size = len(self._given)
        else:
            raise RunError("inputs", f"are {type(given).__name__}, which has no numbered examples; give a Dataset, a DataLoader of one, tensors, "
                                     "or a dictionary of splits")
        if self.size < 1:
            raise RunError("inputs", f"have no examples in '{name}'")

    def example(self, index: int) -> Any:
        if isinstance(self._given, Mapping):
            return {key: values[index] for key, values in self._given.items()}
        if isinstance(self._given, tuple):
            return tuple(values[index] for values in self._given)
        return self._given[index]

    def batch(self, indices: Sequence[int], padding: int) -> Any:
        """The examples as their loader would put them together."""
        with own_numbers():
            found = []
            for index in indices:
                if not isinstance(self._given, (Mapping, tuple)):
                    seed(index)  # what a data set draws for an example is the same wherever it is asked for
                found.append(self.example(index))
            return self._collate(found) if self._collate is not None else _together(found, padding)


def _together(examples: list, padding: int) -> Any:
    """Examples as a batch; those of several lengths are filled up at their ends."""
    import torch
    from torch.utils.data import default_collate
    first = examples[0]
    if isinstance(first, Mapping):
        kept = {}
        for key, value in first.items():
            if isinstance(value, (str, bytes)) or value is None:
                continue
            try:
                kept[key] = _column([torch.as_tensor(each[key]) for each in examples],
                                    -100 if key in _LABELS else 0 if "mask" in key or "type" in key else padding)
            except (TypeError, ValueError, RuntimeError):
                continue  # what no tensor can hold
        lengths = [len(torch.as_tensor(each["input_ids"])) if "input_ids" in each else 0 for each in examples]
        if len(set(lengths)) > 1 and "attention_mask" not in kept:
            kept["attention_mask"] = torch.tensor([[1] * each + [0] * (max(lengths) - each) for each in lengths])
        return kept
    if isinstance(first, tuple) and all(hasattr(each, "shape") for each in first):
        return tuple(_column([each[at] for each in examples], padding if at == 0 else -100) for at in range(len(first)))
    return default_collate(examples)


def _column(values: list, filling: int) -> Any:
    import torch
    values = [torch.as_tensor(each) for each in values]
    if len({tuple(each.shape) for each in values}) == 1:
        return torch.stack(values)
    return torch.nn.utils.rnn.pad_sequence(values, batch_first=True, padding_value=filling)


def splits_of(inputs: Any) -> list[Split]:
    if isinstance(inputs, Mapping) and inputs and (all(name in _NAMES for name in inputs) or
                                                   not all(hasattr(each, "shape") for each in inputs.values())):
        return [Split(str(name), each) for name, each in inputs.items()]
    if isinstance(inputs, list) and len(inputs) == 2 and all(hasattr(each, "shape") for each in inputs):
        inputs = tuple(inputs)
    return [Split("validation", inputs)]


class Examples:
    """All splits of a served model, and how it is called with them."""

    def __init__(self, model: Any, inputs: Any, call: Optional[Callable], show: Any, classes: Sequence[str], tokenizer: Any,
                 encode: Optional[Callable]):
        self.model, self.splits, self._call, self._encode = model, splits_of(inputs), call, encode
        self.show = show if callable(show) and not isinstance(show, Mapping) else Inputs.of(show)
        self.classes = [str(each) for each in classes]
        self.tokenizer, self.tokenizer_path = _tokenizer(tokenizer)
        padding = getattr(self.tokenizer, "pad_token_id", None)
        self.padding = int(padding) if padding is not None else 0
        self._known: Optional[set[str]] = None
        parameters = _parameters(model)
        if not any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()):
            self._known = set(parameters)

    def split(self, name: str) -> Split:
        found = next((each for each in self.splits if each.name == name), None)
        if found is None:
            raise PassError("split", f"is '{name}'; there are {', '.join(each.name for each in self.splits)}")
        return found

    def numbers(self, split: Split, indices: Any, most: int) -> list[int]:
        if not isinstance(indices, list) or not 1 <= len(indices) <= most:
            raise PassError("indices", f"are no list of 1 to {most} numbers")
        for each in indices:
            if type(each) is not int or not 0 <= each < split.size:
                raise PassError("indices", f"have {str(each)[:40]}; '{split.name}' has the examples 0 to {split.size - 1}")
        return indices

    def parts(self, split: Split, indices: Sequence[int]) -> tuple[Any, Any]:
        """What the model is called with, where it is, and the labels."""
        return self.apart(split.batch(indices, self.padding))

    def apart(self, batch: Any) -> tuple[Any, Any]:
        batch = _moved(dict(batch) if isinstance(batch, Mapping) else tuple(batch) if isinstance(batch, list) else batch, _place_of(self.model))
        if isinstance(batch, Mapping):
            label = next((name for name in _LABELS if name in batch), None)
            labels = batch.get(label) if label else None
            given = {name: each for name, each in batch.items() if name != label or self._call is not None}
            if self._known is not None and self._call is None:
                given = {name: each for name, each in given.items() if name in self._known}
            return given, labels
        if isinstance(batch, tuple) and len(batch) > 1:
            return (batch if self._call is not None else batch[0]), batch[-1]
        return (batch[0] if isinstance(batch, tuple) and self._call is None else batch), None

    def typed(self, values: np.ndarray) -> Any:
        """What the model is called with for an input that nobody numbered: ids, or what `encode` makes of them."""
        import torch
        if self._encode is not None:
            return self.apart(self._encode(values))[0]
        if values.dtype.kind not in "iu" or values.ndim != 2:
            raise PassError("input", "is a picture or has vectors, of which this model knows nothing; give serve(encode=), a function that makes a "
                                     "batch of it")
        ids = torch.from_numpy(np.ascontiguousarray(values.astype(np.int64)))
        kept = _moved(ids, _place_of(self.model))
        first, _ = self.parts(self.splits[0], [0])
        if isinstance(first, Mapping):
            name = "input_ids" if "input_ids" in first else next(iter(first))
            return {name: kept, **({"attention_mask": torch.ones_like(kept)} if "attention_mask" in first else {})}
        return (kept, *first[1:]) if isinstance(first, tuple) else kept

    def answer(self, given: Any) -> Any:
        """The scores of the model."""
        if self._call is not None:
            return first_stream(self._call(self.model, given))
        if isinstance(given, Mapping):
            return first_stream(self.model(**given))
        return first_stream(self.model(given))

    def seen(self, given: Any) -> Optional[np.ndarray]:
        """Of what the model is called with the part that people see: images, ids or vectors, of which floats [S, n] are one each."""
        alone: Optional[np.ndarray] = None
        values = list(given.values()) if isinstance(given, Mapping) else list(given) if isinstance(given, tuple) else [given]
        if isinstance(given, Mapping):
            order = sorted(given, key=lambda name: name not in ("input_ids", "pixel_values"))
            values = [given[name] for name in order]
        for each in values:
            if hasattr(each, "detach") and each.ndim in (2, 3, 4):
                array = array_of(each, "inputs")
                if array.ndim == 4 and array.shape[1] not in (1, 3, 4):
                    continue
                if array.ndim == 2 and array.dtype.kind not in "iu":
                    alone = alone if alone is not None else array[:, None]
                    continue
                return array
        return alone

    def shapes(self, given: Any) -> str:
        """The shapes of what the model is called with."""
        return ", ".join(str(list(each.shape)) for each in tensors_of(given)) or type(given).__name__

    def pictures(self) -> Optional[np.ndarray]:
        """A picture of the first example, if people are shown any."""
        show = Inputs.of(self.show([0])) if callable(self.show) else self.show
        return None if show.images is None else pictures_of(array_of(show.images, "images")[:1])

    def longest(self) -> int:
        """The tokens of the longest among the first examples of each split."""
        longest, end = 0, time.monotonic() + _LOOKS
        for split in self.splits:
            for index in range(min(split.size, MOST_SHOWN)):
                seen = None
                with contextlib.suppress(Exception):  # what is wrong with it is said to who asks for it
                    seen = self.seen(self.parts(split, [index])[0])
                longest = max(longest, seen.shape[1] if seen is not None and seen.ndim == 2 else 0)
                if time.monotonic() > end:
                    return longest
        return longest

    def shown(self, split: Split, indices: Sequence[int], labels_only: bool = False) -> tuple[list[dict], dict[str, np.ndarray]]:
        """What people see of some examples: of each a dictionary, and tensors of all."""
        given, labels = self.parts(split, indices)
        show = Inputs.of(self.show(list(indices))) if callable(self.show) else self.show
        rows = list(range(len(indices))) if callable(self.show) else list(indices)
        texts: list[dict] = [{"origin": str(show.origins[row]) if len(show.origins) > row else f"{split.name} {index}"}
                             for row, index in zip(rows, indices)]
        tensors: dict[str, np.ndarray] = {}
        self._labels(labels, given, texts, tensors)
        if labels_only:
            return texts, tensors
        if show.images is not None and split is self.splits[0]:
            tensors["pictures"] = pictures_of(array_of(show.images, "images")[rows])
        else:
            array = self.seen(given)
            if array is not None and array.ndim == 4:
                tensors["pictures"] = pictures_of(array)
            elif array is not None and array.ndim == 3:
                tensors["vectors"] = array.astype(np.float32)
            elif array is not None and array.ndim == 2:
                self._tokens(array, given, texts, tensors)
        if split is self.splits[0]:
            for name, values in show.attributes.items():
                tensors[f"attribute/{name}"] = array_of(values, name)[rows].astype(np.float32)
        return texts, tensors

    def _labels(self, labels: Any, given: Any, texts: list[dict], tensors: dict[str, np.ndarray]) -> None:
        """The right answers. Those of tokens are of the scores at the same place: where they are the ids themselves, as models of
        transformers take them, which compare with the next one, they are moved by one."""
        if labels is None:
            return
        found = array_of(labels, "labels")
        if found.ndim == 2 and found.shape[1] == 1:
            found = found[:, 0]
        if found.ndim not in (1, 2) or found.dtype.kind not in "iub" or len(found) != len(texts):
            return
        found = found.astype(np.int64)
        seen = self.seen(given) if found.ndim == 2 else None
        if seen is not None and seen.shape == found.shape:
            counted = found != -100
            if counted.any() and (found[counted] == seen[counted]).all():
                found = np.concatenate([found[:, 1:], np.full((len(found), 1), -100)], 1)
        tensors["labels"] = found

    def _tokens(self, ids: np.ndarray, given: Any, texts: list[dict], tensors: dict[str, np.ndarray]) -> None:
        ids = ids.astype(np.int64).copy()
        mask = given.get("attention_mask") if isinstance(given, Mapping) else None
        if mask is not None and mask.ndim == 2 and tuple(mask.shape) == ids.shape:
            kept = array_of(mask, "attention_mask") > 0
            if bool((np.diff(kept.astype(np.int8), axis=1) <= 0).all()):  # filled up at the end
                ids[~kept] = -1
        tensors["tokens"] = ids
        for text, row in zip(texts, ids):
            row = row[row >= 0]
            text["length"] = int(len(row))
            if self.tokenizer is not None:
                text["pieces"] = pieces_of(self.tokenizer, row.tolist())
                text["text"] = "".join(text["pieces"])

    def patches(self, given: Any, n: int) -> dict[str, Any]:
        """How n positions lie on an image: patch, grid, first_tokens."""
        array = self.seen(given)
        if array is None or array.ndim != 4:
            return {}
        height, width = array.shape[2:]
        show = None if callable(self.show) else self.show.patch
        found = [(show, show) if isinstance(show, int) else tuple(show)] if show else \
            [(side, side) for side in range(1, min(height, width) + 1) if height % side == 0 and width % side == 0]
        fitting = []
        for rows, columns in found:
            beside = tokens_beside([n], (height // rows) * (width // columns), None if callable(self.show) else self.show.before)
            if beside is not None and beside[1] <= 8:
                fitting.append((beside[1], rows, columns))
        if not fitting:
            return {}
        first, rows, columns = min(fitting)
        return {"patch": [rows, columns], "grid": [height // rows, width // columns], "first_tokens": first}


def pictures_of(array: np.ndarray) -> np.ndarray:
    """Images [k, channels, height, width], or channels last, as bytes [k, height, width, 3]; normalized pixels from their least to
    their largest."""
    if array.shape[-1] not in (1, 3) and array.shape[1] in (1, 3, 4):
        array = np.moveaxis(array[:, :3], 1, 3)
    elif array.shape[-1] == 4:
        array = array[..., :3]
    if array.dtype.kind == "f":
        array = np.nan_to_num(scaled(array))
    return np.ascontiguousarray(np.broadcast_to(as_bytes(array, "images"), (*array.shape[:3], 3)))


def _tokenizer(given: Any) -> tuple[Any, str]:
    """A tokenizer, and the path of its file where it has one."""
    if given is None:
        return None, ""
    if isinstance(given, (str, os.PathLike)):
        path = os.path.abspath(os.fspath(given))
        path = os.path.join(path, "tokenizer.json") if os.path.isdir(path) else path
        if not os.path.isfile(path):
            raise RunError("tokenizer", f"is {path}, where no file is")
        try:
            import tokenizers
            return tokenizers.Tokenizer.from_file(path), path
        except ImportError:
            return None, path
    if not hasattr(given, "decode"):
        raise RunError("tokenizer", f"is {type(given).__name__}; give one of transformers, or the path of a tokenizer.json")
    return given, ""


def pieces_of(tokenizer: Any, ids: list[int]) -> list[str]:
    """The texts of tokens, which are together that of all."""
    try:
        return [str(tokenizer.decode([each])) for each in ids]
    except Exception:  # noqa: BLE001: whatever a tokenizer makes of ids that it does not know
        return [str(each) for each in ids]


Show = Union[Inputs, Mapping[str, Any], Callable[[list[int]], Any], None]
