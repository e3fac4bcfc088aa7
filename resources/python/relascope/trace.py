# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that one pass of a model calls: functions with their tensors and what made those, and modules."""
from __future__ import annotations

import dataclasses
import re
from typing import Any, Optional

from .passes import Frame, Path, Place, View, Visitor, tensors_of

VIEWS = {"view", "reshape", "permute", "transpose", "swapaxes", "swapdims", "contiguous", "unbind", "chunk", "split", "tensor_split",
          "split_with_sizes", "__getitem__", "flatten", "unflatten", "squeeze", "unsqueeze", "to", "type", "type_as", "float", "half",
          "bfloat16", "clone", "narrow", "select", "movedim", "view_as", "reshape_as", "t", "__get__T", "__get__mT", "dropout", "detach"}
REPEATS = {"expand", "repeat", "repeat_interleave", "expand_as", "broadcast_to", "cat"}
ELEMENTWISE = VIEWS | {"mul", "__mul__", "__rmul__", "mul_", "__imul__", "div", "__truediv__", "div_", "__itruediv__", "true_divide", "add", "__add__",
                         "__radd__", "add_", "__iadd__", "sub", "__sub__", "masked_fill", "masked_fill_", "where", "tanh", "clamp", "max", "maximum",
                         "minimum", "nan_to_num", "relu", "sigmoid", "gelu", "silu", "softcap", "__setitem__"}
ADDS = {"add", "__add__", "__radd__", "add_", "__iadd__"}
LAYERS = {"linear", "addmm", "matmul", "__matmul__", "mm", "einsum", "conv1d", "conv2d", "baddbmm"}
PRODUCTS = {"matmul", "__matmul__", "bmm", "einsum", "baddbmm", "mm"}
_CHANGED_IN_PLACE = re.compile(r"(.*[a-z0-9]_|__i[a-z]+__|__setitem__)$")


@dataclasses.dataclass(eq=False)
class Call:
    """A function that was called, the tensors that it got and gave, and the calls that made those."""
    index: int
    path: Path
    name: str
    number: int
    inputs: list
    made_of: list[Optional[int]]
    outputs: list
    args: tuple
    kwargs: dict
    above: int = 0  # a bit for each call that it is made of
    readers: list[tuple[int, int]] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(eq=False)
class Inside:
    """A module that was called."""
    name: str
    module: Any
    path: Path
    inputs: list
    made_of: list[Optional[int]]
    first: int
    last: int = 0
    outputs: list = dataclasses.field(default_factory=list)
    made_by: list[Optional[int]] = dataclasses.field(default_factory=list)
    returned: Any = None


class Trace(Visitor):
    """Everything that a pass calls."""
    sees = True

    def __init__(self, given: Any):
        self.calls = [Call(0, (), "input", 0, [], [], list(tensors_of(given)), (), {})]
        self.modules: list[Inside] = []
        self.own: list[tuple[Call, str, str]] = []  # calls of relascope.point: name, kind
        self._maker = {id(tensor): 0 for tensor in self.calls[0].outputs}
        self._open: list[Inside] = []
        self.drops = False  # attention is dropped in eval() too

    def calling(self, name: str, args: tuple) -> None:
        if not _CHANGED_IN_PLACE.match(name) or not args or not hasattr(args[0], "detach"):
            return
        import torch
        with torch._C.DisableTorchFunction():
            copy = args[0].detach().clone()
        for call in self.calls:
            for held in call.inputs, call.outputs:
                held[:] = [copy if each is args[0] else each for each in held]

    def called(self, frame: Frame, number: int, name: str, function: Any, args: tuple, kwargs: dict, output: Any) -> None:
        inputs, in_place = list(tensors_of((args, kwargs))), bool(_CHANGED_IN_PLACE.match(name))
        outputs = inputs[:1] if name == "__setitem__" else list(tensors_of(output))
        if outputs:
            self._add(frame.path, name, number, inputs, outputs, args, kwargs, in_place)

    def _add(self, path: Path, name: str, number: int, inputs: list, outputs: list, args: tuple, kwargs: dict, in_place: bool) -> Call:
        index = len(self.calls)
        call = Call(index, path, name, number, inputs, [self._maker.get(id(each)) for each in inputs], outputs, args, kwargs)
        for position, maker in enumerate(call.made_of):
            if maker is not None:
                call.above |= self.calls[maker].above | 1 << maker
                self.calls[maker].readers.append((index, position))
        self.calls.append(call)
        for each in outputs:
            if in_place or not any(each is given for given in inputs):  # what is handed through is made where it was
                self._maker[id(each)] = index
        if name == "scaled_dot_product_attention":
            self.drops = self.drops or bool(kwargs.get("dropout_p", args[4] if len(args) > 4 else 0))
        return call

    def named(self, frame: Frame, number: int, name: str, tensor: Any, kind: str) -> None:
        call = self._add(frame.path, "point " + name, number, [tensor], [tensor], (), {}, True)
        self.own.append((call, name, kind))

    def entered(self, frame: Frame, args: tuple, kwargs: dict) -> None:
        inputs = list(tensors_of((list(args), kwargs)))
        found = Inside(frame.name, frame.module, frame.path, inputs, [self._maker.get(id(each)) for each in inputs], len(self.calls))
        self.modules.append(found)
        self._open.append(found)

    def left(self, frame: Frame, output: Any) -> None:
        while self._open:
            found = self._open.pop()
            found.last = len(self.calls)
            if found.module is frame.module:
                found.outputs, found.returned = list(tensors_of(output)), output
                found.made_by = [self._maker.get(id(each)) for each in found.outputs]
                return


@dataclasses.dataclass
class Spot:
    """A tensor of a call, as a point would have it."""
    call: Call
    slot: str
    view: View
    tensor: Any

    def place(self) -> Place:
        return Place(self.call.path, self.call.name, self.call.number, self.slot, self.view)


def out_slot(call: Call, tensor: Any) -> str:
    if len(call.outputs) == 1:
        return "out"
    return f"out{next(at for at, each in enumerate(call.outputs) if each is tensor)}"


def where_of(path: Path) -> str:
    return next((name for name, _ in reversed(path) if name and name != "multi_head_attention_forward"), "the model")
