# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the points of a model, of any code, by following the tensors of one pass of two examples (any-model, section 2).

A pattern is a softmax whose result is the first factor of a product, or a call of scaled_dot_product_attention; a block is the
innermost numbered module around one; the streams are what its additions add to. Names of classes are not looked at. Each point is
proved before it is offered (proofs.py); what was not found, or failed, is said in `left_out`.
"""
from __future__ import annotations

import dataclasses
import re
from typing import Any, Iterator, Optional, Sequence

from .passes import KINDS, Frame, Path, Place, View, Visitor, explicit, tensors_of

_VIEWS = {"view", "reshape", "permute", "transpose", "swapaxes", "swapdims", "contiguous", "unbind", "chunk", "split", "tensor_split",
          "split_with_sizes", "__getitem__", "flatten", "unflatten", "squeeze", "unsqueeze", "to", "type", "type_as", "float", "half",
          "bfloat16", "clone", "narrow", "select", "movedim", "view_as", "reshape_as", "t", "__get__T", "__get__mT", "dropout", "detach"}
_REPEATS = {"expand", "repeat", "repeat_interleave", "expand_as", "broadcast_to", "cat"}
_ELEMENTWISE = _VIEWS | {"mul", "__mul__", "__rmul__", "mul_", "__imul__", "div", "__truediv__", "div_", "__itruediv__", "true_divide", "add", "__add__",
                         "__radd__", "add_", "__iadd__", "sub", "__sub__", "masked_fill", "masked_fill_", "where", "tanh", "clamp", "max", "maximum",
                         "minimum", "nan_to_num", "relu", "sigmoid", "gelu", "silu", "softcap", "__setitem__"}
_ADDS = {"add", "__add__", "__radd__", "add_", "__iadd__"}
_LAYERS = {"linear", "addmm", "matmul", "__matmul__", "mm", "einsum", "conv1d", "conv2d", "baddbmm"}
_PRODUCTS = {"matmul", "__matmul__", "bmm", "einsum", "baddbmm", "mm"}
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
class Point:
    """A tensor of the pass that may be read and exchanged, in the order of `axes`."""
    name: str
    place: Place
    axes: tuple[str, ...]
    sizes: tuple[int, ...]
    causal: bool = False
    gradient: bool = True
    replace: bool = True
    at: tuple[int, int] = (0, 0)  # where in the pass


@dataclasses.dataclass
class Block:
    name: str
    path: Path
    module: Any
    stream: Optional[View] = None   # of its output; None: its streams are not found
    returned: Any = None            # what it returned
    again: bool = False             # its module is called several times
    skip: bool = False              # proved: the pass may go on after it with a stream
    facts: dict[str, Any] = dataclasses.field(default_factory=dict)
    where: Optional[Inside] = None


@dataclasses.dataclass
class Spot:
    """A tensor of a call, as a point would have it."""
    call: Call
    slot: str
    view: View
    tensor: Any

    def place(self) -> Place:
        return Place(self.call.path, self.call.name, self.call.number, self.slot, self.view)


@dataclasses.dataclass(eq=False)
class Attention:
    """A softmax, with what is multiplied before and after it."""
    call: Call
    pattern: Any                                  # [S, h, i, j]
    spots: dict[str, Spot] = dataclasses.field(default_factory=dict)
    last: int = 0                                 # the call of the product
    keys: Optional[int] = None                    # what made them
    relational: bool = False


def out_slot(call: Call, tensor: Any) -> str:
    if len(call.outputs) == 1:
        return "out"
    return f"out{next(at for at, each in enumerate(call.outputs) if each is tensor)}"


def _letters(call: Call) -> Optional[tuple[list[str], str]]:
    """Of an einsum of two tensors the letters of both and of the result."""
    equation = call.args[0] if call.args else None
    if not isinstance(equation, str) or "->" not in equation or "." in equation or len(call.inputs) != 2:
        return None
    left, result = equation.replace(" ", "").split("->")
    return left.split(","), result


class Finder:
    """The points of one traced pass."""

    def __init__(self, model: Any, trace: Trace, scores: Any, batch: int):
        self.calls, self.modules, self.trace, self.batch = trace.calls, trace.modules, trace, batch
        self.left_out: list[str] = []
        self.points: dict[str, Point] = {}
        self.blocks: list[Block] = []
        self._weights = {id(each) for each in model.parameters()}
        self.attentions = [found for found in map(self._attention, list(self.calls)) if found]
        self._symbols = [each for each in self.attentions if not self.of_input(each.keys) and "relation" not in each.spots]
        self._find_blocks()
        for block in self.blocks:
            self._find_streams(block)
        self._name_attentions()
        self._find_own()
        self._find_last(scores)
        self.points = dict(sorted(self.points.items(), key=lambda each: each[1].at))

    def leave_out(self, text: str) -> None:
        if text not in self.left_out:
            self.left_out.append(text)

    def of_input(self, maker: Optional[int]) -> bool:
        return maker is not None and (maker == 0 or bool(self.calls[maker].above & 1))

    # Attentions

    def _attention(self, call: Call) -> Optional[Attention]:
        if call.name == "scaled_dot_product_attention":
            return self._fused(call)
        if call.name != "softmax" or not call.outputs or call.outputs[0].ndim not in (3, 4):
            return None
        dim = call.kwargs.get("dim", call.args[1] if len(call.args) > 1 else None)
        pattern = call.outputs[0]
        if dim not in (-1, pattern.ndim - 1):
            return None
        view = self._maps(pattern)
        products = self._products_of(call)
        if not products:
            return None
        if view is None:
            self.leave_out(f"{_where(call.path)}: its maps {list(pattern.shape)} are of pieces of the input")
            return None
        found = Attention(call, view.to(pattern, self.batch), keys=None)
        found.spots = {"hook_attn_scores": Spot(call, "in0", view, call.inputs[0]), "hook_pattern": Spot(call, "out", view, pattern)}
        for product, position in products:
            self._multiplied(found, product, position)
        if not found.last:
            return None
        self._factors(found)
        return found

    def _maps(self, pattern: Any) -> Optional[View]:
        """Of maps [b, h, i, j], [b h, i, j] or [b, i, j]."""
        if pattern.ndim == 4:
            return View() if pattern.shape[0] == self.batch else None
        if pattern.shape[0] == self.batch:
            return View(("insert", 1))
        return View(("unfold",)) if pattern.shape[0] % self.batch == 0 else None

    def _products_of(self, call: Call) -> list[tuple[Call, int]]:
        """The products in which the result of a call is a factor."""
        found, todo, seen = [], [(call.index, 0)], set()
        while todo:
            index, depth = todo.pop()
            for reader, position in self.calls[index].readers:
                each = self.calls[reader]
                if reader in seen or depth > 8:
                    continue
                seen.add(reader)
                if each.name in _PRODUCTS and len(each.inputs) >= 2:
                    found.append((each, position))
                elif each.name in _ELEMENTWISE or each.name in ("bfloat16", "half"):
                    todo.append((reader, depth + 1))
        return sorted(found, key=lambda each: each[0].index)

    def _fused(self, call: Call) -> Optional[Attention]:
        query, key, value = call.inputs[:3]
        given = dict(zip(("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale"), call.args), **call.kwargs)
        taken: list[Any] = []
        explicit(**{**given, "dropout_p": 0.0}, at=lambda slot, tensor: taken.append(tensor) or tensor)
        view = self._maps(taken[1])
        if view is None:
            self.leave_out(f"{_where(call.path)}: its maps {list(taken[1].shape)} are of pieces of the input")
            return None
        found = Attention(call, view.to(taken[1], self.batch), last=call.index, keys=call.made_of[1])
        found.spots = {"hook_attn_scores": Spot(call, "scores", view, taken[0]), "hook_pattern": Spot(call, "pattern", view, taken[1])}
        heads = self._joined(query)
        for name, position in ("q", 0), ("k", 1), ("v", 2):
            self._head_spots(found, name, call, position, self._joined(call.inputs[position]))
        found.spots["hook_z"] = Spot(call, "out", heads, call.outputs[0])
        return found

    def _joined(self, tensor: Any) -> View:
        """Of heads [b, h, n, d], [b h, n, d] or [b, n, d] to [b, n, h, d]."""
        if tensor.ndim == 4:
            return View(("permute", 0, 2, 1, 3))
        if tensor.shape[0] == self.batch:
            return View(("insert", 2))
        return View(("unfold",), ("permute", 0, 2, 1, 3))

    def _multiplied(self, found: Attention, product: Call, position: int) -> None:
        """A product of a pattern: of values, or of relations."""
        other = 1 - position if product.name == "einsum" else position + 1
        if product.name != "einsum":
            if position != (1 if product.name == "baddbmm" else 0) or found.last or other >= len(product.inputs):
                return
            values = product.inputs[other]
            if values.ndim != product.inputs[position].ndim or values.shape[-2] != found.pattern.shape[3]:
                return
            found.last = product.index
            self._head_spots(found, "v", product, other, self._joined(values))
            found.spots["hook_z"] = Spot(product, "out", self._joined(product.outputs[0]), product.outputs[0])
            return
        read = _letters(product)
        if read is None or len(read[0][position]) != 4:
            return
        (b, h, i, j), others, result = read[0][position], read[0][other], read[1]
        rest = [letter for letter in others if letter not in (b, h, i, j)]
        if len(rest) != 1 or j not in others or sorted(result) != sorted([b, h, i, rest[0]]):
            return
        out = Spot(product, "out", View(("permute", *(result.index(each) for each in (b, i, h, rest[0])))), product.outputs[0])
        tensor = product.inputs[other]
        found.last = max(found.last, product.index)
        if i in others and b in others:  # relations [b, i, j, r]
            found.relational = True
            relation = View(("permute", *(others.index(each) for each in (b, i, j, rest[0])))) if h not in others else None
            if relation is not None:
                found.spots["hook_r"] = Spot(product, f"in{other}", relation, tensor)
            found.spots["hook_attended_r"] = out
        else:
            found.spots["hook_z"] = out
            if i not in others and b in others and h in others:
                self._head_spots(found, "v", product, other, View(("permute", *(others.index(each) for each in (b, j, h, rest[0])))))

    def _factors(self, found: Attention) -> None:
        """The queries and keys whose product, scaled and masked, goes into a softmax."""
        at = self._product_above(found.call.made_of[0], tuple(found.call.inputs[0].shape))
        if at is None:
            return
        if at.name == "einsum":
            read = _letters(at)
            if read is None or len(read[1]) != 4:
                return
            (left, right), (b, h, i, j) = read
            inner = [letter for letter in left if letter in right and letter not in read[1]]
            queries, keys = (left, right) if i in left else (right, left)
            if len(inner) != 1 or any(each not in queries for each in (b, h, i)) or any(each not in keys for each in (b, h, j)):
                return
            first = 0 if i in left else 1
            views = [View(("permute", *(queries.index(each) for each in (b, i, h, inner[0])))),
                     View(("permute", *(keys.index(each) for each in (b, j, h, inner[0]))))]
            places = (first, 1 - first)
        else:
            first = 1 if at.name == "baddbmm" else 0
            places = (first, first + 1)
            if len(at.inputs) <= places[1]:
                return
            transposed = at.inputs[places[1]]
            views = [self._joined(at.inputs[first]),
                     View(("permute", 0, 3, 1, 2)) if transposed.ndim == 4 else
                     View(("permute", 0, 2, 1), ("insert", 2)) if transposed.shape[0] == self.batch else View(("unfold",), ("permute", 0, 3, 1, 2))]
        found.keys = at.made_of[places[1]]
        for name, position, view in zip("qk", places, views):
            self._head_spots(found, name, at, position, view)

    def _product_above(self, maker: Optional[int], shape: tuple) -> Optional[Call]:
        todo, seen = [(maker, 0)], set()
        while todo:
            index, depth = todo.pop(0)
            if index is None or index in seen or depth > 14:
                continue
            seen.add(index)
            call = self.calls[index]
            if call.name in _PRODUCTS and not any(id(each) in self._weights for each in call.inputs):
                return call
            if call.name in _ELEMENTWISE:
                todo.extend((made, depth + 1) for made, each in zip(call.made_of, call.inputs) if each.numel() * 2 > call.outputs[0].numel())
        return None

    def _head_spots(self, found: Attention, name: str, call: Call, position: int, view: View) -> None:
        """hook_q (k, v): where the layer above a factor is seen by heads; hook_rot_q where the factor has other values."""
        factor = call.inputs[position]
        try:
            heads = view.to(factor, self.batch)  # [b, n, h, d]
        except RuntimeError:
            return
        own = Spot(call, f"in{position}", view, factor)
        above = self._by_heads(call.made_of[position], factor, tuple(heads.shape))
        if above is None:
            found.spots[f"hook_{name}"] = own
            return
        found.spots[f"hook_{name}"] = above
        values = above.view.to(above.tensor, self.batch)
        if heads.shape[2] != values.shape[2]:
            values = values.repeat_interleave(heads.shape[2] // values.shape[2], 2)
        if not _proportional(heads.float(), values.float()) and name in "qk":
            last = self._before_repeats(call.made_of[position], tuple(heads.shape), above.view.to(above.tensor, self.batch).shape[2]) or own
            if last.view.to(last.tensor, self.batch).shape[2] == above.view.to(above.tensor, self.batch).shape[2]:
                found.spots[f"hook_rot_{name}"] = last

    def _layout(self, tensor: Any, wanted: tuple, source: Any = None) -> Optional[View]:
        """The view to [b, n, h, d] of a tensor that may hold heads, of which h may be fewer."""
        b, n, h, d = wanted
        shape = tuple(tensor.shape)
        if len(shape) == 3 and h > 1 and shape == (b * h, n, d):
            return View(("unfold",), ("permute", 0, 2, 1, 3))
        if len(shape) != 4 or shape[0] != b or shape[3] != d:
            return None
        first, second = (size == n and h % other == 0 for size, other in ((shape[1], shape[2]), (shape[2], shape[1])))
        if first and second and source is not None and source.ndim == 3 and source.shape[:2] == (b, n) and n > 1:
            second = bool((source[0, 1] == tensor[0, 0, 1, 0]).any())
            first = not second
        return View(("permute", 0, 2, 1, 3)) if second else View() if first else None

    def _by_heads(self, maker: Optional[int], factor: Any, wanted: tuple) -> Optional[Spot]:
        """What a layer above gives, by heads, before anything but a norm of heads is done with it."""
        layers, between, todo = [], set(), [maker]
        while todo:
            index = todo.pop()
            if index is None or index == 0 or index in between:
                continue
            call = self.calls[index]
            if self._is_layer(call):
                layers.append(call)
                continue
            if call.name in _PRODUCTS or call.name == "scaled_dot_product_attention" or len(between) > 200:
                return None
            between.add(index)
            todo.extend(call.made_of)
        if not layers:
            return None
        layer = max(layers, key=lambda call: call.index)
        normed = {id(each.inputs[0]): each for each in self.modules if each.inputs and each.outputs and self._is_norm(each)}
        best, todo_calls, seen = None, [layer], set()
        while todo_calls:
            call = todo_calls.pop()
            if call.index in seen:
                continue
            seen.add(call.index)
            for tensor in call.outputs:
                if call is not layer and not self._leads(call, tensor, factor, maker, between):
                    continue
                view = self._layout(tensor, wanted, layer.outputs[0])
                if view is not None and (best is None or call.index >= best.call.index):
                    best = Spot(call, out_slot(call, tensor), view, tensor)
                norm = normed.get(id(tensor))
                if norm is not None and norm.made_by[0] in between:
                    todo_calls.append(self.calls[norm.made_by[0]])
            todo_calls.extend(self.calls[reader] for reader, _ in call.readers if reader in between and self.calls[reader].name in _VIEWS)
        return best

    def _is_layer(self, call: Call) -> bool:
        """A product with weights, which may be turned first."""
        return call.name in _LAYERS and any(each.ndim > 1 and (id(each) in self._weights or maker is not None and each.ndim == 2
                                                               and not self.of_input(maker)) for each, maker in zip(call.inputs, call.made_of))

    def _leads(self, call: Call, tensor: Any, factor: Any, maker: Optional[int], between: set) -> bool:
        """Whether a tensor of a call that gives several is the one that the factor is made of."""
        if len(call.outputs) == 1 or tensor is factor:
            return True
        mine = [reader for reader, position in call.readers if self.calls[reader].inputs[position] is tensor]
        return any(reader in between or reader == maker for reader in mine)

    def _before_repeats(self, maker: Optional[int], wanted: tuple, heads: int) -> Optional[Spot]:
        """The heads of a factor before they are repeated for groups."""
        while maker is not None and self.calls[maker].name in _VIEWS | _REPEATS:
            call = self.calls[maker]
            for tensor in call.outputs:
                view = self._layout(tensor, wanted)
                if view is not None and view.to(tensor, self.batch).shape[2] == heads and heads != wanted[2]:
                    return Spot(call, out_slot(call, tensor), view, tensor)
            maker = next((made for made in call.made_of if made is not None), None)
        if maker is None or heads == wanted[2]:
            return None
        call = self.calls[maker]
        view = self._layout(call.outputs[0], wanted)
        return Spot(call, out_slot(call, call.outputs[0]), view, call.outputs[0]) if view is not None else None

    def _is_norm(self, inside: Inside) -> bool:
        """A module of one-dimensional weights that gives back what has the sizes of its input."""
        if inside.module is None or not inside.inputs or not inside.outputs or inside.inputs[0].shape != inside.outputs[0].shape:
            return False
        sizes = [each.ndim for each in inside.module.parameters()]
        return all(size == 1 for size in sizes) and (bool(sizes) or any(
            call.name in ("layer_norm", "rms_norm") for call in self.calls[inside.first:inside.last]))

    # Blocks and streams

    def _find_blocks(self) -> None:
        found: dict[Path, Inside] = {}
        paths = {each.path: each for each in self.modules}
        own = [call for call, _, _ in self.trace.own]
        for call in [each.call for each in self.attentions if each not in self._symbols] + own:
            at = self._block_of(call.path, paths)
            if at is not None:
                found.setdefault(at, paths[at])
        ordered = sorted(found.items(), key=lambda each: each[1].first)
        sides = {side: [path for path, _ in ordered if side in _where(path).lower()] for side in ("encoder", "decoder")}
        both = all(sides.values()) and sum(map(len, sides.values())) == len(ordered)
        counts: dict[str, int] = {}
        names = [inside.name for _, inside in ordered]
        for path, inside in ordered:
            side = next((side for side in ("decoder", "encoder") if path in sides[side]), "blocks") if both else "blocks"
            self.blocks.append(Block(f"{side}.{counts.get(side, 0)}", path, inside.module, again=names.count(inside.name) > 1, where=inside))
            counts[side] = counts.get(side, 0) + 1

    def _block_of(self, path: Path, paths: dict[Path, Inside]) -> Optional[Path]:
        real = [at for at in range(1, len(path) + 1) if path[:at] in paths]
        for pattern in r"(.*\.)?\d+$", r".*\d+$":
            numbered = [at for at in reversed(real) if re.match(pattern, path[at - 1][0])]
            for at in numbered[:2]:  # blocks may be numbered within blocks, which then have one addition each
                if self._additions(paths[path[:at]]) > 1:
                    return path[:at]
            if numbered:
                return path[:numbered[0]]
        for at in reversed(real):  # a block without a number has additions
            inside = paths[path[:at]]
            stream = next((each for each in inside.inputs if each.ndim == 3), None)
            if stream is not None and any(call.name in _ADDS and call.path == path[:at] and call.outputs[0].shape == stream.shape
                                          for call in self.calls[inside.first:inside.last]):
                return path[:at]
        return path[:real[-1]] if real else None

    def _additions(self, inside: Inside) -> int:
        """How much is added to the stream within a module."""
        stream = self._stream_of(inside)
        if stream is None:
            return 0
        at, out = stream
        source, end = inside.made_of[at], inside.made_by[out]
        return len(self._branches(inside.path, source, end, inside.inputs[at].shape)[0]) if source is not None and end is not None else 0

    def _stream_of(self, inside: Inside) -> Optional[tuple[int, int]]:
        """Which of the tensors that a module gets, and of those that it gives, are the stream."""
        at = next((at for at, each in enumerate(inside.inputs) if each.ndim == 3 and each.is_floating_point()), None)
        if at is None:
            return None
        out = next((out for out, each in enumerate(inside.outputs) if each.ndim == 3 and each.shape == inside.inputs[at].shape), None)
        return None if out is None else (at, out)

    def block_at(self, path: Path) -> Optional[Block]:
        fitting = [block for block in self.blocks if path[:len(block.path)] == block.path]
        return max(fitting, key=lambda block: len(block.path), default=None)

    def _add(self, name: str, spot: Spot, kind: Sequence[str], causal: bool = False) -> None:
        values = spot.view.to(spot.tensor, self.batch)
        if name in self.points:
            return self.leave_out(f"{name} is there twice in its block; the first is taken")
        order = {"in": 0, "scores": 1, "pattern": 2}.get(spot.slot.rstrip("0123456789"), 3)
        self.points[name] = Point(name, spot.place(), tuple(kind), tuple(values.shape), causal, at=(spot.call.index, order))

    def _made(self, tensor: Any, maker: Optional[int], view: View, otherwise: Optional[Spot]) -> Optional[Spot]:
        """A tensor where it is made; else as `otherwise`."""
        if maker:
            call = self.calls[maker]
            if any(each is tensor for each in call.outputs):
                return Spot(call, out_slot(call, tensor), view, tensor)
            if len(call.outputs) == 1 and call.outputs[0].shape == tensor.shape:
                return Spot(call, "out", view, call.outputs[0])
        return otherwise

    def _module_spot(self, inside: Inside, slot: str, view: View, tensor: Any) -> Spot:
        call = Call(inside.first if slot.startswith("in") else inside.last, inside.path, "module", 0, [], [], [], (), {})
        return Spot(call, slot, view, tensor)

    def _find_streams(self, block: Block) -> None:
        inside = block.where
        assert inside is not None
        if block.again:
            return self.leave_out(f"{block.name}: {inside.name} is called again and again, so that it has no streams of its own")
        found = self._stream_of(inside)
        if found is None:
            return self.leave_out(f"{block.name}: {inside.name} hands no stream [S, n, width] on, so that it has none")
        at, out = found
        stream, lengths = inside.inputs[at], {each.pattern.shape[2] for each in self._in(block)}
        second = stream.shape[1] == self.batch and stream.shape[0] in lengths and stream.shape[1] not in lengths
        first = stream.shape[0] == self.batch and not second
        if not first and not second:
            return self.leave_out(f"{block.name}: its stream is {list(stream.shape)}, which is not of {self.batch} examples")
        view = View() if first else View(("permute", 1, 0, 2))
        block.stream, block.returned = view, inside.returned
        result, source, end = inside.outputs[out], inside.made_of[at], inside.made_by[out]
        pre = self._made(stream, source, view, self._module_spot(inside, f"in{at}", view, stream))
        post = self._made(result, end, view, self._module_spot(inside, f"out{out}", view, result))
        assert pre is not None and post is not None
        self._add(f"{block.name}.hook_resid_pre", pre, KINDS["stream"])
        self._add(f"{block.name}.hook_resid_post", post, KINDS["stream"])
        if source is None or end is None:
            return
        branches, parallel, normed = self._branches(block.path, source, end, stream.shape)
        block.facts.update(parallel=parallel, post_norm=normed)
        if not branches:
            self.leave_out(f"{block.name}: its output is not its input and what is added to it")
        taken, trunks = set(), []
        for call, position, trunk, maker, before in branches:
            name = {"attn": "hook_attn_out", "cross": "hook_cross_attn_out", "mlp": "hook_mlp_out"}[self._kind(block, maker, before)]
            if name in taken:
                self.leave_out(f"{block.name}.{name} is there twice; the first is taken")
                continue
            taken.add(name)
            flat = View(("unfold",)) if call.inputs[position].ndim == 2 else view
            self._add(f"{block.name}.{name}", Spot(call, f"in{position}", flat, call.inputs[position]), KINDS["stream"])
            trunks.append((call, trunk))
        if not parallel:
            for (call, trunk), name in zip(trunks[1:], ("hook_resid_mid", "hook_resid_mid_cross")):
                flat = View(("unfold",)) if call.inputs[trunk].ndim == 2 else view
                spot = self._made(call.inputs[trunk], call.made_of[trunk], flat, Spot(call, f"in{trunk}", flat, call.inputs[trunk]))
                assert spot is not None
                self._add(f"{block.name}.{name}", spot, KINDS["stream"])

    def _in(self, block: Block) -> Iterator[Attention]:
        return (each for each in self.attentions if each not in self._symbols and self.block_at(each.call.path) is block)

    def _large(self, call: Call, shape: Any) -> list[tuple[int, Optional[int]]]:
        """Those tensors of a call that have the size of a stream, also [S n, width], and what made them."""
        return [(position, maker) for position, (each, maker) in enumerate(zip(call.inputs, call.made_of))
                if each.ndim in (2, 3) and each.shape[-1] == shape[-1] and each.numel() == shape.numel()]

    def _branches(self, path: Path, source: int, end: int, shape: Any) -> tuple[list[tuple[Call, int, int, int, int]], bool, bool]:
        """What is added to the stream in a block, in order: (addition, which of its tensors, which the stream is, what made it, the
        calls before it); whether branches are parallel; whether a norm stands on the stream."""
        found: list[tuple[Call, int, int, int, int]] = []
        parallel = normed = False
        at, norms = end, {each.made_by[0]: each for each in self.modules if self._is_norm(each)}
        while at != source:
            call = self.calls[at]
            large = self._large(call, shape)
            if call.path[:len(path)] != path or not large:
                return [], False, False
            if call.name in _ADDS and len(large) == 2 and None not in (large[0][1], large[1][1]):
                trunk = self._trunk(large, source)
                if trunk is None:
                    return [], False, False
                branch = large[1] if large[0] is trunk else large[0]
                parts = self._parts(branch, source, shape)
                if not self.calls[branch[1]].above >> trunk[1] & 1:
                    parallel = True  # (x + a) + m
                before = self.calls[trunk[1]].above | 1 << trunk[1]
                for owner, position, maker in reversed(parts or [(call, branch[0], branch[1])]):
                    found.append((owner, position, trunk[0], maker, before))
                parallel = parallel or bool(parts)
                at = trunk[1]
            elif at in norms and norms[at].made_of[0] is not None and norms[at].path[:len(path)] == path:
                normed, at = True, norms[at].made_of[0]
            elif call.name in _ELEMENTWISE | {"layer_norm", "rms_norm"} and large[0][1] is not None:
                normed, at = normed or call.name.endswith("norm"), large[0][1]
            else:
                return [], False, False
        return found[::-1], parallel, normed

    def _trunk(self, pair: list[tuple[int, Any]], source: int) -> Optional[tuple[int, Any]]:
        """Which of two added tensors is the stream: the one that the other is made of, or the one that was added to it before."""
        (_, p), (_, q) = pair
        if self.calls[q].above >> p & 1:
            return pair[0]
        if self.calls[p].above >> q & 1:
            return pair[1]
        for each in pair:
            call = self.calls[each[1]]
            if call.name in _ADDS and source in call.made_of:
                return each
        fitting = [each for each in pair if each[1] == source or self.calls[each[1]].above >> source & 1]
        return fitting[0] if len(fitting) == 1 else None

    def _parts(self, branch: tuple[int, Any], source: int, shape: Any) -> list[tuple[Call, int, int]]:
        """Two branches that are added before the stream is."""
        call = self.calls[branch[1]]
        large = self._large(call, shape)
        if call.name not in _ADDS or len(large) != 2 or None in (large[0][1], large[1][1]):
            return []
        (a, p), (b, q) = large
        made = all(self.calls[each].above >> source & 1 for each in (p, q))
        apart = not self.calls[q].above >> p & 1 and not self.calls[p].above >> q & 1
        attends = [bool(self._within(each, self.calls[source].above | 1 << source)) for each in (p, q)]
        return [(call, a, p), (call, b, q)] if made and apart and attends[0] != attends[1] else []

    def _within(self, maker: int, before: int) -> list[Attention]:
        mine = (self.calls[maker].above | 1 << maker) & ~before
        return [each for each in self.attentions if mine >> each.call.index & 1 and each not in self._symbols]

    def _kind(self, block: Block, maker: int, before: int) -> str:
        inside = [each for each in self._within(maker, before) if self.block_at(each.call.path) is block]
        if not inside:
            return "mlp"
        return "cross" if all(self._is_cross(block, each) for each in inside) else "attn"

    def _is_cross(self, block: Block, attention: Attention) -> bool:
        inside = block.where
        assert inside is not None
        stream = next((maker for each, maker in zip(inside.inputs, inside.made_of) if each.ndim == 3), None)
        keys = attention.keys
        return stream is not None and keys is not None and keys != stream and not self.calls[keys].above >> stream & 1

    # Names

    def _name_attentions(self) -> None:
        for attention in self.attentions:
            if attention in self._symbols:
                following = [block for block in self.blocks if block.where and block.where.last > attention.call.index]
                if following and attention.pattern.shape[2] != 1:
                    block = following[0]
                    for name in "hook_attn_scores", "hook_pattern":
                        self._add(f"{block.name}.sym.{name}", attention.spots[name], ("batch", "head", "position", "symbol"))
                    block.facts["symbols"] = attention.pattern.shape[3]
                continue
            found = self.block_at(attention.call.path)
            if found is not None:
                self._name(found, attention)

    def _name(self, block: Block, attention: Attention) -> None:
        rows, columns, length = *attention.pattern.shape[2:], self._length(block)
        cross = self._is_cross(block, attention)
        part = "rel" if attention.relational else "cross_attn" if cross else "attn"
        if length is not None and (rows != length or columns != length and not cross):
            return self.leave_out(f"{block.name}: its maps are {rows} x {columns}, not of the {length} positions")
        causal = rows == columns > 1 and not bool((attention.pattern.triu(1) > 0).any())
        if attention.relational:
            self._find_relational(attention)
        for name, spot in attention.spots.items():
            kind = KINDS["pattern"] if name in ("hook_attn_scores", "hook_pattern") else KINDS["relation"] if name == "hook_r" else \
                ("batch", "position", "head", "relation") if name == "hook_attended_r" else \
                ("batch", "position", "relation", "dim") if name.startswith("hook_rel_") else KINDS["head"]
            self._add(f"{block.name}.{part}.{name}", spot, kind, causal and name in ("hook_attn_scores", "hook_pattern", "hook_r"))
        heads = attention.pattern.shape[1]
        facts = {"heads": heads, "causal": causal}
        if "hook_k" in attention.spots:
            spot = attention.spots["hook_k"]
            facts["key_heads"] = spot.view.to(spot.tensor, self.batch).shape[2]
        if "hook_z" in attention.spots:
            spot = attention.spots["hook_z"]
            facts["head_dim"] = spot.view.to(spot.tensor, self.batch).shape[3]
        if "hook_r" in attention.spots:
            facts["relations"] = attention.spots["hook_r"].view.to(attention.spots["hook_r"].tensor, self.batch).shape[3]
        block.facts.setdefault(part, facts)

    def _length(self, block: Block) -> Optional[int]:
        if block.stream is None or block.where is None:
            return None
        stream = next(each for each in block.where.inputs if each.ndim == 3 and each.is_floating_point())
        return block.stream.to(stream, self.batch).shape[1]

    def _find_relational(self, attention: Attention) -> None:
        """hook_z_sym, hook_z_rel and hook_z of a relational attention, and the factors of its relations."""
        if "hook_v" in attention.spots:
            attention.spots["hook_s"] = attention.spots.pop("hook_v")
        symbols = attention.spots.pop("hook_z", None)
        if symbols is not None:
            attention.spots["hook_z_sym"] = symbols
        add = self._reader(symbols.call, _ADDS) if symbols is not None else None
        if add is not None and symbols is not None and add.inputs[0].shape == add.inputs[-1].shape and len(add.inputs) == 2:
            other = 1 - next(position for position, maker in enumerate(add.made_of) if maker == symbols.call.index)
            attention.spots["hook_z_rel"] = Spot(add, f"in{other}", symbols.view, add.inputs[other])
        start = symbols.call if symbols is not None else attention.spots["hook_attended_r"].call
        layer = self._reader(start, {"linear", "addmm"})
        heads = attention.pattern.shape[1]
        if layer is not None and layer.inputs[0].ndim == 3 and layer.inputs[0].shape[2] % heads == 0:
            attention.spots["hook_z"] = Spot(layer, "in0", View(("split", 2, heads)), layer.inputs[0])
        relation = attention.spots.get("hook_r")
        if relation is None:
            return
        position = int(relation.slot[2:])
        product = self._product_above(relation.call.made_of[position], tuple(relation.tensor.shape))
        if product is not None and product.name in ("matmul", "__matmul__") and all(each.ndim == 4 for each in product.inputs):
            for name, at, view in ("q", 0, View(("permute", 0, 2, 1, 3))), ("k", 1, View(("permute", 0, 3, 1, 2))):
                attention.spots[f"hook_rel_{name}"] = Spot(product, f"in{at}", view, product.inputs[at])

    def _reader(self, call: Call, names: set[str]) -> Optional[Call]:
        """The first call of a name that reads what a call gives, through views and additions."""
        todo, seen = [call.index], set()
        while todo:
            index = todo.pop(0)
            for reader, _ in self.calls[index].readers:
                each = self.calls[reader]
                if each.name in names:
                    return each
                if reader not in seen and each.name in _VIEWS | _ADDS:
                    seen.add(reader)
                    todo.append(reader)
        return None

    def _find_own(self) -> None:
        """What the model names by relascope.point."""
        for call, name, kind in self.trace.own:
            block, tensor = self.block_at(call.path), call.outputs[0]
            full = f"{block.name}.{name}" if block is not None else name
            if tensor.ndim != len(KINDS[kind]) or tensor.shape[0] != self.batch:
                self.leave_out(f"{full} has the shape {list(tensor.shape)}; [{', '.join(KINDS[kind])}] is needed for the kind '{kind}'")
                continue
            self.points.pop(full, None)  # what is named is meant
            square = kind in ("pattern", "scores") and tensor.shape[2] == tensor.shape[3] > 1
            self._add(full, Spot(call, "out", View(), tensor), KINDS[kind], square and kind == "pattern" and not bool((tensor.triu(1) != 0).any()))
            if block is not None and kind == "pattern":
                block.facts.setdefault(name.split(".")[0], {"heads": tensor.shape[1]})

    def _find_last(self, scores: Any) -> None:
        """What reads the last stream, and the scores."""
        last = next((block for block in reversed(self.blocks) if block.stream is not None and block.where), None)
        if last is not None and last.where is not None and last.stream is not None:
            result = next(each for each in last.where.outputs if each.ndim == 3)
            for inside in self.modules:
                if inside.inputs and inside.inputs[0] is result and self._is_norm(inside) and inside.first >= last.where.last:
                    self._add("ln_final.hook_normalized", self._module_spot(inside, "out", last.stream, inside.outputs[0]), KINDS["stream"])
                    break
        shape = tuple(scores.shape)
        axes = ("batch", "dim") if len(shape) == 2 else ("batch", "position", "dim")
        self.points["hook_logits"] = Point("hook_logits", Place((), "scores", 0, "out"), axes, shape, at=(len(self.calls) + 1, 0))


def _where(path: Path) -> str:
    return next((name for name, _ in reversed(path) if name and name != "multi_head_attention_forward"), "the model")


def _proportional(a: Any, b: Any) -> bool:
    """Whether a is b, or b by one factor."""
    if a.shape != b.shape:
        return False
    factor = float((a * b).sum() / (b * b).sum().clamp_min(1e-30))
    return bool(((a - factor * b).abs().max() <= 2e-5 * a.abs().max().clamp_min(1e-30)))
