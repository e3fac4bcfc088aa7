# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the points of a model, of any code, by following the tensors of one pass of two examples (resources/docs/python.md section 8).

A pattern is a softmax whose result is the first factor of a product, or a call of scaled_dot_product_attention; a block is the
innermost numbered module around one; the streams are what its additions add to. Names of classes are not looked at. Each point is
proved before it is offered (proofs.py); what was not found, or failed, is said in `left_out`.
"""
from __future__ import annotations

import dataclasses
import re
from typing import Any, Iterator, Optional, Sequence

from .attentions import Attention, Attentions
from .passes import KINDS, Path, Place, View
from .trace import ADDS, ELEMENTWISE, VIEWS, Call, Inside, Spot, Trace, out_slot, where_of


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
    end: Optional[int] = None       # the call that makes its output


class Finder(Attentions):
    """The points of one traced pass."""

    def __init__(self, model: Any, trace: Trace, scores: Any, batch: int):
        super().__init__(model, trace, batch)
        self.points: dict[str, Point] = {}
        self.blocks: list[Block] = []
        self._symbols = [each for each in self.attentions if not self.of_input(each.keys) and "hook_r" not in each.spots]
        self._find_blocks()
        for block in self.blocks:
            self._find_streams(block)
        self._name_attentions()
        self._find_own()
        self._find_last(scores)
        self.points = dict(sorted(self.points.items(), key=lambda each: each[1].at))

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
        sides = {side: [path for path, _ in ordered if side in where_of(path).lower()] for side in ("encoder", "decoder")}
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
            if stream is not None and any(call.name in ADDS and call.path == path[:at] and call.outputs[0].shape == stream.shape
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
        outside = self._added_outside(inside, source, stream.shape) if source is not None and not self._additions(inside) else []
        if outside:  # what the module gives is added to the stream by whoever calls it, as is what another one gives
            end, result, block.returned = outside[-1][0].index, outside[-1][0].outputs[0], None
        pre = self._made(stream, source, view, self._module_spot(inside, f"in{at}", view, stream))
        post = self._made(result, end, view, self._module_spot(inside, f"out{out}", view, result))
        assert pre is not None and post is not None
        block.end = end
        self._add(f"{block.name}.hook_resid_pre", pre, KINDS["stream"])
        self._add(f"{block.name}.hook_resid_post", post, KINDS["stream"])
        if source is None or end is None:
            return
        branches, parallel = (outside, False) if outside else self._branches(block.path, source, end, stream.shape)
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

    def _added_outside(self, inside: Inside, source: int, shape: Any) -> list[tuple[Call, int, int, int, int]]:
        """Of a module that adds nothing to the stream the additions behind it, up to the stream of the next block, as _branches()."""
        found: list[tuple[Call, int, int, int, int]] = []
        streams = {block.where.made_of[at[0]] for block in self.blocks if block.where and (at := self._stream_of(block.where))} - {source}
        at = source
        while at not in streams:
            added = None
            for reader, position in sorted(self.calls[at].readers):
                call = self.calls[reader]
                other = [(each, maker) for each, maker in self._large(call, shape) if each != position and maker is not None]
                if call.name in ADDS and call.path == inside.path[:-1] and other and self.calls[other[0][1]].above >> at & 1:
                    added = (call, other[0][0], position, other[0][1], self.calls[at].above | 1 << at)
                    break
            if added is None:
                break
            found.append(added)
            at = added[0].index
        return found

    def _in(self, block: Block) -> Iterator[Attention]:
        return (each for each in self.attentions if each not in self._symbols and self.block_at(each.call.path) is block)

    def _large(self, call: Call, shape: Any) -> list[tuple[int, Optional[int]]]:
        """Those tensors of a call that have the size of a stream, also [S n, width], and what made them."""
        return [(position, maker) for position, (each, maker) in enumerate(zip(call.inputs, call.made_of))
                if each.ndim in (2, 3) and each.shape[-1] == shape[-1] and each.numel() == shape.numel()]

    def _branches(self, path: Path, source: int, end: int, shape: Any) -> tuple[list[tuple[Call, int, int, int, int]], bool]:
        """What is added to the stream in a block, in order: (addition, which of its tensors, which the stream is, what made it, the
        calls before it); whether branches are parallel."""
        found: list[tuple[Call, int, int, int, int]] = []
        parallel = False
        at, norms = end, {each.made_by[0]: each for each in self.modules if self.is_norm(each)}
        while at != source:
            call = self.calls[at]
            large = self._large(call, shape)
            if call.path[:len(path)] != path or not large:
                return [], False
            if call.name in ADDS and len(large) == 2 and None not in (large[0][1], large[1][1]):
                trunk = self._trunk(large, source)
                if trunk is None:
                    return [], False
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
                at = norms[at].made_of[0]
            elif call.name in ELEMENTWISE | {"layer_norm", "rms_norm"} and large[0][1] is not None:
                at = large[0][1]
            else:
                return [], False
        return found[::-1], parallel

    def _trunk(self, pair: list[tuple[int, Any]], source: int) -> Optional[tuple[int, Any]]:
        """Which of two added tensors is the stream: the one that the other is made of, or the one that was added to it before."""
        (_, p), (_, q) = pair
        if self.calls[q].above >> p & 1:
            return pair[0]
        if self.calls[p].above >> q & 1:
            return pair[1]
        for each in pair:
            call = self.calls[each[1]]
            if call.name in ADDS and source in call.made_of:
                return each
        fitting = [each for each in pair if each[1] == source or self.calls[each[1]].above >> source & 1]
        return fitting[0] if len(fitting) == 1 else None

    def _parts(self, branch: tuple[int, Any], source: int, shape: Any) -> list[tuple[Call, int, int]]:
        """Two branches that are added before the stream is."""
        call = self.calls[branch[1]]
        large = self._large(call, shape)
        if call.name not in ADDS or len(large) != 2 or None in (large[0][1], large[1][1]):
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
        causal = attention.causal
        if attention.relational:
            self._find_relational(attention)
        for name, spot in attention.spots.items():
            kind = KINDS["pattern"] if name in ("hook_attn_scores", "hook_pattern") else KINDS["relation"] if name == "hook_r" else \
                ("batch", "position", "head", "relation") if name == "hook_attended_r" else \
                ("batch", "position", "relation", "dim") if name.startswith("hook_rel_") else KINDS["head"]
            self._add(f"{block.name}.{part}.{name}", spot, kind, causal and name in ("hook_attn_scores", "hook_pattern", "hook_r"))
        heads = attention.pattern.shape[1]
        facts = {"heads": heads, "causal": causal}
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
        add = self._reader(symbols.call, ADDS) if symbols is not None else None
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
        product = self.product_above(relation.call.made_of[position], tuple(relation.tensor.shape))
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
                if reader not in seen and each.name in VIEWS | ADDS:
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
            for inside in self.modules:
                if inside.inputs and inside.made_of[0] == last.end is not None and self.is_norm(inside) and inside.first >= last.where.last:
                    self._add("ln_final.hook_normalized", self._module_spot(inside, "out", last.stream, inside.outputs[0]), KINDS["stream"])
                    break
        shape = tuple(scores.shape)
        axes = ("batch", "dim") if len(shape) == 2 else ("batch", "position", "dim")
        self.points["hook_logits"] = Point("hook_logits", Place((), "scores", 0, "out"), axes, shape, at=(len(self.calls) + 1, 0))
