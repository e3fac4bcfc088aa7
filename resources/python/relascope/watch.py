# SPDX-License-Identifier: GPL-3.0-or-later
"""Captures the attention and relation maps of a model of PyTorch while it trains, without a change of the model.

    watch = relascope.watch(model, run, every=100, inputs=probe)

Found are: torch.nn.MultiheadAttention, what calls scaled_dot_product_attention (timm, transformers, one's own modules),
modules that return their weights (transformers with attn_implementation="eager"), and the modules of `dual_attention`
with their relations r_ij; in a model with none of them whatever it divides by a softmax and multiplies. Anything else is
shown by one line in the model's forward, which costs nothing when nobody watches:

    relascope.record("similarity", r, kind="relation")

The probe is a forward pass of its own, without gradients and dropout. Whatever it changes is put back bit for bit (kept.py): what
the modules hold, what they are called with, and random numbers (PyTorch on all devices, NumPy, Python). The first look is done
twice: what gives other maps the second time cannot be put back, and is refused.
"""
from __future__ import annotations

import contextlib
import inspect
import threading
import warnings
from typing import Any, Callable, Iterator, Mapping, Optional, Union

import numpy as np

from . import files
from .attentions import Attentions
from .capture import Inputs, Layer, scaled, tokens_beside
from .kept import as_before
from .passes import Modules, meeting, pattern_of, quiet, tensors_of
from .reading import RunError
from .run import Run
from .trace import Trace, where_of

RECORDED = ("relation", "attention", "relational_attention", "symbols")
_state = threading.local()
_probes = 0  # how many there are: a number is all that a compiled model looks at


def record(name: str, tensor: Any, kind: str = "relation") -> None:
    """Shows a map of one's own to whoever watches; called in the forward of a model.

    kind: "relation" [S, n, n, d_r], "attention" or "relational_attention" [S, heads, n, n], "symbols" [S, heads, n, symbols];
    of one input without the first dimension. Maps with the same name are one layer."""
    if _probes:
        probe = getattr(_state, "probe", None)
        if probe is not None:
            probe.record(name, tensor, kind)


def watch(model: Any, run: Run, every: int = 100, inputs: Any = None, *, show: Union[Inputs, Mapping[str, Any], None] = None,
          outputs: str = "", weights: bool = False, keep_mib: Optional[int] = 1024) -> "Watch":
    """Captures the maps of `model` for `inputs` now, whenever `every` steps have been logged (run.log), and at run.done().

    inputs: what the model is called with: a tensor, a tuple of arguments, a dictionary of keywords, or a function that
    gets the model and calls it. show: what the window shows of them (relascope.Inputs); without it images, token ids and
    vectors are shown as they are. outputs: "logits" or "probabilities" if the model's output, [S, classes], is kept as its
    answer. weights: whether model.state_dict() is kept with each capture. keep_mib: MiB of captures, and as many of weights;
    beyond them the steps whose neighbours are nearest are removed, never the first and the last; None: without a limit. Raises
    RunError if no map is found, or if a look at the model changes what cannot be put back.
    """
    return Watch(model, run, every, inputs, show, outputs, weights, keep_mib)


