# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds attention in a traced pass: what is divided by a softmax and multiplies, with its queries, keys and values."""
from __future__ import annotations

import dataclasses
from typing import Any, Optional

from .passes import View, pattern_of
from .trace import ELEMENTWISE, LAYERS, PRODUCTS, REPEATS, VIEWS, Call, Inside, Spot, Trace, out_slot, where_of


@dataclasses.dataclass(eq=False)
class Attention:
    """A softmax, with what is multiplied before and after it."""
    call: Call
    pattern: Any                                  # [S, h, i, j]; without values where a kernel makes it
    causal: bool = False                          # nothing above the diagonal
    weights: bool = True                          # its rows add up to 1, or 0
    spots: dict[str, Spot] = dataclasses.field(default_factory=dict)
    last: int = 0                                 # the call of the product
    keys: Optional[int] = None                    # what made them
    relational: bool = False

    def relations(self, batch: int) -> Any:
        """r_ij that the pattern multiplies, [S, i, j, relation]; None if there are none."""
        spot = self.spots.get("hook_r")
        return None if spot is None else spot.view.to(spot.tensor, batch)


def attention_of(call: Call, pattern: Any, kept: bool = True) -> Attention:
    """An attention with what its pattern shows. kept: whether its values are, of which a trace has many."""
    import torch
    rows, columns = pattern.shape[2:]
    sums, far = pattern.float().sum(-1), 1e-3 if pattern.dtype.itemsize >= 4 else 2e-2
    causal = rows == columns > 1 and not bool((pattern.triu(1) > 0).any())
    weights = bool((((sums - 1).abs() < far) | (sums < far)).all())
    return Attention(call, pattern if kept else torch.empty_like(pattern, device="meta"), causal, weights)


def _letters(call: Call) -> Optional[tuple[list[str], str]]:
    """Of an einsum of two tensors the letters of both and of the result."""
    equation = call.args[0] if call.args else None
    if not isinstance(equation, str) or "->" not in equation or "." in equation or len(call.inputs) != 2:
        return None
    left, result = equation.replace(" ", "").split("->")
    return left.split(","), result


def _proportional(a: Any, b: Any) -> bool:
    """Whether a is b, or b by one factor."""
    if a.shape != b.shape:
        return False
    factor = float((a * b).sum() / (b * b).sum().clamp_min(1e-30))
    return bool(((a - factor * b).abs().max() <= 2e-5 * a.abs().max().clamp_min(1e-30)))


class Attentions:
    """The attentions of one traced pass."""

    def __init__(self, model: Any, trace: Trace, batch: int):
        self.calls, self.modules, self.trace, self.batch = trace.calls, trace.modules, trace, batch
        self.left_out: list[str] = []
        self._weights = {id(each) for each in model.parameters()}
        self.attentions = [found for found in map(self._attention, list(self.calls)) if found]

    def leave_out(self, text: str) -> None:
        if text not in self.left_out:
            self.left_out.append(text)

    def of_input(self, maker: Optional[int]) -> bool:
        return maker is not None and (maker == 0 or bool(self.calls[maker].above & 1))

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
            self.leave_out(f"{where_of(call.path)}: its maps {list(pattern.shape)} are of pieces of the input")
            return None
        found = attention_of(call, view.to(pattern, self.batch))
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
                if each.name in PRODUCTS and len(each.inputs) >= 2:
                    found.append((each, position))
                elif each.name in ELEMENTWISE or each.name in ("bfloat16", "half"):
                    todo.append((reader, depth + 1))
        return sorted(found, key=lambda each: each[0].index)

    def _fused(self, call: Call) -> Optional[Attention]:
        import torch
        query = call.inputs[0]
        given = dict(zip(("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale"), call.args), **call.kwargs)
        taken: list[Any] = []
        pattern_of(**given, at=lambda slot, tensor: taken.append(tensor) or tensor)
        view = self._maps(taken[1])
        if view is None:
            self.leave_out(f"{where_of(call.path)}: its maps {list(taken[1].shape)} are of pieces of the input")
            return None
        found = attention_of(call, view.to(taken[1], self.batch), kept=False)
        found.last, found.keys = call.index, call.made_of[1]
        for name, slot, tensor in ("hook_attn_scores", "scores", taken[0]), ("hook_pattern", "pattern", taken[1]):
            found.spots[name] = Spot(call, slot, view, torch.empty_like(tensor, device="meta"))
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
        at = self.product_above(found.call.made_of[0], tuple(found.call.inputs[0].shape))
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

    def product_above(self, maker: Optional[int], shape: tuple) -> Optional[Call]:
        todo, seen = [(maker, 0)], set()
        while todo:
            index, depth = todo.pop(0)
            if index is None or index in seen or depth > 14:
                continue
            seen.add(index)
            call = self.calls[index]
            if call.name in PRODUCTS and not any(id(each) in self._weights for each in call.inputs):
                return call
            if call.name in ELEMENTWISE:
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
            if call.name in PRODUCTS or call.name == "scaled_dot_product_attention" or len(between) > 200:
                continue  # as of positions with frequencies, by which a factor is rotated
            between.add(index)
            todo.extend(call.made_of)
        if not layers:
            return None
        layer = max(layers, key=lambda call: call.index)
        normed = {id(each.inputs[0]): each for each in self.modules if each.inputs and each.outputs and self.is_norm(each)}
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
            todo_calls.extend(self.calls[reader] for reader, _ in call.readers if reader in between and self.calls[reader].name in VIEWS)
        return best

    def _is_layer(self, call: Call) -> bool:
        """A product with weights, which may be turned first."""
        return call.name in LAYERS and any(each.ndim > 1 and (id(each) in self._weights or maker is not None and each.ndim == 2
                                                               and not self.of_input(maker)) for each, maker in zip(call.inputs, call.made_of))

    def _leads(self, call: Call, tensor: Any, factor: Any, maker: Optional[int], between: set) -> bool:
        """Whether a tensor of a call that gives several is the one that the factor is made of."""
        if len(call.outputs) == 1 or tensor is factor:
            return True
        mine = [reader for reader, position in call.readers if self.calls[reader].inputs[position] is tensor]
        return any(reader in between or reader == maker for reader in mine)

    def _before_repeats(self, maker: Optional[int], wanted: tuple, heads: int) -> Optional[Spot]:
        """The heads of a factor before they are repeated for groups."""
        while maker is not None and self.calls[maker].name in VIEWS | REPEATS:
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

    def is_norm(self, inside: Inside) -> bool:
        """A module of one-dimensional weights that gives back what has the sizes of its input."""
        if inside.module is None or not inside.inputs or not inside.outputs or inside.inputs[0].shape != inside.outputs[0].shape:
            return False
        sizes = [each.ndim for each in inside.module.parameters()]
        return all(size == 1 for size in sizes) and (bool(sizes) or any(
            call.name in ("layer_norm", "rms_norm") for call in self.calls[inside.first:inside.last]))
