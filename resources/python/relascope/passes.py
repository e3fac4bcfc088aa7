# SPDX-License-Identifier: GPL-3.0-or-later
"""One pass of a model of PyTorch in which tensors are met by the place where they are made.

A place is the way to it, modules with the number of their call within the one around them, and a function with its number within
the innermost of them, so that blocks which are skipped do not change the numbers of others. The functions are those that the
model calls in Python; within `multi_head_attention_forward` they are met too. Nothing of the model is replaced, and nothing stays
behind.
"""
from __future__ import annotations

import contextlib
import dataclasses
import random
import sys
import threading
import types
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence

import numpy as np

from .kept import numbers_kept
from .reading import RunError

KINDS = {"pattern": ("batch", "head", "i", "j"), "scores": ("batch", "head", "i", "j"), "relation": ("batch", "i", "j", "relation"),
         "head": ("batch", "position", "head", "dim"), "stream": ("batch", "position", "dim")}
Path = tuple[tuple[str, int], ...]
_state = threading.local()
_passes = 0  # how many there are: a number is all that a compiled model looks at


class PassError(RunError):
    """A pass that cannot be done as it was asked for. key: the point or the part of the request that it is about."""

    def __init__(self, key: str, problem: str):
        super().__init__(key, problem)
        self.key = key

    def __str__(self) -> str:
        return self.args[1] if self.key == "changed" else f"{self.key} {self.args[1]}"


def point(name: str, tensor: Any, kind: str = "stream") -> Any:
    """Names a tensor of a model's forward, and returns the one to go on with: what Relascope has made of it, or itself.

    kind: "pattern" or "scores" [S, heads, n, n], "relation" [S, n, n, relations], "head" [S, n, heads, width], "stream" [S, n, width].
    The name is that within its block, as "attn.hook_pattern"; the block is that of the call."""
    if _passes:
        current = getattr(_state, "mode", None)
        if current is not None:
            return current.named(name, tensor, kind)
    return tensor


class View:
    """How the tensor of a place becomes that of a point: steps, each with its inverse."""

    def __init__(self, *steps: tuple):
        self.steps = steps

    def to(self, tensor: Any, batch: int) -> Any:
        for step, *more in self.steps:
            if step == "permute":
                tensor = tensor.permute(*more)
            elif step == "unfold":  # [b h, ...]
                tensor = tensor.unflatten(0, (batch, -1))
            elif step == "split":  # [..., h d]
                tensor = tensor.unflatten(more[0], (more[1], -1))
            else:
                tensor = tensor.unsqueeze(more[0])
        return tensor

    def back(self, tensor: Any) -> Any:
        for step, *more in reversed(self.steps):
            if step == "permute":
                order = [0] * len(more)
                for at, dimension in enumerate(more):
                    order[dimension] = at
                tensor = tensor.permute(*order)
            elif step == "unfold":
                tensor = tensor.flatten(0, 1)
            elif step == "split":
                tensor = tensor.flatten(more[0], more[0] + 1)
            else:
                tensor = tensor.squeeze(more[0])
        return tensor


@dataclasses.dataclass
class Place:
    """Where a tensor is met: a function or module on a path, and which of its tensors: "in0", "in1", ..., "out", "out0", ...,
    and "scores" and "pattern" within scaled_dot_product_attention."""
    path: Path
    function: str
    number: int
    slot: str
    view: View = dataclasses.field(default_factory=View)


class Sites:
    """The points on a path, and those further inside."""

    def __init__(self) -> None:
        self.calls: dict[tuple[str, int], list[tuple[str, str]]] = {}
        self.inside: dict[tuple[str, int], Sites] = {}

    def add(self, place: Place, name: str) -> None:
        sites = self
        for step in place.path:
            sites = sites.inside.setdefault(step, Sites())
        sites.calls.setdefault((place.function, place.number), []).append((place.slot, name))


class Frame:
    """A module that runs, with what it has called so far."""
    __slots__ = ("name", "module", "path", "sites", "counts")

    def __init__(self, name: str, module: Any, path: Path, sites: Optional[Sites]):
        self.name, self.module, self.path, self.sites = name, module, path, sites
        self.counts: dict[str, int] = {}

    def number(self, name: str) -> int:
        number = self.counts.get(name, 0)
        self.counts[name] = number + 1
        return number


