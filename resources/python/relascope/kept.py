# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts back what a look at a model has changed, bit for bit: of the model, of what it is called with, and random numbers."""
from __future__ import annotations

import collections
import contextlib
import functools
import inspect
import pickle
import random
import sys
import types
from typing import Any, Callable, Iterator, Optional

import numpy as np

from .reading import RunError

_LARGE = 64 << 20  # bytes of a tensor that is neither parameter nor buffer: a data set is watched, not copied
_LONG = 100_000    # items of a list that are looked at one by one
_FRAMEWORKS = {"torch", "builtins", "lightning", "pytorch_lightning", "accelerate", "deepspeed"}


def _bits(tensor: Any) -> Any:
    """The numbers of a tensor as whole numbers: nan is equal to itself, and 0 is not -0."""
    import torch
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    whole = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.view(whole[tensor.element_size()]) if tensor.is_floating_point() else tensor


def _generator_state(value: Any) -> Optional[tuple[Any, Callable[[Any], Any]]]:
    """The state of a generator of random numbers, and what sets it; None for anything else."""
    import torch
    if isinstance(value, torch.Generator):
        return value.get_state(), value.set_state
    if isinstance(value, random.Random):
        return value.getstate(), value.setstate
    if isinstance(value, np.random.RandomState):
        return value.get_state(), value.set_state
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state, lambda state: setattr(value.bit_generator, "state", state)
    return None


def _position(value: Any) -> Any:
    """What tells how far an iterator is; None if nothing does."""
    if inspect.isgenerator(value):
        return value.gi_frame and (value.gi_frame.f_lasti, repr(inspect.getgeneratorlocals(value)))
    try:
        return pickle.dumps(value)
    except Exception:  # noqa: BLE001: whatever cannot be asked
        return None


