# SPDX-License-Identifier: GPL-3.0-or-later
"""What a served model answers to the requests of Relascope (resources/docs/formats.md section 24)."""
from __future__ import annotations

import contextlib
import functools
import os
import tempfile
import time
import zlib
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional

import numpy as np

from . import reading
from .door import Cancelled, Gone, Packed, Peer, unpack
from .examples import MOST_SHOWN
from .files import array_of
from .passes import PassError, own_numbers
from .points import Point
from .proofs import Found, run

if TYPE_CHECKING:
    from .serve import Served

_MOST_BATCH, _MOST_ACTIONS = 65536, 20000
_MOST_BYTES = 8 << 30


# The model

def tensors_of_model(model: Any) -> Iterator[tuple[str, Any]]:
    """Parameters and buffers by their names, each once."""
    yield from model.named_parameters()
    yield from model.named_buffers()


def version_of(served: "Served") -> int:
    """A number that changes with the weights."""
    return served.weights.number()


def step_of(served: "Served") -> int:
    """The step of its run; -1 without one."""
    return served.run.step if served.run is not None else -1


def as_own(tensor: Any, own: Any) -> Any:
    """A copy with the flag of the model's own tensor, by which PyTorch chooses how it multiplies."""
    return tensor.requires_grad_(own.requires_grad)


def snapshot_of(model: Any) -> dict[str, Any]:
    return {name: as_own(each.detach().clone(), each) for name, each in tensors_of_model(model)}


def shape_of(model: Any) -> tuple:
    """What changes by surgery: modules, and the sizes of the weights."""
    return tuple(map(id, model.modules())), tuple((id(each), tuple(each.shape)) for each in model.parameters())


def state_of(model: Any) -> tuple:
    """What a pass may change of a model: tensors by their versions, and plain values of modules."""
    tensors = tuple((id(each), 0 if each.is_inference() else each._version) for _, each in tensors_of_model(model))
    plain = tuple((name, value) for module in model.modules() for name, value in vars(module).items()
                  if name != "training" and (value is None or type(value) in (bool, int, float, str)))
    return tensors, plain


def checksum_of(model: Any) -> int:
    """CRC-32 of the values of the state dictionary, in its order, a tensor with several names once."""
    crc, seen = 0, set()
    for value in model.state_dict().values():
        if not hasattr(value, "detach") or not value.numel():
            continue
        place = (value.data_ptr(), tuple(value.shape), value.stride(), value.dtype)
        if place in seen:
            continue
        seen.add(place)
        import torch
        crc = zlib.crc32(memoryview(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()), crc)
    return crc


@contextlib.contextmanager
def with_weights(served: "Served", wanted: Any, check: Any) -> Iterator[bool]:
    """The pass runs with kept weights, or new ones, or those that the question has begun with. Whether they are others than now."""
    found: Optional[dict[str, Any]] = None
    if isinstance(wanted, Mapping) and "step" in wanted:
        found = _kept_step(served, wanted["step"])
    elif isinstance(wanted, Mapping) and "fresh" in wanted:
        found = _fresh(served, wanted["fresh"])
    elif wanted is not None:
        raise PassError("weights", f"are {str(wanted)[:40]}; a kept step or fresh is needed")
    elif check is not None and check != version_of(served):
        found = served.snapshots.get(check)
        if found is None:
            raise PassError("changed", "the weights have changed since the question began")
    if found is None:
        yield False
        return
    from torch.nn.utils.stateless import _reparametrize_module
    with _reparametrize_module(served.model, found, tie_weights=True, stack_weights=True):  # stacked: a module may have two names
        yield True


def _names_of(model: Any) -> dict[int, list[str]]:
    """All names of each tensor, which a tied one has several of."""
    names: dict[int, list[str]] = {}
    for listed in model.named_parameters(remove_duplicate=False), model.named_buffers(remove_duplicate=False):
        for name, each in listed:
            names.setdefault(id(each), []).append(name)
    return names