class Visitor:
    """What a pass does with the tensors that it meets. at() gets the tensor of a place as it is there, and returns the one to go
    on with. The others see everything, for a recorder."""
    sees = False

    def at(self, name: str, tensor: Any) -> Any:
        return tensor

    def named(self, frame: Frame, number: int, name: str, tensor: Any, kind: str) -> None: ...

    def calling(self, name: str, args: tuple) -> None: ...

    def called(self, frame: Frame, number: int, name: str, function: Any, args: tuple, kwargs: dict, output: Any) -> None: ...

    def entered(self, frame: Frame, args: tuple, kwargs: dict) -> None: ...

    def left(self, frame: Frame, output: Any) -> None: ...


def pattern_of(query: Any, key: Any, value: Any = None, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
               scale: Optional[float] = None, enable_gqa: bool = False, at: Callable[[str, Any], Any] = lambda slot, tensor: tensor) -> Any:
    """What scaled_dot_product_attention multiplies values with, [..., n, m], by its formula without dropout, in float32 where it is less,
    with `at` on scores and pattern."""
    import torch
    if enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
    wide = torch.promote_types(query.dtype, torch.float32)
    scores = (query.to(wide) @ key.to(wide).transpose(-2, -1)) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1), float("-inf"))
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, float("-inf")) if attn_mask.dtype == torch.bool else scores + attn_mask
    scores = at("scores", scores)
    nothing = (scores == float("-inf")).all(-1, keepdim=True)  # a row without any key has no weights
    return at("pattern", torch.softmax(scores.masked_fill(nothing, 0.0), -1).masked_fill(nothing, 0.0))


def explicit(query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
             scale: Optional[float] = None, enable_gqa: bool = False, at: Callable[[str, Any], Any] = lambda slot, tensor: tensor) -> Any:
    """scaled_dot_product_attention by its formula, with `at` on scores and pattern."""
    import torch
    pattern = pattern_of(query, key, value, attn_mask, 0.0, is_causal, scale, enable_gqa, at)
    if dropout_p > 0:
        pattern = torch.nn.functional.dropout(pattern, dropout_p)
    if enable_gqa:
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    return pattern.to(value.dtype) @ value


def tensors_of(given: Any, depth: int = 0) -> Iterator[Any]:
    """The tensors among arguments or results, also within lists, dictionaries and the outputs of transformers."""
    if hasattr(given, "detach"):
        yield given
    elif depth < 4 and isinstance(given, (list, tuple, Mapping)):
        for each in given.values() if isinstance(given, Mapping) else given:
            yield from tensors_of(each, depth + 1)


_names: dict[Any, str] = {}


def name_of(function: Any) -> str:
    """The name of a function of PyTorch; of an attribute as x.mT that of the attribute."""
    found = _names.get(function)
    if found is None:
        found = getattr(function, "__name__", "") or str(function)
        if found in ("__get__", "__set__"):
            found = f"{found}{getattr(getattr(function, '__self__', None), '__name__', '')}"
        _names[function] = found
    return found


def _exchanged(args: tuple, kwargs: dict, wanted: Mapping[int, Callable[[Any], Any]]) -> tuple[tuple, dict]:
    """Arguments with some of their tensors, by number, exchanged."""
    number, listed = 0, list(args)
    for at, each in enumerate(listed):
        if hasattr(each, "detach"):
            if number in wanted:
                listed[at] = wanted[number](each)
            number += 1
    named = dict(kwargs)
    for name, each in kwargs.items():
        if hasattr(each, "detach"):
            if number in wanted:
                named[name] = wanted[number](each)
            number += 1
    return tuple(listed), named


def _with_output(output: Any, slot: str, exchange: Callable[[Any], Any]) -> Any:
    """A result with its tensor "out", or with the one "outK" of several, exchanged."""
    if hasattr(output, "detach"):
        return exchange(output)
    at = int(slot[3:] or 0)
    if isinstance(output, Mapping):
        key = list(output)[at]
        output[key] = exchange(output[key])
        return output
    listed = list(output)
    listed[at] = exchange(listed[at])
    return type(output)(*listed) if hasattr(output, "_fields") else type(output)(listed)


_mode_class: Any = None


