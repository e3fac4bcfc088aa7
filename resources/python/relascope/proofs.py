# SPDX-License-Identifier: GPL-3.0-or-later
"""Passes through the points of a model, and the proof of each point before it is offered (resources/docs/python.md section 8)."""
from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence

from .passes import Modules, PassError, Sites, View, Visitor, meeting, quiet
from .points import Block, Finder, Point
from .reading import RunError
from .trace import Trace

Call = Callable[[Any], Any]  # what it is called with, to the scores
CLOSE, CLOSE_16 = 1e-5, 2e-2


class Found:
    """The points of a model, as they were found and proved."""

    def __init__(self, model: Any, finder: Finder, scores: View):
        self.points, self.blocks, self.left_out = finder.points, finder.blocks, finder.left_out
        self.scores = scores  # of what the call gives
        self.drops, self.modules = finder.trace.drops, Modules(model)
        embedded = next((call for call in finder.calls if call.name == "embedding" and len(call.inputs) > 1 and finder.of_input(call.made_of[0])), None)
        self.vocabulary = int(embedded.inputs[1].shape[0]) if embedded else 0
        self._sites: dict[frozenset, Sites] = {}

    def sites(self, names: Sequence[str]) -> Optional[Sites]:
        """The places of some points, in the order of the pass."""
        key = frozenset(names) - {"hook_logits"}
        if not key and not self.drops:
            return None
        if key not in self._sites:
            if len(self._sites) > 64:
                self._sites.clear()
            made = self._sites[key] = Sites()
            for name, point in self.points.items():
                if name in key:
                    made.add(point.place, name)
        return self._sites[key]

    def block(self, name: str) -> Block:
        found = next((each for each in self.blocks if each.name == name), None)
        if found is None:
            raise PassError(name, "is no block of this model")
        return found


class Visit(Visitor):
    """Hands the tensors of points, in the order of their axes, to `change`, which returns the one to go on with."""

    def __init__(self, points: Mapping[str, Point], batch: int, change: Callable[[str, Any], Any]):
        self.points, self.batch, self.change = points, batch, change
        self.met: set[str] = set()

    def at(self, name: str, tensor: Any) -> Any:
        point = self.points[name]
        view = point.place.view
        if name in self.met:
            return tensor
        self.met.add(name)
        try:
            seen = view.to(tensor, self.batch)
        except RuntimeError:
            raise PassError(name, f"has the shape {list(tensor.shape)} in this pass") from None
        if seen.ndim != len(point.axes):
            raise PassError(name, f"has the shape {list(seen.shape)} in this pass; [{', '.join(point.axes)}] was found")
        made = self.change(name, seen)
        if made is seen:
            return tensor
        return view.back(made).to(tensor.dtype)


@contextlib.contextmanager
def skipped(found: Found, block: Optional[str], stream: Any, visit: Visit, names: Sequence[str]) -> Iterator[None]:
    """The blocks up to one are not run; their output is a stream in the order of its axes. Points where it is made are met."""
    if block is None:
        yield
        return
    last = found.block(block)
    side = [each for each in found.blocks if each.name.split(".")[0] == block.split(".")[0]]
    gone = side[:side.index(last) + 1]
    if last.stream is None or not last.skip:
        raise PassError(block, "cannot be skipped: the rest of the model needs more than its stream")
    given = last.stream.back(stream)
    post = found.points[f"{last.name}.hook_resid_post"].place
    same = [name for name, point in found.points.items() if point.place.path == post.path and point.place.function == post.function
            and point.place.number == post.number and point.place.slot == post.slot]

    def instead(each: Block) -> Callable[..., Any]:
        def forward(*_: Any, **__: Any) -> Any:
            out = given
            if each is last:
                for name in same:
                    if name in names:
                        out = visit.at(name, out)
            return _like(each.returned, out)
        return forward
    with contextlib.ExitStack() as stack:
        for each in gone:
            if "forward" in vars(each.module):
                raise PassError(block, "cannot be skipped: the forward of its module is already replaced, as by a device_map")
            each.module.forward = instead(each)
            stack.callback(delattr, each.module, "forward")
        yield


def _like(returned: Any, stream: Any) -> Any:
    """What a block returned, with another stream and nothing else."""
    if hasattr(returned, "detach"):
        return stream
    if isinstance(returned, Mapping):
        return type(returned)(**{name: stream if at == 0 else None for at, name in enumerate(returned)})
    return type(returned)(stream if at == 0 else None for at, _ in enumerate(returned))