class Watch:
    """A model that is watched; close() ends it. capture(step) captures at once."""

    def __init__(self, model: Any, run: Run, every: int, inputs: Any, show: Any, outputs: str, weights: bool,
                 keep_mib: Optional[int] = None):
        if outputs not in ("", "logits", "probabilities"):
            raise RunError("outputs", f"is '{outputs}'; logits and probabilities are known")
        if type(every) is not int or every < 1:
            raise RunError("every", f"is {every!r}; a number of steps from 1 on is needed")
        if inputs is None:
            raise RunError("inputs", "are missing; give what the model is called with")
        if keep_mib is not None and (type(keep_mib) is not int or keep_mib < 1):
            raise RunError("keep_mib", f"is {keep_mib!r}; a number of MiB from 1 on is needed, or None for no limit")
        self.model, self.every = _plain(model), every
        self._run, self._inputs, self._show, self._outputs, self._weights = run, inputs, Inputs.of(show), outputs, weights
        self._last, self._budget, self._thinned = -1, keep_mib, False
        self._made_for = _place_of(self.model)
        first, output = self._look()
        layers = first.layers()
        if not layers:
            raise RunError("model", _none_found(self.model, first.left_out))
        if not first.same(self._look()[0]):
            raise RunError("model", "makes other maps when it is called a second time, so that something changes which cannot be put back, "
                                    "as a counter or a generator outside of its modules; keep that in an attribute of a module, and give "
                                    "inputs that stay the same")
        if not run._info["parameters"]:
            run.set(parameters=sum(p.numel() for p in self.model.parameters()))
        self._write(run.step, layers, output)
        if first.left_out:
            run.note(run.step, "maps are left out that are none of whole inputs and their objects: " + ", ".join(first.left_out))
        run._watches.append(self)

    def capture(self, step: int) -> None:
        """Captures the maps with the weights as they are now, as those after `step`."""
        probe, output = self._look()
        layers = probe.layers()
        if not layers:
            raise RunError("model", _none_found(self.model, probe.left_out))
        self._write(step, layers, output)

    def close(self) -> None:
        """Ends watching."""
        if self in self._run._watches:
            self._run._watches.remove(self)

    def logged(self, step: int, last: bool = False) -> None:
        """Called by the run: captures if it is time. A failure ends the watch, not the training."""
        if step <= self._last or not (last or step // self.every > self._last // self.every):
            return
        try:
            self.capture(step)
        except Exception as error:  # noqa: BLE001: the training goes on whatever the probe meets
            self.close()
            text = f"the maps are not captured any more: {error}"
            self._run.note(step, text, "warning")
            warnings.warn(text, stacklevel=3)

    def _look(self) -> tuple["_Probe", Any]:
        with self._run._being_looked_at():
            with _Probe(self.model, self._inputs) as probe:
                output = self._call()
            if not probe.layers() and not probe.left_out:
                with as_before(self.model, self._inputs):
                    probe.follow(self._call)
        return probe, output

    def _write(self, step: int, layers: list[Layer], output: Any) -> None:
        self._last = step
        if not self._run._captured(step, self._shown(layers, output), layers):
            return
        if self._weights:
            self._run.weights(step, self.model.state_dict())
        if self._budget is not None:
            removed = [self._run._thin(folder, self._budget << 20) for folder in ("captures", "weights")[:1 + self._weights]]
            if any(removed) and not self._thinned:
                self._thinned = True
                self._run.note(step, f"the maps have filled keep_mib, {self._budget} MiB; from here on those steps are removed whose "
                                     "neighbours are nearest")

    def _call(self) -> Any:
        given, more = self._inputs, {}
        if callable(given) and not hasattr(given, "shape"):
            return given(self.model)
        place = _place_of(self.model)
        if place != self._made_for:  # a trainer has moved the model, or changed its type
            given = _moved(given, place)
        if _implementation(self.model) == "eager" and "output_attentions" in _parameters(self.model):
            more = {"output_attentions": True}
        if isinstance(given, Mapping):
            return self.model(**{**given, **more})
        return self.model(*(given if isinstance(given, (tuple, list)) else (given,)), **more)

    def _shown(self, layers: list[Layer], output: Any) -> Inputs:
        kind, first = next(iter(layers[0].given().items()))
        samples, n = first.shape[0], first.shape[1 if kind == "relation" else 2]
        found = dict(self._show.__dict__)
        if not any(found[name] is not None for name in ("images", "tokens", "vectors")):
            found.update(_seen(self._inputs, samples, n))
        if self._outputs and found["probabilities"] is None:
            logits = getattr(output, "logits", output[0] if isinstance(output, (tuple, list)) else output)
            values = files.array_of(logits, "outputs").astype(np.float64)
            if values.ndim != 2 or values.shape[0] != samples:
                raise RunError("outputs", f"have the shape {list(values.shape)}; [{samples}, classes] is needed")
            if self._outputs == "logits":
                values = np.exp(values - values.max(axis=1, keepdims=True))
                values /= values.sum(axis=1, keepdims=True)
            found["probabilities"] = values
        return Inputs(**found)


def _plain(model: Any) -> Any:
    """The model within what torch.compile and data-parallel training make of it."""
    try:
        import torch
    except ImportError:
        raise RunError("watch", "needs PyTorch, which is not installed") from None
    model = getattr(model, "_orig_mod", model)
    if type(model).__name__ in ("DataParallel", "DistributedDataParallel"):
        model = model.module
    model = getattr(model, "_orig_mod", model)
    if not isinstance(model, torch.nn.Module):
        raise RunError("model", f"is {type(model).__name__}, not a torch.nn.Module")
    return model


def _parameters(model: Any) -> Mapping[str, Any]:
    return inspect.signature(model.forward).parameters


def _place_of(model: Any) -> tuple[Any, Any]:
    """Device and type of the first parameter that has a floating point; None without one."""
    first = next((p for p in model.parameters() if p.is_floating_point()), None)
    return (None, None) if first is None else (first.device, first.dtype)


def _moved(given: Any, place: tuple[Any, Any]) -> Any:
    """What a model is called with, where the model is."""
    if hasattr(given, "detach"):
        return given.to(place[0], place[1] if given.is_floating_point() else None)
    if isinstance(given, Mapping):
        return {name: _moved(each, place) for name, each in given.items()}
    return type(given)(_moved(each, place) for each in given) if type(given) in (list, tuple) else given


def _implementation(model: Any) -> str:
    """How a model of transformers computes attention; empty for others."""
    return str(getattr(getattr(model, "config", None), "_attn_implementation", None) or "")


def _none_found(model: Any, left_out: list[str]) -> str:
    if left_out:
        return ("has no maps of whole inputs and their objects: " + ", ".join(left_out)
                + "; call relascope.record(name, tensor, kind) in its forward")
    how = _implementation(model)
    if how and how not in ("eager", "sdpa"):
        return f'computes attention with "{how}", which makes no maps; load it with attn_implementation="eager"'
    return "has no attention that watch() finds; call relascope.record(name, tensor, kind) in its forward"


def _seen(given: Any, samples: int, n: int) -> dict[str, Any]:
    """What the first arguments of a model show of themselves: token ids, images or vectors."""
    if isinstance(given, Mapping):  # a mask of padding looks like ids
        given = [given[name] for name in sorted(given, key=lambda name: name not in ("input_ids", "pixel_values"))]
    values = list(given) if isinstance(given, (tuple, list)) else [given]
    for each in values:
        if not hasattr(each, "shape") or not len(each.shape) or each.shape[0] != samples:
            continue
        array = files.array_of(each, "inputs")
        if array.ndim == 2 and array.dtype.kind in "iu" and array.shape[1] == n:
            return {"tokens": array}
        if array.ndim == 3 and array.dtype.kind == "f" and array.shape[1] == n:
            return {"vectors": array}
        if array.ndim == 4 and array.dtype.kind in "fu" and array.shape[1] in (1, 3):
            if array.dtype.kind == "f":  # normalized pixels are shown from their least to their largest
                array = scaled(array)
            height, width = array.shape[2:]
            sides = [side for side in range(1, min(height, width) + 1) if height % side == 0 and width % side == 0]
            beside = {side: tokens_beside([n], (height // side) * (width // side)) for side in sides}
            fitting = sorted((found[1], side) for side, found in beside.items() if found)  # with the fewest other tokens
            return {"images": array, "patch": fitting[0][1]} if fitting else {"images": array}
    return {}


class _Probe:
    """Runs a model once, and takes the maps that it makes; everything else is as before."""

    def __init__(self, model: Any, inputs: Any):
        self.model, self._inputs = model, inputs
        self.left_out: list[str] = []
        self._sizes: list[int] = []  # what may be the number of inputs, of what the model is called with, the likeliest first
        self._recorded: list[int] = []
        self._taken: list[tuple[str, str, Any]] = []  # layer, kind, values
        self._symbols: list[Any] = []
        self._inside: list[tuple[str, Any, int, tuple]] = []  # name, module, maps taken before it, shape that it was called with
        self._closing = contextlib.ExitStack()

    def __enter__(self) -> "_Probe":
        import torch
        with contextlib.ExitStack() as stack:
            stack.enter_context(as_before(self.model, self._inputs))
            for name, module in self.model.named_modules():
                for handle in (module.register_forward_pre_hook(self._enter(name), with_kwargs=True),
                               module.register_forward_hook(self._leave, always_call=True)):
                    stack.callback(handle.remove)
            stack.enter_context(_seen_by(self))
            stack.enter_context(torch.no_grad())
            for kind in {p.device.type for p in self.model.parameters()} | {"cpu"}:
                stack.enter_context(torch.autocast(kind, enabled=False))
            if hasattr(torch.compiler, "set_stance"):  # compiled parts would hide what they call
                stack.enter_context(torch.compiler.set_stance("force_eager"))
            stack.enter_context(_mode()(self))
            self._closing = stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._closing.__exit__(*error)

    def record(self, name: str, tensor: Any, kind: str) -> None:
        if kind not in RECORDED:
            raise RunError("kind", f"is '{kind}'; there are {', '.join(RECORDED)}")
        values = files.array_of(tensor, str(name)).astype(np.float32)
        self._taken.append((str(name), kind, values[None] if values.ndim == 3 else values))
        self._recorded.append(self._taken[-1][2].shape[0])

    def take(self, kind: str, values: Any, query: Any = None) -> None:
        """Maps of the module that runs: [S, maps, n, m], relations [S, n, n, d_r], and the queries [S, h, n, width] of both."""
        around = [(name, module) for name, module, _, _ in self._inside]
        name, module = around[-1] if around else ("model", None)
        if query is not None and self._inside and _of_channels(tuple(query.shape), self._inside[-1][3]):
            return self.leave_out(f"{name} of channels", values)
        values = values.detach().float().cpu().numpy()
        if type(module).__name__ == "SymbolicAttention":
            self._symbols.append(values)
            return
        for outer, each in reversed(around):
            if type(each).__name__ == "DualAttention":
                name = outer
                break
        self._taken.append((name or type(self.model).__name__, kind, values))
        if self._symbols:  # of the layer that reads them first
            self._taken.append((name, "symbols", self._symbols.pop()))

    def follow(self, call: Callable[[], Any]) -> None:
        """Takes what a model that calls nothing known divides by a softmax and multiplies, by following its tensors."""
        trace, modules = Trace(self._inputs if not callable(self._inputs) or hasattr(self._inputs, "shape") else ()), Modules(self.model)
        with quiet(modules), meeting(modules, trace, None):
            call()
        for found in Attentions(self.model, trace, self._samples()).attentions:
            name = where_of(found.call.path)
            for kind, values in ("relation", found.relations(self._samples())), ("attention", found.pattern):
                if values is not None and not values.is_meta:
                    self._taken.append((name, "relational_attention" if found.relational and kind == "attention" else kind,
                                        values.detach().float().cpu().numpy()))

    def layers(self) -> list[Layer]:
        """What was taken, a layer for each module and call."""
        found: list[tuple[str, Layer]] = []
        samples = self._samples()
        for name, kind, values in self._taken:
            if values.ndim == 3:  # one head, or one input
                values = values[:, None] if values.shape[0] == samples else values[None]
            if values.ndim != 4 or values.shape[0] != samples:
                self.leave_out(name, values)  # of parts of the input, as windows
                continue
            same = [layer for other, layer in found if other == name]
            if not same or getattr(same[-1], kind) is not None:  # a module that is called again is another layer
                same.append(Layer(name if not same else f"{name} #{len(same) + 1}"))
                found.append((name, same[-1]))
            setattr(same[-1], kind, values)
        if len(found) > 1 and _are_numbered([layer.name for _, layer in found]):
            for at, (_, layer) in enumerate(found):
                layer.name = f"layer {at + 1}"
        for _, layer in found:
            for values in layer.attention, layer.relational_attention:
                if values is not None and values.ndim == 4 and values.shape[2] == values.shape[3] > 1:
                    layer.causal = layer.causal or not np.triu(values, 1).any()
        return [layer for _, layer in found]

    def leave_out(self, name: str, values: Any) -> None:
        text = f"{name} [{', '.join(map(str, values.shape))}]"
        if text not in self.left_out:
            self.left_out.append(text)

    def same(self, other: "_Probe") -> bool:
        """Whether another look has found the same, but for what devices round differently each time."""
        here = all(p.device.type == "cpu" for p in self.model.parameters())
        close = {"rtol": 1e-4, "atol": 1e-5} if here else {"rtol": 2e-2, "atol": 1e-2}
        return len(self._taken) == len(other._taken) and all(
            a[:2] == b[:2] and a[2].shape == b[2].shape and np.allclose(a[2], b[2], equal_nan=True, **close)
            for a, b in zip(self._taken, other._taken))

    def _samples(self) -> int:
        """The number of inputs: what the model was called with says it."""
        there = [values.shape[0] for _, _, values in self._taken]
        for size in self._sizes + self._recorded:
            if size in there:
                return size
        return self._sizes[0] if self._sizes else min(there, default=1)

    def _enter(self, name: str) -> Callable[..., None]:
        def enter(module: Any, args: tuple, kwargs: Mapping[str, Any]) -> None:
            given = [*args, *kwargs.values()]
            shapes = [tuple(each.shape) for each in tensors_of(given) if each.ndim]
            self._inside.append((name, module, len(self._taken) + len(self._symbols), shapes[0] if shapes else ()))
            if module is self.model and not self._sizes and shapes:
                listed = [len(given[0])] if isinstance(given[0], (list, tuple)) else []
                self._sizes = [*listed, *shapes[0][:2], 1]  # first dimension, second where sequences come first, one input
        return enter

    def _leave(self, module: Any, _: Any, output: Any) -> None:
        _, _, before, _ = self._inside[-1]
        try:
            if isinstance(output, tuple):
                self._look_at(module, output, len(self._taken) + len(self._symbols) > before)
        finally:
            self._inside.pop()

    def _look_at(self, module: Any, output: tuple, taken: bool) -> None:
        """Weights that a module returns beside its output."""
        name = type(module).__name__
        if name == "RelationalAttention" and hasattr(module, "wq_rel") and len(output) == 3:
            self.take("relational_attention", output[1])
            self.take("relation", output[2])
        elif name == "DisentangledRelationalCrossAttention" and len(output) == 3:
            self.take("relational_attention", output[1])
            self.take("relation", output[2].permute(0, 2, 3, 1))
        elif name == "RelationalCrossAttention" and len(output) == 2:
            self.take("relational_attention", output[1])
        elif not taken and "Attention" in name:
            for each in output[1:]:
                if hasattr(each, "ndim") and each.ndim == 4 and each.is_floating_point() and _are_weights(each):
                    self.take("attention", each)
                    return


@contextlib.contextmanager
def _seen_by(probe: _Probe) -> Iterator[None]:
    """What this thread records goes to the probe."""
    global _probes
    before = getattr(_state, "probe", None)
    _state.probe, _probes = probe, _probes + 1
    try:
        yield
    finally:
        _state.probe, _probes = before, _probes - 1


def _are_numbered(names: list[str]) -> bool:
    """Whether names of modules differ in one number alone: "blocks.0.attn", "blocks.1.attn"."""
    parts = [name.split(".") for name in names]
    if len({len(each) for each in parts}) > 1:
        return False
    differing = [column for column in zip(*parts) if len(set(column)) > 1]
    return len(differing) == 1 and all(part.isdecimal() for part in differing[0])


def _of_channels(query: tuple, called: tuple) -> bool:
    """Whether queries [S, h, rows, width] compare channels, as XCiT's, in a module that is called with [S, n, channels]."""
    return len(query) == 4 and len(called) == 3 and query[3] == called[1] != query[2] and query[1] * query[2] == called[2]


def _are_weights(values: Any) -> bool:
    """Whether the last dimension holds weights: at least 0, with the sum 1, or 0 where everything is masked. What is not
    finite may be weights of a model that has diverged."""
    sums = values.float().sum(-1)
    return bool(((values >= 0) | values.isnan()).all()) and bool((((sums - 1).abs() < 1e-2) | (sums == 0) | sums.isnan()).all())


_mode_class: Any = None


def _mode() -> Any:
    """The class of what sees each function of PyTorch that the model calls; made when PyTorch is there."""
    global _mode_class
    if _mode_class is not None:
        return _mode_class
    import torch.nn.functional as functional
    from torch.overrides import TorchFunctionMode

    scaled, multi_head = functional.scaled_dot_product_attention, functional.multi_head_attention_forward
    parameters = inspect.signature(multi_head)

    class Mode(TorchFunctionMode):
        def __init__(self, probe: _Probe):
            super().__init__()
            self.probe = probe

        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            if function is multi_head:
                given = parameters.bind(*args, **kwargs)
                given.apply_defaults()
                asked, averaged = given.arguments["need_weights"], given.arguments["average_attn_weights"]
                given.arguments.update(need_weights=True, average_attn_weights=False)
                found: Any = function(*given.args, **given.kwargs)
                output, weights = found  # [S, h, n, m], or of one input
                self.probe.take("attention", weights if weights.ndim == 4 else weights[None])
                return output, (weights.mean(-3) if averaged else weights) if asked else None
            output = function(*args, **kwargs)
            if function is scaled:
                self.probe.take("attention", pattern_of(*args, **kwargs), kwargs["query"] if "query" in kwargs else args[0])
            return output

    _mode_class = Mode
    return Mode