def _fitting(served: "Served", given: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Those of the tensors that the model has, where and as it has them."""
    import torch
    found, names = {}, _names_of(served.model)
    for name, own in tensors_of_model(served.model):
        there = next((each for each in names[id(own)] if each in given), None)
        if there is None:
            continue
        value = torch.as_tensor(np.array(given[there]) if isinstance(given[there], np.ndarray) else given[there]).clone()
        if value.shape != own.shape:
            raise PassError("weights", f"of {what} have {name} of {list(value.shape)}; the model has {list(own.shape)}")
        found[name] = as_own(value.detach().to(own.device, own.dtype), own)
    if not found:
        raise PassError("weights", f"of {what} have no tensor of this model")
    return found


def _remembered(served: "Served", key: Any, make: Any) -> dict[str, Any]:
    found = served.kept_steps[key][0] if key in served.kept_steps else None
    if found is None:
        while len(served.kept_steps) > 1:
            del served.kept_steps[next(iter(served.kept_steps))]
        found = make()
    served.kept_steps[key] = found, time.monotonic()
    return found


def _kept_steps(served: "Served") -> list[int]:
    return sorted(served.run._kept_steps("weights")) if served.run is not None else []


@functools.lru_cache(maxsize=1024)
def _checksum_in(path: str, written: int) -> int:
    return int(reading.Safetensors(path).metadata["crc32"])


def _kept_checksums(served: "Served") -> list[list[int]]:
    """The kept steps, each with the CRC-32 of its weights. One that cannot be read, or has just been removed, is left out."""
    found = []
    for step in _kept_steps(served):
        path = os.path.join(served.run.path, "weights", f"step-{step}.safetensors")
        with contextlib.suppress(OSError, reading.RunError, KeyError, ValueError):
            found.append([step, _checksum_in(path, os.stat(path).st_mtime_ns)])
    return found


def _kept_step(served: "Served", step: Any) -> dict[str, Any]:
    if type(step) is not int or step not in _kept_steps(served):
        raise PassError("weights", f"of step {str(step)[:20]} are not kept; call run.weights(step, model.state_dict())")
    path = served.run.path
    return _remembered(served, step, lambda: _fitting(served, reading.Run(path).weights(step), f"step {step}"))


def _fresh(served: "Served", seed: Any) -> dict[str, Any]:
    if served.fresh is None or type(seed) is not int:
        raise PassError("fresh", "is nothing that this program can make; give serve(fresh=), a function that gets a seed and returns a model with "
                                 "new weights")
    make = served.fresh

    def made() -> dict[str, Any]:
        with own_numbers():
            model = make(seed)
        return _fitting(served, dict(tensors_of_model(model)), "fresh()")
    return _remembered(served, ("fresh", seed), made)


# What it is

def facts_of(served: "Served", given: Any, scores: Any) -> dict[str, Any]:
    """What stays the same in a declaration."""
    model, found, examples = served.model, served.found, served.examples
    assert found is not None
    seen = examples.seen(given)
    config = getattr(model, "config", None)
    streams = next((point for name, point in found.points.items() if name.endswith("hook_resid_post")), None)
    maps = next((point for name, point in found.points.items() if name.endswith("attn.hook_pattern")), None)
    n = streams.sizes[1] if streams else maps.sizes[2] if maps else 0
    causal = [point.causal for name, point in found.points.items() if name.endswith(("attn.hook_pattern", "rel.hook_pattern"))
              and "cross" not in name and "encoder" not in name]
    shown = None if seen is not None else examples.pictures()
    if seen is None and shown is None:
        raise reading.RunError("inputs", f"are {examples.shapes(given)}; what can be shown are ids [S, n], pictures [S, channels, height, width] "
                                         "of 1, 3 or 4 channels, and floats [S, n] or [S, n, width]: give show={'images': pictures of them}, or "
                                         "inputs of such a shape and call=, a function that makes of them what the model takes")
    if shown is not None:
        given_kind: dict[str, Any] = {"kind": "image", "channels": 3, "height": shown.shape[1], "width": shown.shape[2]}
    elif seen.ndim == 4:
        given_kind = {"kind": "image", "channels": seen.shape[1], "height": seen.shape[2], "width": seen.shape[3], **examples.patches(given, n)}
    elif seen.ndim == 2:
        vocabulary = found.vocabulary or int(getattr(config, "vocab_size", 0) or 0) or int(seen.max()) + 1
        length = next((int(getattr(config, name)) for name in ("max_position_embeddings", "n_positions", "max_block_size")
                       if getattr(config, name, None)), 0) or max(seen.shape[1], examples.longest())
        others = set(given) - {"input_ids", "attention_mask", "labels"} if isinstance(given, Mapping) else set()
        given_kind = {"kind": "tokens", "length": length, "vocabulary": vocabulary, "causal": bool(causal) and all(causal), "alone": not others}
    else:
        given_kind = {"kind": "objects", "count": seen.shape[1], "dim": seen.shape[2]}
    output: dict[str, Any] = {"kind": "classes", "count": scores.shape[-1]} if scores.ndim < 3 else {"kind": "tokens", "vocabulary": scores.shape[-1]}
    if examples.classes and scores.ndim < 3:
        if len(examples.classes) != scores.shape[-1] and not (scores.shape[-1] == 1 and len(examples.classes) == 2):
            raise reading.RunError("classes", f"are {len(examples.classes)}; the model gives {scores.shape[-1]} scores")
        output["names"] = examples.classes  # of one score those of no and yes
    first = next((each for each in model.parameters() if each.is_floating_point()), None)
    return {"model": type(model).__name__, "parameters": sum(each.numel() for each in model.parameters()),
            "device": str(first.device) if first is not None else "cpu",
            "dtype": str(first.dtype).removeprefix("torch.") if first is not None else "",
            "input": given_kind, "output": output}


def _layer(facts: Mapping[str, Any]) -> dict[str, Any]:
    part = facts.get("attn") or facts.get("rel") or facts.get("cross_attn") or {}
    found = {"heads": part["heads"]} if "heads" in part else {}
    if "rel" in facts:
        found["relations"] = facts["rel"].get("relations", 0)
        if "attn" not in facts:
            found["heads"] = 0
    return found


def _sizes(served: "Served", point: Point) -> list[int]:
    grows = served.facts["input"]["kind"] == "tokens"
    return [-1 if axis == "batch" or grows and axis in ("position", "i", "j") else size for axis, size in zip(point.axes, point.sizes)]


def declared(served: "Served") -> dict[str, Any]:
    found = served.current()
    version = version_of(served)
    splits = [{"name": each.name, "size": each.size, "labels": _has_labels(served, each)} for each in served.examples.splits]
    message = {
        "name": served.name, "program": served.program, "step": step_of(served), "version": version,
        **served.facts,
        "blocks": [block.name for block in found.blocks],
        "layers": {block.name: {**_layer(block.facts), "skip": block.skip} for block in found.blocks},
        "points": [{"name": point.name, "axes": list(point.axes), "sizes": _sizes(served, point), "causal": point.causal,
                    "gradient": point.gradient, "replace": point.replace} for point in found.points.values()],
        "left_out": found.left_out, "splits": splits,
        "can": {"gradients": any(point.gradient for point in found.points.values()), "fresh": served.fresh is not None,
                "encode": served.examples._encode is not None, "steps": _kept_steps(served)}}
    if served.crc[0] == version:  # else it takes a while, and `checksum` computes it
        message["crc32"] = served.crc[1]
    path = _tokenizer_path(served)
    if path:
        message["tokenizer"] = path
    return message


def _has_labels(served: "Served", split: Any) -> bool:
    try:
        return served.examples.parts(split, [0])[1] is not None
    except Exception:  # noqa: BLE001: its examples are asked for later, with a sentence
        return False


def _tokenizer_path(served: "Served") -> str:
    """The file of a tokenizer; of one of transformers it is written once."""
    examples = served.examples
    if not examples.tokenizer_path and hasattr(examples.tokenizer, "backend_tokenizer"):
        file, path = tempfile.mkstemp(prefix="relascope-", suffix=".json")
        os.close(file)
        examples.tokenizer.backend_tokenizer.save(path)
        examples.tokenizer_path, served.tokenizer_made = path, path
    return examples.tokenizer_path


def forget_tokenizer(served: "Served") -> None:
    if served.tokenizer_made:
        with contextlib.suppress(OSError):
            os.unlink(served.tokenizer_made)


# Requests

def answer(served: "Served", peer: Peer, message: Mapping[str, Any], blob: Any) -> None:
    """Answers one request on its connection. Raises PassError with what is wrong with it."""
    kind, number = message.get("m"), message.get("id")
    if kind == "forward":
        peer.graph, peer.lost = None, False
    if kind == "declare":
        with served.lock:
            peer.send({"m": "declare", "id": number, **declared(served)})
    elif kind == "examples":
        _examples(served, peer, message)
    elif kind == "forward":
        _Forward(served, peer, message, blob).answer()
    elif kind == "backward":
        _backward(served, peer, message, blob)
    elif kind == "checksum":
        with served.lock:
            crc = {} if message.get("version_only") is True else {"crc32": served.checksum(), "steps": _kept_checksums(served)}
            peer.send({"m": "checksum", "id": number, **crc, "version": version_of(served), "step": step_of(served)})
    elif kind not in ("cancel", "put", "unchanged"):  # what comes too late is of no request any more
        raise PassError("m", f"is '{str(kind)[:40]}', which is no request")


def _examples(served: "Served", peer: Peer, message: Mapping[str, Any]) -> None:
    examples = served.examples
    split = examples.split(str(message.get("split")))
    indices = examples.numbers(split, message.get("indices"), MOST_SHOWN)
    with served.lock:
        texts, tensors = examples.shown(split, indices, message.get("only") == "labels")
    packed = Packed()
    described = {name: packed.add(values) for name, values in tensors.items()}
    peer.send({"m": "examples", "id": message.get("id"), "examples": texts, "tensors": described}, packed)


def _backward(served: "Served", peer: Peer, message: Mapping[str, Any], blob: Any) -> None:
    import torch
    if peer.graph is None and not peer.lost:
        raise PassError("backward", "follows the scores of no pass with gradients")
    scores, leaves, version = peer.graph or (None, {}, -1)
    if scores is None or version is not None and version != version_of(served):
        peer.lose_graph()
        raise PassError("changed", "the weights have changed since the pass whose gradients are asked for; ask for the pass again")
    gradient = unpack(message.get("gradient"), blob, "gradient")
    if tuple(gradient.shape) != tuple(scores.shape):
        raise PassError("gradient", f"has the shape {list(gradient.shape)}; {list(scores.shape)} is needed")
    with served.lock, torch.enable_grad():
        found = torch.autograd.grad(scores, list(leaves.values()), gradient.to(scores), retain_graph=True, allow_unused=True) if leaves else ()
    packed = Packed()
    described = {name: packed.add(torch.zeros_like(leaf) if each is None else each) for (name, leaf), each in zip(leaves.items(), found)}
    peer.hold()
    peer.send({"m": "gradients", "id": message.get("id"), "tensors": described}, packed)


class _Forward:
    """A pass that was asked for."""

    def __init__(self, served: "Served", peer: Peer, message: Mapping[str, Any], blob: Any):
        self.served, self.peer, self.message, self.blob = served, peer, message, blob
        self.found: Found = served.current()
        self.number, self.gradients = message.get("id"), message.get("gradients") is True
        self.leaves: dict[str, Any] = {}
        self.met: set[str] = set()
        self.actions: dict[str, list[Mapping[str, Any]]] = {}
        self._read_actions()

    def _read_actions(self) -> None:
        given = self.message.get("points", [])
        if not isinstance(given, list) or len(given) > _MOST_ACTIONS:
            raise PassError("points", f"are no list of at most {_MOST_ACTIONS}")
        for each in given:
            if not isinstance(each, list) or len(each) != 2 or not isinstance(each[0], str) or not isinstance(each[1], Mapping):
                raise PassError("points", "have an entry that is no [name, action]")
            name, action = each
            if name not in self.found.points:
                raise PassError(name, f"is no point of this model ({self.served.facts['model']}); `declare` lists them")
            kind = action.get("do")
            if kind == "factors":
                action = {**action, "values": self._factors(name, action)}
            elif kind == "put":
                action = self._places(name, action)
            elif kind not in ("read", "exchange"):
                raise PassError(name, f"has the action '{str(kind)[:40]}'; there are read, exchange, factors and put")
            if action.get("gradient") and not self.gradients:
                raise PassError(name, "asks for a gradient in a pass without `gradients`")
            self.actions.setdefault(name, []).append(action)

    def _factors(self, name: str, action: Mapping[str, Any]) -> Any:
        point, axis = self.found.points[name], action.get("axis")
        if axis not in point.axes:
            raise PassError(name, f"has no axis '{str(axis)[:40]}'; it has {', '.join(point.axes)}")
        values = unpack(action.get("values"), self.blob, name)
        size = _sizes(self.served, point)[point.axes.index(axis)]
        if values.ndim != 1 or size not in (-1, values.numel()):
            raise PassError(name, f"has {size} entries along '{axis}'; there are factors of the shape {list(values.shape)}")
        return values

    def _places(self, name: str, action: Mapping[str, Any]) -> dict[str, Any]:
        point, places = self.found.points[name], action.get("places")
        if not isinstance(places, list) or len(places) != len(point.axes):
            raise PassError(name, f"has {len(point.axes)} axes ({', '.join(point.axes)}); places need one entry for each")
        for axis, entry in zip(point.axes, places):
            if entry is not None and (not isinstance(entry, list) or not entry or any(type(at) is not int or not 0 <= at < 1 << 31 for at in entry)):
                raise PassError(name, f"has places along '{axis}' that are no list of numbers")
        return {"do": "put", "places": places, "values": unpack(action.get("values"), self.blob, name)}

    def answer(self) -> None:
        served, message = self.served, self.message
        check = message.get("check")
        if type(check) is int:
            self.peer.version = check
        with served.passing(), with_weights(served, message.get("weights"), check if type(check) is int else None) as others:
            given, batch = self._given()
            after = self._after(batch)
            scores = run(self.found, lambda: served.examples.answer(given), list(self.actions), batch, self._change, amp=served.amp,
                         gradients=self.gradients, after=after)
            lacking = [name for name in self.actions if name not in self.met]
            if lacking:
                raise PassError(lacking[0], "was not met by the pass")
            packed = Packed()
            described = packed.add(self._fits("scores", scores))
        version = version_of(served)
        if self.gradients:
            self.peer.graph = scores, self.leaves, None if others else version
            self.peer.hold()
        self.peer.send({"m": "scores", "id": self.number, "tensor": described, "version": version, "step": step_of(served)}, packed)

    def _given(self) -> tuple[Any, int]:
        message, examples = self.message, self.served.examples
        if "input" in message:
            values = unpack(message["input"], self.blob, "input")
            if values.ndim < 1 or not 1 <= values.shape[0] <= _MOST_BATCH:
                raise PassError("input", f"has the shape {list(values.shape)}, without an example")
            if not values.is_floating_point() and values.ndim == 2 and self.served.facts["input"]["kind"] == "tokens":
                most = self.served.facts["input"]["vocabulary"]
                if values.numel() and not 0 <= int(values.min()) <= int(values.max()) < most:
                    raise PassError("input", f"has ids outside of 0 to {most - 1}")
            return examples.typed(array_of(values, "input")), values.shape[0]
        split = examples.split(str(message.get("split", examples.splits[0].name)))
        indices = examples.numbers(split, message.get("indices"), _MOST_BATCH)
        return examples.parts(split, indices)[0], len(indices)

    def _after(self, batch: int) -> Optional[tuple[str, Any]]:
        after = self.message.get("after")
        if after is None:
            return None
        if not isinstance(after, Mapping):
            raise PassError("after", "is no block with its stream")
        block = self.found.block(str(after.get("block")))
        stream = unpack(after.get("stream"), self.blob, "after")
        point = self.found.points.get(f"{block.name}.hook_resid_post")
        if point is None or stream.ndim != 3 or stream.shape[2] != point.sizes[2] or stream.shape[0] != batch \
                or not stream.is_floating_point():
            width = point.sizes[2] if point else "dim"
            raise PassError("after", f"has a stream of the shape {list(stream.shape)}; [{batch}, position, {width}] is needed")
        first = next(each for each in self.served.model.parameters() if each.is_floating_point())
        side = block.name.split(".")[0]
        for name in self.actions:  # what lies in a block that is not run cannot be met
            other = next((each for each in self.found.blocks if name.startswith(each.name + ".")), None)
            if other is not None and other.name.split(".")[0] == side and self.found.blocks.index(other) <= self.found.blocks.index(block) \
                    and not (other is block and name.endswith("hook_resid_post")):
                raise PassError(name, f"lies in a block that is not run: the pass begins after {block.name}")
        return block.name, stream.to(first.device, self.served.amp or first.dtype)

    def _fits(self, name: str, tensor: Any) -> Any:
        size, memory = tensor.numel() * 4, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        most = min(_MOST_BYTES, memory // 4)
        if size > most:
            raise PassError(name, f"has {size >> 20} MiB; {most >> 20} MiB can travel at once: ask for fewer examples")
        return tensor

    def _change(self, name: str, tensor: Any) -> Any:
        """Does what was asked at a point."""
        self.met.add(name)
        if not self.peer.open:
            raise Gone
        if self.peer.waiting and self.peer.cancelled(self.number):
            raise Cancelled
        for action in self.actions[name]:
            kind, leaf = action["do"], action.get("gradient") is True
            if kind == "factors":
                tensor = self._multiplied(name, tensor, action)
            elif kind == "put":
                tensor = self._put(name, tensor, action)
            elif kind == "read":
                if leaf:
                    tensor = self._leaf(name, tensor)
                self._send(name, tensor, False)
            else:
                self._send(name, tensor, True)
                exchanged = self._received(name, tensor)
                tensor = tensor if exchanged is None else exchanged
                if leaf:
                    tensor = self._leaf(name, tensor)
        return tensor

    def _leaf(self, name: str, tensor: Any) -> Any:
        if not tensor.is_floating_point():
            raise PassError(name, "has no gradient: it holds whole numbers")
        tensor = tensor.view_as(tensor) if tensor.requires_grad else tensor.detach().clone().requires_grad_()
        self.leaves[name] = tensor
        return tensor

    def _multiplied(self, name: str, tensor: Any, action: Mapping[str, Any]) -> Any:
        at = self.found.points[name].axes.index(action["axis"])
        values = action["values"]
        if values.numel() != tensor.shape[at]:
            raise PassError(name, f"has {tensor.shape[at]} entries along '{action['axis']}' in this pass; there are {values.numel()} factors")
        return tensor * values.to(tensor).reshape([-1 if axis == at else 1 for axis in range(tensor.ndim)])

    def _put(self, name: str, tensor: Any, action: Mapping[str, Any]) -> Any:
        import torch
        index = []
        for at, (entry, size) in enumerate(zip(action["places"], tensor.shape)):
            numbers = torch.arange(size) if entry is None else torch.tensor(entry)
            if int(numbers.max()) >= size:
                raise PassError(name, f"has {size} entries along '{self.found.points[name].axes[at]}'; there is no {int(numbers.max())}")
            index.append(numbers.reshape([-1 if axis == at else 1 for axis in range(tensor.ndim)]).to(tensor.device))
        shape = [each.numel() for each in index]
        try:
            values = action["values"].to(tensor).expand(shape)
        except RuntimeError:
            raise PassError(name, f"gets values of the shape {list(action['values'].shape)} in {shape} places") from None
        changed = tensor.clone()
        changed[tuple(index)] = values
        return changed

    def _send(self, name: str, tensor: Any, wait: bool) -> None:
        packed = Packed()
        described = packed.add(self._fits(name, tensor))
        self.peer.send({"m": "point", "id": self.number, "name": name, "tensor": described, "first": 0, **({"wait": True} if wait else {})}, packed)

    def _received(self, name: str, tensor: Any) -> Any:
        """What the other side puts at a point; None: nothing."""
        end = time.monotonic() + self.served.patience
        while True:
            if self.peer.cancelled(self.number):
                raise Cancelled
            for at, (message, blob) in enumerate(self.peer.waiting):
                if message.get("m") in ("put", "unchanged") and message.get("id") == self.number:
                    del self.peer.waiting[at]
                    return None if message["m"] == "unchanged" else self._checked(name, tensor, message, blob)
            if not self.peer.open:
                raise Gone
            left = end - time.monotonic()
            if left <= 0:
                raise PassError(name, f"was sent, and no answer came within {self.served.patience:g} seconds")
            self.peer.wait_for(min(left, 1.0))

    def _checked(self, name: str, tensor: Any, message: Mapping[str, Any], blob: Any) -> Any:
        values = unpack(message.get("tensor"), blob, name)
        if tuple(values.shape) != tuple(tensor.shape):
            raise PassError(name, f"has the shape {list(tensor.shape)}; what was put has {list(values.shape)}")
        return values.to(tensor.device, tensor.dtype)


def sentence_of(error: Exception) -> dict[str, str]:
    """What the model's own code has raised, in one sentence."""
    lines = str(error).strip().splitlines()
    said = lines[0][:300] if lines else "nothing said"
    if type(error).__name__ in ("OutOfMemoryError", "MemoryError") or "not enough memory" in said:
        return {"text": "there is no memory for so many examples at once; ask for fewer", "key": "memory"}
    return {"text": f"the model has raised {type(error).__name__}: {said}", "key": "raised"}
