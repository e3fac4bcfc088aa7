# SPDX-License-Identifier: GPL-3.0-or-later
"""Captures the attention and relation maps of a model of PyTorch while it trains, without a change of the model.

    watch = relascope.watch(model, run, every=100, inputs=probe)

Found are: torch.nn.MultiheadAttention, what calls scaled_dot_product_attention (timm, transformers, one's own modules),
modules that return their weights (transformers with attn_implementation="eager"), and the modules of `dual_attention`
with their relations r_ij. Anything else is shown by one line in the model's forward, which costs nothing when nobody
watches:

    relascope.record("similarity", r, kind="relation")

The probe is a forward pass of its own, without gradients and dropout. Training flags, buffers and the states of random
numbers (PyTorch on all devices, NumPy, Python) are as before it.
"""
from __future__ import annotations

import contextlib
import inspect
import random
import threading
import warnings
from typing import Any, Callable, Iterator, Mapping, Optional, Union

import numpy as np

from . import files
from .capture import Inputs, Layer
from .reading import RunError
from .run import Run

RECORDED = ("relation", "attention", "relational_attention", "symbols")
_state = threading.local()


def record(name: str, tensor: Any, kind: str = "relation") -> None:
    """Shows a map of one's own to whoever watches; called in the forward of a model.

    kind: "relation" [S, n, n, d_r], "attention" or "relational_attention" [S, heads, n, n], "symbols" [S, heads, n, symbols];
    of one input without the first dimension. Maps with the same name are one layer."""
    probe = getattr(_state, "probe", None)
    if probe is not None:
        probe.record(name, tensor, kind)


def watch(model: Any, run: Run, every: int = 100, inputs: Any = None, *, show: Union[Inputs, Mapping[str, Any], None] = None,
          outputs: str = "", weights: bool = False) -> "Watch":
    """Captures the maps of `model` for `inputs` now, whenever `every` steps have been logged (run.log), and at run.done().

    inputs: what the model is called with: a tensor, a tuple of arguments, a dictionary of keywords, or a function that
    gets the model and calls it. show: what the window shows of them (relascope.Inputs); without it images, token ids and
    vectors are shown as they are. outputs: "logits" or "probabilities" if the model's output, [S, classes], is kept as its
    answer. weights: whether model.state_dict() is kept with each capture. Raises RunError if no map is found.
    """
    return Watch(model, run, every, inputs, show, outputs, weights)


class Watch:
    """A model that is watched; close() ends it. capture(step) captures at once."""

    def __init__(self, model: Any, run: Run, every: int, inputs: Any, show: Any, outputs: str, weights: bool):
        if outputs not in ("", "logits", "probabilities"):
            raise RunError("outputs", f"is '{outputs}'; logits and probabilities are known")
        if type(every) is not int or every < 1:
            raise RunError("every", f"is {every!r}; a number of steps from 1 on is needed")
        if inputs is None:
            raise RunError("inputs", "are missing; give what the model is called with")
        self.model, self.every = _plain(model), every
        self._run, self._inputs, self._show, self._outputs, self._weights = run, inputs, Inputs.of(show), outputs, weights
        self._last = -1
        if not run._info["parameters"]:
            run.set(parameters=sum(p.numel() for p in self.model.parameters()))
        self.capture(run.step)
        run._watches.append(self)

    def capture(self, step: int) -> None:
        """Captures the maps with the weights as they are now, as those after `step`."""
        with _Probe(self.model) as probe:
            output = self._call()
        layers = probe.layers()
        if not layers:
            raise RunError("model", _none_found(self.model))
        shown = self._shown(layers, output)
        self._run.capture(step, shown, layers)
        if self._weights:
            self._run.weights(step, self.model.state_dict())
        self._last = step

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

    def _call(self) -> Any:
        given, more = self._inputs, {}
        if callable(given) and not hasattr(given, "shape"):
            return given(self.model)
        if _implementation(self.model) == "eager" and "output_attentions" in _parameters(self.model):
            more = {"output_attentions": True}
        if isinstance(given, Mapping):
            return self.model(**{**given, **more})
        return self.model(*(given if isinstance(given, (tuple, list)) else (given,)), **more)

    def _shown(self, layers: list[Layer], output: Any) -> Inputs:
        first = next(iter(layers[0].maps().values()))
        samples, n = first.shape[0], first.shape[2]
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


def _implementation(model: Any) -> str:
    """How a model of transformers computes attention; empty for others."""
    return str(getattr(getattr(model, "config", None), "_attn_implementation", None) or "")