def run(found: Found, call: Callable[[], Any], names: Sequence[str], batch: int, change: Callable[[str, Any], Any], *, amp: Any = None,
        gradients: bool = False, after: Optional[tuple[str, Any]] = None) -> Any:
    """The scores of one pass, in which `change` gets the points `names` and returns the tensors to go on with."""
    if after is not None and found.block(after[0]).returned is None:  # no module to skip: its output is exchanged
        return _exchanged_after(found, call, names, batch, change, after, amp=amp, gradients=gradients)
    visit = Visit(found.points, batch, change)
    sites = found.sites(names)
    with quiet(found.modules, amp, gradients), skipped(found, after[0] if after else None, after[1] if after else None, visit, names):
        if sites is None:
            scores = call()
        else:
            with meeting(found.modules, visit, sites):
                scores = call()
        scores = found.scores.to(scores, batch)
        if "hook_logits" in names:
            scores = change("hook_logits", scores)
    return scores


def _exchanged_after(found: Found, call: Callable[[], Any], names: Sequence[str], batch: int, change: Callable[[str, Any], Any],
                     after: tuple[str, Any], **more: Any) -> Any:
    """run() of a block whose output is made outside of its module: what stands there is the given stream."""
    post = f"{after[0]}.hook_resid_post"

    def exchange(name: str, tensor: Any) -> Any:
        if name == post:
            tensor = after[1]
        return change(name, tensor) if name in names else tensor
    if not found.block(after[0]).skip:
        raise PassError(after[0], "cannot be skipped: the rest of the model needs more than its stream")
    return run(found, call, [*names, *([] if post in names else [post])], batch, exchange, **more)


def _same(a: Any, b: Any) -> bool:
    """Whether all values are equal; NaN is equal to itself."""
    return a.shape == b.shape and bool(((a == b) | (a.isnan() & b.isnan())).all())


def _close(a: Any, b: Any, far: float) -> bool:
    """Whether values are nearly equal; those that are not finite are equal."""
    if a.shape != b.shape:
        return False
    a, b = a.float(), b.float()
    finite = a.isfinite() & b.isfinite()
    if not _same(a[~finite], b[~finite]):
        return False
    a, b = a[finite], b[finite]
    return not a.numel() or bool((a - b).abs().max() <= far * b.abs().max().clamp_min(1.0))


def _not_finite(scores: Any) -> list[str]:
    """A sentence where scores are not finite."""
    odd = ~scores.isfinite()
    if not odd.any():
        return []
    classes = odd.flatten(0, -2).any(0).nonzero().flatten().tolist()
    return [f"scores of {len(classes)} of {scores.shape[-1]} classes are not finite ({scores[odd][0].item():g} of class {classes[0]}): what is computed of "
            "them may be no number"]


def find(model: Any, call: Call, given: Any, batch: int, other: Any = None, amp: Any = None) -> tuple[Found, Any]:
    """The points of a model that are found in one pass with `given`, each of them proved, and the scores. other: `given` with its
    examples the other way round. Raises RunError where the model answers differently each time."""
    trace, modules = Trace(given), Modules(model)
    with quiet(modules, amp):
        with meeting(modules, trace, None):
            raw = call(given)
        again = call(given)
    far = CLOSE_16 if raw.dtype.itemsize < 4 or amp is not None else CLOSE
    if not trace.drops and not _close(again, raw, far):
        raise RunError("model", "answers differently each time; what is drawn in its forward cannot be measured")
    scores = View(("insert", 1)) if raw.ndim == 1 else View()
    if raw.ndim == 3 and raw.shape[0] != batch and raw.shape[1] == batch:
        scores = View(("permute", 1, 0, 2))
    if raw.ndim > 3 or scores.to(raw, batch).shape[0] != batch:
        raise RunError("model", f"gives scores of the shape {list(raw.shape)} for {batch} examples; [S, classes] or [S, n, vocabulary] is "
                                "needed: give call=, a function that gets model and batch and returns them")
    finder = Finder(model, trace, scores.to(raw, batch), batch)
    found = Found(model, finder, scores)
    found.left_out += _not_finite(scores.to(raw.detach(), batch))
    if trace.drops:
        found.left_out.append("the model drops attention weights in eval() too (dropout_p); it is served without")
    _prove(found, finder, lambda: call(given), batch, far, amp)
    if other is not None:
        _prove_streams(found, lambda: call(given), lambda: call(other), batch, far, amp)
    for block in found.blocks:  # whose tensors are of the first pass
        block.where, block.returned = None, _like(block.returned, raw.new_empty(0)) if block.skip and block.returned is not None else None
    return found, found.scores.to(raw.detach(), batch)


def _drop(found: Found, name: str, why: str) -> None:
    found.points.pop(name, None)
    found._sites.clear()
    found.left_out.append(f"{name}: {why}")