def _mode() -> Any:
    """The class of what sees each function of PyTorch that the model calls; made when PyTorch is there."""
    global _mode_class
    if _mode_class is not None:
        return _mode_class
    import torch
    import torch.nn.functional as functional
    from torch.overrides import TorchFunctionMode

    scaled, multi_head = functional.scaled_dot_product_attention, functional.multi_head_attention_forward
    code = multi_head.__code__
    # The same function, whose own calls are seen too.
    inner = types.FunctionType(code, {**vars(functional), "has_torch_function": lambda _: False}, code.co_name,
                               multi_head.__defaults__, multi_head.__closure__)
    inner.__kwdefaults__ = multi_head.__kwdefaults__

    class Mode(TorchFunctionMode):
        def __init__(self, visitor: Visitor, sites: Optional[Sites]):
            super().__init__()
            self.visitor, self.thread = visitor, threading.get_ident()
            self.frames = [Frame("", None, (), sites)]

        def enter(self, name: str, module: Any) -> Frame:
            around = self.frames[-1]
            number = around.number("module " + name)
            sites = around.sites.inside.get((name, number)) if around.sites else None
            frame = Frame(name, module, around.path + ((name, number),), sites)
            self.frames.append(frame)
            return frame

        def named(self, name: str, tensor: Any, kind: str) -> Any:
            frame = self.frames[-1]
            if kind not in KINDS:
                raise RunError("kind", f"is '{kind}'; there are {', '.join(KINDS)}")
            number, function = frame.number("point " + name), "point " + name
            with torch._C.DisableTorchFunction():
                for _, each in (frame.sites.calls.get((function, number)) or ()) if frame.sites else ():
                    tensor = self.visitor.at(each, tensor)
                if self.visitor.sees:
                    self.visitor.named(frame, number, str(name), tensor, kind)
            return tensor

        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            frame = self.frames[-1]
            name = name_of(function)
            number = frame.number(name)
            wanted = frame.sites.calls.get((name, number)) if frame.sites else None
            if self.visitor.sees:
                self.visitor.calling(name, args)
            if function is multi_head and (self.visitor.sees or frame.sites):
                self.enter(name, None)
                depth = len(self.frames)
                try:
                    with self:
                        output = inner(*args, **kwargs)
                finally:
                    del self.frames[depth - 1:]
                return output  # its parts were seen
            elif function is scaled and kwargs.get("dropout_p", args[4] if len(args) > 4 else 0.0) and not self.visitor.sees:
                output = self.do(scaled, args[:4] + (0.0,) + args[5:] if len(args) > 4 else args,
                                 {**kwargs, "dropout_p": 0.0} if "dropout_p" in kwargs else kwargs, wanted or [])
            elif wanted is None:
                output = function(*args, **kwargs)
            else:
                output = self.do(function, args, kwargs, wanted)
            if self.visitor.sees:
                self.visitor.called(frame, number, name, function, args, kwargs, output)
            return output

        def do(self, function: Any, args: tuple, kwargs: dict, wanted: list[tuple[str, str]]) -> Any:
            """Calls a function with the points in it."""
            slots = {slot for slot, _ in wanted}
            args, kwargs = self.inputs(args, kwargs, wanted)
            if function is scaled and slots & {"scores", "pattern"}:
                output = explicit(*args, **kwargs, at=lambda slot, tensor: self.through(wanted, slot)(tensor))
            else:
                output = function(*args, **kwargs)
            return self.outputs(output, wanted)

        def through(self, wanted: Sequence[tuple[str, str]], slot: str) -> Callable[[Any], Any]:
            """What hands a tensor to the points of a slot in turn."""
            def exchange(tensor: Any) -> Any:
                for each, name in wanted:
                    tensor = self.visitor.at(name, tensor) if each == slot else tensor
                return tensor
            return exchange

        def inputs(self, args: tuple, kwargs: dict, wanted: Sequence[tuple[str, str]]) -> tuple[tuple, dict]:
            numbers = {int(slot[2:]): self.through(wanted, slot) for slot, _ in wanted if slot.startswith("in")}
            return _exchanged(args, kwargs, numbers) if numbers else (args, kwargs)

        def outputs(self, output: Any, wanted: Sequence[tuple[str, str]]) -> Any:
            for slot in sorted({slot for slot, _ in wanted if slot.startswith("out")}):
                output = _with_output(output, slot, self.through(wanted, slot))
            return output

        def before(self, name: str) -> Callable[..., Any]:
            def hook(module: Any, args: tuple, kwargs: dict) -> Any:
                if threading.get_ident() != self.thread:
                    return None
                frame = self.enter(name, module)
                if self.visitor.sees:
                    self.visitor.entered(frame, args, kwargs)
                wanted = frame.sites.calls.get(("module", 0)) if frame.sites else None
                if not wanted:
                    return None
                with torch._C.DisableTorchFunction():
                    return self.inputs(args, kwargs, wanted)
            return hook

        def after(self, module: Any, args: tuple, kwargs: dict, output: Any) -> Any:
            if threading.get_ident() != self.thread:
                return None
            while len(self.frames) > 1 and self.frames[-1].module is not module:
                self.frames.pop()  # left by an exception that the model has caught
            frame = self.frames.pop() if len(self.frames) > 1 else self.frames[-1]
            wanted = frame.sites.calls.get(("module", 0)) if frame.sites else None
            if wanted:
                with torch._C.DisableTorchFunction():
                    output = self.outputs(output, wanted)
            if self.visitor.sees:
                self.visitor.left(frame, output)
            return output

    _mode_class = Mode
    return Mode


