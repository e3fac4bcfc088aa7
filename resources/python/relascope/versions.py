# SPDX-License-Identifier: GPL-3.0-or-later
"""A number that changes with the weights of a model, however they are changed, and that costs little to ask for."""
from __future__ import annotations

import contextlib
import weakref
import zlib
from typing import Any, Optional, Sequence

_VALUES = 16  # of each tensor


class Version:
    """The version of some tensors: how often PyTorch has counted a change of them, the steps of optimizers, of which fused ones are not
    counted, and a few of the values, for what goes through `.data`. close() ends it."""

    def __init__(self, tensors: Sequence[Any]):
        self._tensors = list(tensors)
        self._ids = {id(each) for each in self._tensors}
        self._places: Optional[list[int]] = None
        self._looks: list[Any] = []  # of each device and type its values, as views
        self._steps = 0
        from torch.optim.optimizer import register_optimizer_step_post_hook
        own = weakref.ref(self)

        def stepped(optimizer: Any, *_: Any) -> None:
            import torch
            version = own()
            if version is not None and not torch.compiler.is_compiling():  # a compiled step is seen by its values
                version._steps += any(id(each) in version._ids for group in optimizer.param_groups for each in group["params"])
        self._hook = register_optimizer_step_post_hook(stepped)
        weakref.finalize(self, self._hook.remove)

    def close(self) -> None:
        self._hook.remove()

    def number(self) -> int:
        counted = self._steps + sum(0 if each.is_inference() else each._version for each in self._tensors)
        return counted << 24 | self._seen() & 0xFFFFFF

    def _seen(self) -> int:
        """A checksum of a few values of each tensor."""
        import torch
        places = [_place(each) for each in self._tensors]
        crc = 0
        with torch.no_grad():
            if places != self._places:
                self._places, self._looks = places, _looks(self._tensors)
            for views in self._looks:
                crc = zlib.crc32(memoryview(torch.cat(views).cpu().view(torch.uint8).numpy()), crc)
        return crc


def _place(tensor: Any) -> int:
    try:
        return int(tensor.data_ptr())
    except (RuntimeError, ValueError):  # it has none
        return 0


def _looks(tensors: Sequence[Any]) -> list[list[Any]]:
    """Views of a few values of each tensor, those of one device and type together."""
    import torch
    groups: dict[Any, list[Any]] = {}
    for tensor in tensors:
        with contextlib.suppress(RuntimeError, ValueError, NotImplementedError, TypeError):  # of a kind whose values lie at no place
            values = tensor.detach()
            if not values.numel() or values.is_meta:
                continue
            if values.is_complex():
                values = torch.view_as_real(values)
            values = values.permute(sorted(range(values.ndim), key=values.stride, reverse=True))
            if values.element_size() == 1:
                values = values.view(torch.uint8)
            if values.is_contiguous():
                step = max(1, (values.numel() - 1) // (_VALUES - 1) - 1) | 1  # odd: not one column alone
                values = values.view(-1)[::step][:_VALUES]
            else:
                values = values[(0,) * values.ndim].reshape(1)
            groups.setdefault((values.device, values.dtype), []).append(values)
    return list(groups.values())