def _prove(found: Found, finder: Finder, call: Callable[[], Any], batch: int, far: float, amp: Any) -> None:
    """A copy of a point changes nothing, another value changes the scores, and patterns are weights of what they multiply."""
    for attention in finder.attentions:
        if not attention.weights:
            for name, point in list(found.points.items()):
                if name.endswith("hook_pattern") and attention.spots["hook_pattern"].place().path == point.place.path:
                    _drop(found, name, "its rows do not add up to 1")
        _prove_product(found, finder, attention, batch, far)
    base = run(found, call, [], batch, lambda name, tensor: tensor, amp=amp)

    met: set[str] = set()

    def copied(names: Sequence[str]) -> bool:
        try:
            scores = run(found, call, names, batch, lambda name, tensor: (met.add(name), tensor.clone())[1], amp=amp)
            return _close(scores, base, far) and met.issuperset(names)
        except (RuntimeError, RunError, TypeError, IndexError):
            return False
    if not copied(list(found.points)):
        for name in list(found.points):
            if not copied([name]):
                _drop(found, name, "a copy of it changes the scores" if name in met else "a second pass does not meet it")
    reached = _reached(found, call, batch, amp)
    for name in list(found.points):
        if name in reached:
            continue
        found.points[name].gradient = False

        def other(_: str, tensor: Any) -> Any:
            return tensor.roll(1, -1) * 0.5 + 0.25
        changed = run(found, call, [name], batch, other, amp=amp)
        if changed.shape != base.shape or _same(changed, base):
            _drop(found, name, "another value of it does not change the scores")


def _prove_product(found: Found, finder: Finder, attention: Any, batch: int, far: float) -> None:
    """z is pattern times v."""
    import torch
    z, v = (attention.spots.get(name) for name in ("hook_z", "hook_v"))
    if z is None or v is None or attention.relational or attention.pattern.is_meta:
        return  # what a kernel makes is proved by a copy of its pattern
    heads = v.view.to(v.tensor, batch).float()
    heads = heads.repeat_interleave(attention.pattern.shape[1] // max(1, heads.shape[2]), 2)
    if heads.shape[2] != attention.pattern.shape[1] or heads.shape[1] != attention.pattern.shape[3]:
        return
    wanted = torch.einsum("bhij,bjhd->bihd", attention.pattern.float(), heads)
    if not _close(z.view.to(z.tensor, batch), wanted, 10 * far):
        found.left_out.append(f"{attention.call.path[-1][0] if attention.call.path else 'model'}: what its weights multiply is not its values alone")


def _reached(found: Found, call: Callable[[], Any], batch: int, amp: Any) -> set[str]:
    """The points with a gradient that is not zero, found in one pass."""
    import torch
    taken: dict[str, Any] = {}

    def keep(name: str, tensor: Any) -> Any:
        if not tensor.is_floating_point():
            return tensor
        leaf = tensor.clone() if tensor.requires_grad else tensor.detach().requires_grad_()
        taken[name] = leaf
        return leaf
    try:
        scores = run(found, call, list(found.points), batch, keep, amp=amp, gradients=True)
        draw = torch.Generator().manual_seed(3)
        weights = torch.randn(scores.shape, generator=draw).to(scores)
        with torch.enable_grad():
            given = torch.autograd.grad((scores * weights).sum(), list(taken.values()), allow_unused=True)
    except (RuntimeError, RunError, NotImplementedError):
        return set()
    return {name for name, gradient in zip(taken, given) if gradient is not None and bool((gradient != 0).any())}


def _prove_streams(found: Found, call: Callable[[], Any], other: Callable[[], Any], batch: int, far: float, amp: Any) -> None:
    """With the stream of other inputs after a block, and the block not run, the answer is theirs."""
    names = [f"{block.name}.hook_resid_post" for block in found.blocks if f"{block.name}.hook_resid_post" in found.points]
    streams: dict[str, Any] = {}
    own: dict[str, Any] = {}
    wanted = run(found, other, names, batch, lambda name, tensor: streams.setdefault(name, tensor.clone()), amp=amp)
    base = run(found, call, names, batch, lambda name, tensor: own.setdefault(name, tensor.clone()), amp=amp)
    alone = len({block.name.split(".")[0] for block in found.blocks}) == 1  # of two stacks the other would have to be exchanged too
    for block in found.blocks:
        name = f"{block.name}.hook_resid_post"
        if name not in streams or block.again:
            continue
        block.skip = True
        try:
            answer = run(found, call, [], batch, lambda _, tensor: tensor, amp=amp, after=(block.name, streams[name] if alone else own[name]))
            block.skip = _close(answer, wanted if alone else base, far)
        except Exception:  # noqa: BLE001: whatever the model's own code meets without what the blocks return
            block.skip = False
        if not block.skip:
            found.left_out.append(f"{block.name}: the rest of the model needs more than its stream, so that blocks before it are not skipped")


__all__ = ["Found", "Visit", "find", "run"]