class Modules:
    """The modules of a model by their names, and the kinds of devices that its weights are on, looked up once."""

    def __init__(self, model: Any):
        import torch
        self.named = list(model.named_modules())
        self.seen = [(name, module) for name, module in self.named if not isinstance(module, torch.jit.ScriptModule)]  # those have no hooks
        self.kinds = {each.device.type for each in model.parameters()} | {"cpu"}


def seed(number: int) -> None:
    """Seeds the random numbers of PyTorch (on devices that are in use), NumPy and Python."""
    import torch
    torch.default_generator.manual_seed(number)  # not torch.manual_seed(), which keeps a note for devices that are not in use
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        for generator in torch.cuda.default_generators:
            generator.manual_seed(number)
    random.seed(number)
    np.random.seed(number)


@contextlib.contextmanager
def own_numbers() -> Iterator[None]:
    """Random numbers that begin as always, and are as before at the end."""
    with numbers_kept():
        seed(0)
        yield


@contextlib.contextmanager
def quiet(modules: Modules, amp: Any = None, gradients: bool = False) -> Iterator[None]:
    """A pass that is the same each time and leaves nothing behind: flags as in eval(), but without a call of it, which may change
    weights; no autocast, or that of the type `amp`; no fast path; random numbers of their own."""
    import torch
    training = [module for _, module in modules.named if module.training]
    with contextlib.ExitStack() as stack:
        stack.enter_context(own_numbers())
        fast = torch.backends.mha.get_fastpath_enabled() if hasattr(torch.backends, "mha") else None
        if fast is not None:
            stack.callback(torch.backends.mha.set_fastpath_enabled, fast)
            torch.backends.mha.set_fastpath_enabled(False)
        stack.enter_context(torch.enable_grad() if gradients else torch.no_grad())
        for kind in modules.kinds:
            stack.enter_context(torch.autocast(kind, enabled=amp is not None, dtype=amp))
        if "torch._dynamo" in sys.modules and hasattr(torch.compiler, "set_stance"):  # compiled parts would hide what they call
            stack.enter_context(torch.compiler.set_stance("force_eager"))

        def back() -> None:
            for module in training:
                _set_training(module, True)
        stack.callback(back)
        for module in training:
            _set_training(module, False)
        yield


def _set_training(module: Any, training: bool) -> None:
    if "training" in vars(module):
        vars(module)["training"] = training  # without what nn.Module does to set an attribute
    else:
        module.training = training


@contextlib.contextmanager
def meeting(modules: Modules, visitor: Visitor, sites: Optional[Sites]) -> Iterator[None]:
    """What the model calls in this scope is met by the visitor: everything, or what is at sites."""
    global _passes
    mode = _mode()(visitor, sites)
    before = getattr(_state, "mode", None)
    with contextlib.ExitStack() as stack:
        for name, module in modules.seen:
            stack.callback(module.register_forward_pre_hook(mode.before(name), with_kwargs=True).remove)
            stack.callback(module.register_forward_hook(mode.after, with_kwargs=True).remove)
        _state.mode, _passes = mode, _passes + 1
        try:
            with mode:
                yield
        finally:
            _state.mode, _passes = before, _passes - 1


def first_stream(output: Any) -> Any:
    """The scores among what a model returns."""
    if hasattr(output, "detach"):
        return output
    logits = getattr(output, "logits", None)
    if logits is None and isinstance(output, Mapping):
        logits = output.get("logits", next(iter(output.values()), None))
    if logits is None and isinstance(output, Sequence) and output:
        logits = output[0]
    if not hasattr(logits, "detach"):
        raise RunError("model", f"returns {type(output).__name__} without scores; give call=, a function that gets model and batch and "
                                "returns the scores")
    return logits