def _none_found(model: Any) -> str:
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
                low, high = float(array.min()), float(array.max())
                array = array if 0 <= low and high <= 1 else (array - low) / max(high - low, 1e-12)
            height, width = array.shape[2:]
            for side in range(1, min(height, width) + 1):
                if height % side == 0 and width % side == 0 and (height // side) * (width // side) in (n, n - 1):
                    return {"images": array, "patch": side}
            return {"images": array}
    return {}


def _attention_of(query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
                  scale: Optional[float] = None, enable_gqa: bool = False) -> Any:
    """The weights of scaled_dot_product_attention, float32 [S, h, n, m]."""
    import torch
    q, k = query.float(), key.float()
    if enable_gqa:
        k = k.repeat_interleave(q.shape[-3] // k.shape[-3], -3)
    scores = (q @ k.transpose(-2, -1)) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1), float("-inf"))
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, float("-inf")) if attn_mask.dtype == torch.bool else scores + attn_mask
    return torch.softmax(scores, -1).nan_to_num(0.0)  # a row without any key has no weights


class _Probe:
    """Runs a model once, and takes the maps that it makes; everything else is as before."""

    def __init__(self, model: Any):
        self.model = model
        self._taken: list[tuple[str, str, Any]] = []  # layer, kind, values
        self._symbols: list[Any] = []
        self._inside: list[tuple[str, Any, int]] = []  # name, module, how many maps were taken before it
        self._closing = contextlib.ExitStack()

    def __enter__(self) -> "_Probe":
        import torch
        with contextlib.ExitStack() as stack:
            stack.enter_context(_as_before(self.model))
            for name, module in self.model.named_modules():
                for handle in (module.register_forward_pre_hook(self._enter(name)),
                               module.register_forward_hook(self._leave, always_call=True)):
                    stack.callback(handle.remove)
            before = getattr(_state, "probe", None)
            _state.probe = self
            stack.callback(setattr, _state, "probe", before)
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
        self._taken.append((str(name), kind, files.array_of(tensor, str(name)).astype(np.float32)))

    def take(self, kind: str, values: Any) -> None:
        """Maps of the module that runs: [S, maps, n, m], relations [S, n, n, d_r]."""
        if values.ndim != 4:
            return  # one input without its first dimension
        values = values.detach().float().cpu().numpy()
        around = [(name, module) for name, module, _ in self._inside]
        name, module = around[-1] if around else ("model", None)
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

    def layers(self) -> list[Layer]:
        """What was taken, a layer for each module and call."""
        found: list[tuple[str, Layer]] = []
        samples = max((values.shape[0] for _, _, values in self._taken if values.ndim == 4), default=1)
        for name, kind, values in self._taken:
            if values.ndim == 4 and values.shape[0] != samples:
                continue  # of parts of the input, as windows
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

    def _enter(self, name: str) -> Callable[..., None]:
        def enter(module: Any, _: Any) -> None:
            self._inside.append((name, module, len(self._taken) + len(self._symbols)))
        return enter

    def _leave(self, module: Any, _: Any, output: Any) -> None:
        _, _, before = self._inside[-1]
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


def _are_numbered(names: list[str]) -> bool:
    """Whether names of modules differ in one number alone: "blocks.0.attn", "blocks.1.attn"."""
    parts = [name.split(".") for name in names]
    if len({len(each) for each in parts}) > 1:
        return False
    differing = [column for column in zip(*parts) if len(set(column)) > 1]
    return len(differing) == 1 and all(part.isdecimal() for part in differing[0])


def _are_weights(values: Any) -> bool:
    """Whether the last dimension holds weights: at least 0, with the sum 1, or 0 where everything is masked."""
    sums = values.float().sum(-1)
    return bool((values >= 0).all()) and bool((((sums - 1).abs() < 1e-2) | (sums == 0)).all())


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
                self.probe.take("attention", _attention_of(*args, **kwargs))
            return output

    _mode_class = Mode
    return Mode


@contextlib.contextmanager
def _as_before(model: Any) -> Iterator[None]:
    """A model in eval(), whose flags, buffers and random numbers are restored at the end."""
    import torch
    flags = [(module, module.training) for module in model.modules()]
    fused = [module for module in model.modules() if getattr(module, "fused_attn", None) is False]  # timm: seen if it is fused
    buffers = [(module, name, buffer, buffer.clone(), buffer._version) for module in model.modules()
               for name, buffer in module._buffers.items() if buffer is not None]
    fast = torch.backends.mha.get_fastpath_enabled() if hasattr(torch.backends, "mha") else None
    python, numpy_state = random.getstate(), np.random.get_state()
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_available() and torch.cuda.is_initialized() else []
    try:
        with torch.random.fork_rng(devices=devices):
            model.eval()
            if fast is not None:
                torch.backends.mha.set_fastpath_enabled(False)  # it computes no weights
            for module in fused:
                module.fused_attn = True
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy_state)
        if fast is not None:
            torch.backends.mha.set_fastpath_enabled(fast)
        for module in fused:
            module.fused_attn = False
        for module, training in flags:
            module.training = training
        with torch.no_grad():
            for module, name, buffer, copy, version in buffers:
                if buffer._version != version:
                    buffer.copy_(copy)
                if module._buffers.get(name) is not buffer:
                    module._buffers[name] = buffer