class _Kept:
    """What the modules of a model hold: parameters, buffers, flags and all other attributes, with the lists, dictionaries,
    tensors, arrays, generators and objects of the modules' own packages in them; the same of `more`, with which the model is
    called, and of the functions among them."""

    def __init__(self, model: Any, more: Any):
        self._alive: dict[int, Any] = {}
        self._back: list[Callable[[], Any]] = []  # each restores one thing, and returns the name of what it cannot restore
        self._todo: list[tuple[Any, str]] = []
        self._packages = {type(module).__module__.partition(".")[0] for module in model.modules()} - _FRAMEWORKS
        self._owned = {id(tensor) for tensors in (model.parameters(), model.buffers()) for tensor in tensors}
        for name, module in model.named_modules():
            self._todo.append((module, name or "model"))
            self._todo.extend((tensor, f"{name}.{key}") for key, tensor in module.named_parameters(recurse=False))
            self._todo.extend((tensor, f"{name}.{key}") for key, tensor in module.named_buffers(recurse=False))
            if type(module).__module__.partition(".")[0] in self._packages:
                for method in type(module).forward, type(module).train:
                    self._keep_names(method)
        for named in {type(module).__module__ for module in model.modules()} | {getattr(more, "__module__", None) or ""}:
            if named.partition(".")[0] not in _FRAMEWORKS and named in sys.modules:  # generators beside the classes
                self._todo.extend((value, f"{named}.{key}") for key, value in list(vars(sys.modules[named]).items())
                                  if _generator_state(value))
        self._todo.append((more, "inputs"))
        while self._todo:
            self._keep(*self._todo.pop())

    def put_back(self) -> list[str]:
        """Restores everything. Returns the names of what has changed and cannot be restored."""
        return [name for name in [each() for each in self._back] if name]

    def _keep(self, value: Any, name: str) -> None:
        import torch
        if value is None or isinstance(value, (bool, int, float, str, bytes, type)) or id(value) in self._alive:
            return
        self._alive[id(value)] = value
        if isinstance(value, (dict, list, set, collections.deque)):
            self._keep_items(value)
            if len(value) <= _LONG:
                self._todo.extend((each, name) for each in (value.values() if isinstance(value, dict) else value))
        elif isinstance(value, torch.Tensor):
            self._keep_tensor(value, name)
        elif isinstance(value, np.ndarray):
            self._keep_array(value)
        elif state := _generator_state(value):
            self._back.append(lambda: [state[1](state[0])] and None)
        elif isinstance(value, tuple):
            self._todo.extend((each, name) for each in value)
        elif isinstance(value, functools.partial):
            self._todo.extend((each, name) for each in (value.func, value.args, value.keywords))
        elif isinstance(value, types.MethodType):
            self._todo.extend([(value.__self__, name), (value.__func__, name)])
        elif isinstance(value, types.FunctionType):
            self._keep_names(value)
            for cell in value.__closure__ or ():
                self._keep_cell(cell, name)
        elif isinstance(value, torch.nn.Module) or (type(value).__module__.partition(".")[0] in self._packages and hasattr(value, "__dict__")):
            self._keep_object(value, name)
        elif isinstance(value, collections.abc.Iterator):
            before = _position(value)
            self._back.append(lambda: name if before != _position(value) else None)

    def _keep_object(self, value: Any, name: str) -> None:
        import torch
        kind, scripted = type(value), isinstance(value, torch.jit.ScriptModule)
        training = value.training if scripted else None  # which is no attribute of Python there

        def back() -> None:
            if type(value) is not kind:
                value.__class__ = kind
            if scripted:
                value.training = training
        self._keep_items(vars(value))
        self._back.append(back)
        self._todo.extend((each, f"{name}.{key}") for key, each in vars(value).items())

    def _keep_items(self, value: Any) -> None:
        if not value:  # as most of what a module has: hooks
            return self._back.append(lambda: value.clear() if value else None)

        def items() -> list:
            return list(value.items()) if isinstance(value, dict) else list(value)

        def same(a: Any, b: Any) -> bool:
            return a[0] is b[0] and a[1] is b[1] if isinstance(value, dict) else a is b

        def back() -> None:
            now = items()
            if len(now) != len(before) or not all(map(same, now, before)):
                value.clear()
                (value.extend if isinstance(value, (list, collections.deque)) else value.update)(before)
        before = items()
        self._back.append(back)

    def _keep_names(self, function: Any) -> None:
        """The lists and counters of a Python file that a function in it names."""
        code, known = getattr(function, "__code__", None), getattr(function, "__globals__", {})
        for name in code.co_names if code else ():
            value = known.get(name)
            if isinstance(value, (list, dict, set, collections.deque)) and id(value) not in self._alive:
                self._alive[id(value)] = value
                self._keep_items(value)
            elif type(value) in (bool, int, float):
                self._back.append(lambda name=name, value=value: known.update({name: value}))

    def _keep_cell(self, cell: Any, name: str) -> None:
        try:
            value = cell.cell_contents
        except ValueError:  # empty
            return

        def back() -> None:
            if cell.cell_contents is not value:
                cell.cell_contents = value
        self._back.append(back)
        self._todo.append((value, name))

    def _keep_array(self, value: np.ndarray) -> None:
        if not value.flags.writeable or value.dtype.hasobject or value.nbytes > _LARGE:
            return
        copy = value.copy()

        def back() -> None:
            if value.tobytes() != copy.tobytes():
                value[...] = copy
        self._back.append(back)

    def _keep_tensor(self, value: Any, name: str) -> None:
        import torch
        if torch.nn.parameter.is_lazy(value):
            raise RunError("model", f"makes {name} at its first call; call it once before watch()")
        if value.is_meta or value.layout != torch.strided:
            return
        data, version = value.data, None if value.is_inference() else value._version
        leaf, asked = value.is_leaf, value.requires_grad
        gradient = value.grad if leaf else None
        copied = id(value) in self._owned or value.numel() * value.element_size() <= _LARGE
        copy = _copy_of(data) if copied else None
        place = (data.data_ptr(), data.shape, data.stride(), data.dtype)

        def back() -> Optional[str]:
            now = value.data
            if (now.data_ptr(), now.shape, now.stride(), now.dtype) != place:
                value.data = data
            if copy is None:
                return name if version is not None and value._version != version else None
            if not torch.equal(_bits(data), _bits(copy.to(data.device))):
                data.copy_(copy)
            if leaf and value.requires_grad != asked:
                value.requires_grad_(asked)
            if leaf and value.grad is not gradient:
                value.grad = gradient
            if version is not None and value._version != version:  # a graph that waits for backward() compares it
                with contextlib.suppress(AttributeError, TypeError):
                    torch._C._autograd._unsafe_set_version_counter((value,), (version,))
            return None
        self._back.append(back)


def _copy_of(data: Any) -> Any:
    import torch
    try:
        return data.clone()
    except torch.cuda.OutOfMemoryError:
        return data.cpu()


@contextlib.contextmanager
def numbers_kept() -> Iterator[None]:
    """At the end the random numbers of PyTorch, NumPy and Python continue as if nothing had been drawn."""
    import torch
    numbers, numpy_numbers = random.getstate(), np.random.get_state()
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_available() and torch.cuda.is_initialized() else []
    try:
        with torch.random.fork_rng(devices=devices):
            yield
    finally:
        random.setstate(numbers)
        np.random.set_state(numpy_numbers)


@contextlib.contextmanager
def as_before(model: Any, inputs: Any) -> Iterator[None]:
    """A model in eval(), without the fast path of PyTorch that computes no weights. At the end everything is as before.
    Raises RunError with the name of what is not."""
    import torch
    fast = torch.backends.mha.get_fastpath_enabled() if hasattr(torch.backends, "mha") else None
    with torch.no_grad():
        kept = _Kept(model, inputs)
    lost: list[str] = []
    with numbers_kept():
        try:
            model.eval()
            if fast is not None:
                torch.backends.mha.set_fastpath_enabled(False)
            for module in model.modules():
                if getattr(module, "fused_attn", None) is False:  # of timm: what is fused is seen
                    module.fused_attn = True
            yield
        finally:
            if fast is not None:
                torch.backends.mha.set_fastpath_enabled(fast)
            with torch.no_grad():
                lost = kept.put_back()
    if lost:
        raise RunError("model", f"changes {lost[0]} when it is called, which cannot be put back; keep it in a tensor or number "
                                "of the module")
