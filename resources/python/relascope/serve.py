# SPDX-License-Identifier: GPL-3.0-or-later
"""Serves a model of PyTorch, of any code: this process computes, Relascope asks.

    served = relascope.serve(model, validation, classes=names, run=run)   # answers in run.log(), and between cells of a notebook
    relascope.analyse(served, "ablate", examples=500)                     # or relascope-cli ablate served:NAME
    relascope.edit(served, "layer 6 head 3 zero", sample=4)
    served.wait()                                                         # at the end of a script

Nothing is computed but between two steps, between two cells, in wait(), and while this process asks; no thread touches the model.
Whatever a pass changes is put back, and what goes wrong in one is told to the one who asked: the program continues.
"""
from __future__ import annotations

import atexit
import contextlib
import os
import re
import sys
import threading
import time
import warnings
import weakref
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence

from . import answers
from .door import HOLD, Cancelled, Door, Gone, Peer
from .examples import Examples, Show
from .kept import as_before
from .passes import PassError
from .proofs import Found, find
from .reading import RunError
from .run import Run, _rank
from .versions import Version
from .watch import _plain

_REMEMBER = 30.0  # seconds after the last request of a question that its weights and graph are kept for
_ANSWER = 2.0   # seconds that a training answers for, before it goes on for as long
_TRACED = 64    # tokens of a text in which the points are found
_LINGER = 0.05  # seconds that the next request of a question may take
_GAP = 1.0      # seconds between two requests of a question, at most, before a cell
_open: "weakref.WeakSet[Served]" = weakref.WeakSet()


def serve(model: Any, inputs: Any, *, call: Optional[Callable[[Any, Any], Any]] = None, show: Show = None, classes: Sequence[str] = (),
          tokenizer: Any = None, encode: Optional[Callable[[Any], Any]] = None, fresh: Optional[Callable[[int], Any]] = None,
          run: Optional[Run] = None, name: str = "", amp: Any = None) -> "Served":
    """Lets Relascope ask `model`: edits, ablations, maps and what else the document "Python" lists, computed by this process.

    inputs: a Dataset, a DataLoader (its data and collate_fn), tensors (x, y), or a dictionary of splits; an example is (x, y) or a
    dictionary with `labels`. call(model, batch): the scores; else model(x) or model(**batch), of that .logits or the first of a tuple.
    show, classes: as those of watch(), for the first split; or a function of numbers of examples. tokenizer: one of transformers, or a
    file. encode(input): a batch of typed ids [S, n], or of dropped pictures [S, channels, height, width] from 0 to 1. fresh(seed): a
    model with new weights. run: answers in run.log(). name: as it is asked for, "served:NAME"; else that of the program. amp: the type
    of autocast, else none. Raises RunError."""
    try:
        import torch  # noqa: F401
    except ImportError:
        raise RunError("serve", "needs PyTorch, which is not installed") from None
    return Served(model, inputs, call, show, classes, tokenizer, encode, fresh, run, name, amp)


class Served:
    """A model that is served; close() ends it. `lock` is held by a pass: threads of one's own hold it around a step."""

    def __init__(self, model: Any, inputs: Any, call: Any, show: Any, classes: Sequence[str], tokenizer: Any, encode: Any, fresh: Any,
                 run: Optional[Run], name: str, amp: Any):
        self.model = _plain(model)
        spread = any(base.__name__ in ("FullyShardedDataParallel", "FSDPModule") for each in self.model.modules() for base in type(each).__mro__)
        if spread or any(type(each).__name__ == "DTensor" for each in self.model.parameters()):
            raise RunError("model", "is spread over processes; serve a copy on one")
        self.lock, self.run, self.fresh, self.amp = threading.RLock(), run, fresh, amp
        self.examples = Examples(self.model, inputs, call, show, classes, tokenizer, encode)
        self.careful = False      # a pass changes what the model holds, and that is put back each time
        self.found: Optional[Found] = None  # of another process of this training there is none
        self.tokenizer_made = ""  # a file that close() removes
        self.snapshots: dict[int, dict[str, Any]] = {}
        self.kept_steps: dict[Any, tuple[dict[str, Any], float]] = {}  # weights of other steps, and when they were asked for
        self._door: Optional[Door] = None
        self._loop: Any = None
        self._cells: Any = None   # the shell of a notebook
        self._answering, self._rested, self.crc = False, 0.0, (-1, 0)
        self._warned = self._forgets = self._later = False
        self.patience = 30.0      # seconds that a pass waits for the other side
        self._wanted, rank = _name(name), _rank()
        if rank and not rank.startswith("rank 0"):
            return                # the first process of a training on several serves
        self.look()
        for former in [each for each in _open if each._door is not None and each._wanted == self._wanted]:
            former.close()        # as of a cell that is run again
        self._door = Door(self._wanted)
        self.name = self._door.name
        self.program = os.path.abspath(getattr(sys.modules["__main__"], "__file__", "") or "notebook")
        if run is not None:
            run._served.append(self)
        if "asyncio" in sys.modules:
            with contextlib.suppress(RuntimeError):  # no loop runs
                self._loop = sys.modules["asyncio"].get_running_loop()  # of a notebook, between whose cells is time
                self._loop.add_reader(self._door.fileno(), self._between_cells)
        self._cells = _kernel() if self._loop is not None else None
        if self._cells is not None:
            self._cells.events.register("pre_run_cell", self._before_cell)
        _open.add(self)

    def __fspath__(self) -> str:
        if self._door is None:
            raise RunError("served", "is closed, or served by another process of this training")
        return f"served:{self.name}"

    def __repr__(self) -> str:
        return f"<relascope.Served {self.name if self._door else 'closed'}: {len(self.points)} points>"

    def __enter__(self) -> "Served":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @property
    def points(self) -> list[str]:
        """The names of the points that were found, in the order of the pass."""
        return list(self.found.points) if self.found is not None else []

    @property
    def left_out(self) -> list[str]:
        """What was not found, a sentence each."""
        return list(self.found.left_out) if self.found is not None else []

    def close(self) -> None:
        """Ends serving."""
        door, self._door = self._door, None
        if door is None:
            return
        if self.run is not None and self in self.run._served:
            self.run._served.remove(self)
        if self._loop is not None:
            with contextlib.suppress(RuntimeError, ValueError, OSError):
                self._loop.remove_reader(door.fileno())
        if self._cells is not None:
            with contextlib.suppress(ValueError):
                self._cells.events.unregister("pre_run_cell", self._before_cell)
        door.close({"m": "bye"})
        self.weights.close()
        self.snapshots.clear()
        self.kept_steps.clear()
        answers.forget_tokenizer(self)

    def wait(self, seconds: Optional[float] = None) -> None:
        """Answers until Ctrl-C or close(), or for a while."""
        end = None if seconds is None else time.monotonic() + seconds
        with contextlib.suppress(KeyboardInterrupt):
            while self._door is not None and (end is None or time.monotonic() < end):
                self.answer(0.5 if end is None else max(0.0, min(0.5, end - time.monotonic())))

    def fileno(self) -> int:
        """What becomes readable when somebody asks."""
        if self._door is None:
            raise RunError("served", "is closed")
        return self._door.fileno()

    def answer(self, seconds: float = 0.0, until: float = float("inf"), held: bool = False) -> bool:
        """Answers what is asked now, or within that time. Whether anything was. until: the moment at which no other answer is begun.
        held: only those who are about to ask for gradients."""
        done = False
        if self._answering or self._door is None:
            return False  # within a pass: the forward of the model has logged
        if self._door.poll(seconds):
            self._answering = True
            try:
                while self._door is not None and time.monotonic() < until and \
                        (found := self._door.next(Peer.holds) if held else self._door.next()) is not None:
                    done = True
                    self._answer(*found)
                    if self._door is not None:
                        self._door.poll(0)
            finally:
                self._answering = False
        self._say_trouble()
        self._forget()
        return done

    def logged(self) -> None:
        """Called by the run after each point: answers for 2 seconds at most, and a little longer where the gradients of a pass are still to
        be asked for; then the training gets as long. Nothing that goes wrong here ends the training."""
        if self._door is None or self._answering:
            return
        try:
            asked, began = self._door.poll(0), time.monotonic()
            self._say_trouble()
            if asked and began >= self._rested:
                self._answer_between_steps(began)
                self._rested = 2 * time.monotonic() - began
                self._say_waiting(_ANSWER, True)
            elif asked:
                self._say_waiting(self._rested - began, False)
            self._before_training(asked)
            self._answer_later()
        except Exception as error:  # noqa: BLE001: whatever it is
            self._warn(f"{type(error).__name__}: {error}")

    def _answer_between_steps(self, began: float) -> None:
        patience, self.patience = self.patience, 5.0
        end = began + _ANSWER
        try:
            while (now := time.monotonic()) < end + HOLD:
                held = self._door is not None and any(peer.holds() for peer in self._door.peers.values())
                if now >= end and not held:
                    break
                if not self.answer(_LINGER, end if now < end else end + HOLD, now >= end) and not held:
                    break
        finally:
            self.patience = patience

    def _say_waiting(self, seconds: float, again: bool) -> None:
        """Tells who has asked that the training goes on. again: also those who have been told."""
        for peer in list(self._door.peers.values()) if self._door is not None else []:
            number = peer.waiting[0][0].get("id") if peer.waiting else None
            if peer.waiting and (again or peer.told != number):
                peer.told = number
                with contextlib.suppress(Gone):
                    peer.send({"m": "waiting", "id": number, "seconds": seconds, "text": "waiting for a step of the training"})

    def _before_training(self, asked: bool) -> None:
        """The weights that a question is about are kept while the training changes them; graphs are not."""
        if self._door is None:
            return
        for peer in self._door.peers.values():
            peer.lose_graph()
        self._forget()
        if not asked:
            return
        version, wanted = answers.version_of(self), self._asked_versions()
        if version in wanted and version not in self.snapshots and len(self.snapshots) < 2:
            with contextlib.suppress(RuntimeError):  # no memory for a copy: the question starts again
                self.snapshots[version] = answers.snapshot_of(self.model)

    def _asked_versions(self) -> set[int]:
        peers = self._door.peers.values() if self._door is not None else ()
        return {peer.version for peer in peers if time.monotonic() - peer.asked < _REMEMBER}

    def _forget(self) -> None:
        """Deletes copies of weights, and graphs, that nobody uses any more."""
        peers = list(self._door.peers.values()) if self._door is not None else []
        before = time.monotonic() - _REMEMBER
        if self.snapshots:
            wanted = self._asked_versions()
            for old in [each for each in self.snapshots if each not in wanted]:
                del self.snapshots[old]
        for key in [key for key, (_, used) in self.kept_steps.items() if not peers or used < before]:
            del self.kept_steps[key]
        for peer in peers:
            if peer.graph is not None and peer.asked < before:
                peer.lose_graph()

    def _between_cells(self) -> None:
        self._later = False
        try:
            with contextlib.suppress(KeyboardInterrupt):
                self.answer(0.0)
        except Exception as error:  # noqa: BLE001: whatever it is
            self._warn(f"{type(error).__name__}: {error}")
        if self._loop is not None and not self._forgets:  # nothing else calls once all is idle
            self._forgets = True
            self._loop.call_later(_REMEMBER + 1, _forget_later, weakref.ref(self))

    def _answer_later(self) -> None:
        """What a cell has taken from the sockets and not answered: the loop does not see it any more."""
        if self._loop is not None and self._door is not None and not self._later and any(peer.waiting for peer in self._door.peers.values()):
            self._later = True
            self._loop.call_soon_threadsafe(self._between_cells)

    def _before_cell(self, *_: Any) -> None:
        """A cell may train, and a question that has begun continues behind it."""
        try:
            if self._door is not None and not self._answering:
                asked = self._door.poll(0)
                self._before_training(asked or any(time.monotonic() - peer.asked < _GAP for peer in self._door.peers.values()))
                self._answer_later()
        except Exception as error:  # noqa: BLE001: whatever it is
            self._warn(f"{type(error).__name__}: {error}")

    def _say_trouble(self) -> None:
        if self._door is not None and self._door.trouble:
            self._warn(self._door.trouble)
            self._door.trouble = ""

    def _warn(self, problem: str) -> None:
        """Says once what went wrong; the program goes on."""
        if not self._warned:
            self._warned = True
            with contextlib.suppress(Warning):  # one that is made an error
                warnings.warn(f"the served model {self.name}: {problem}; the program continues", stacklevel=4)

    def look(self) -> None:
        """Finds the points of the model as it is now."""
        first = self.examples.splits[0]
        pair = self._pair(first)
        given, other = (self.examples.parts(first, each)[0] for each in (pair, pair[::-1]))
        with self.lock, self._unlogged():
            before = answers.state_of(self.model)
            with as_before(self.model, None):
                kept = answers.state_of(self.model)
                found = self._find(given, other if pair[0] != pair[1] else None)
                self.careful = answers.state_of(self.model) != kept
            if answers.state_of(self.model) != before and not self.careful:
                self.careful = True
        self.found, scores = found
        self.kept_steps.clear()
        self.snapshots.clear()
        self.facts = answers.facts_of(self, given, scores)
        self.weights = Version([each for _, each in answers.tensors_of_model(self.model)])
        self._seen, self._checked = answers.shape_of(self.model), time.monotonic()

    def _find(self, given: Any, other: Any) -> tuple[Found, Any]:
        """Of long texts their first tokens are enough, where the model takes less: a trace holds all that it meets."""
        seen = self.examples.seen(given)
        if seen is not None and seen.ndim == 2 and seen.shape[1] > _TRACED:
            with contextlib.suppress(Exception):
                return find(self.model, self.examples.answer, _first(given, seen.shape[1]), 2, None if other is None else _first(other, seen.shape[1]), self.amp)
        return find(self.model, self.examples.answer, given, 2, other, self.amp)

    def _pair(self, split: Any) -> list[int]:
        """Two examples of the same sizes."""
        sizes: dict[Any, int] = {}
        for index in range(min(split.size, 32)):
            given, _ = self.examples.parts(split, [index])
            seen = self.examples.seen(given)
            key = None if seen is None else seen.shape
            if key in sizes:
                return [sizes[key], index]
            sizes[key] = index
        return [0, 0]

    @contextlib.contextmanager
    def _unlogged(self) -> Iterator[None]:
        """What the model's own forward logs during a pass is not written."""
        with self.run._being_looked_at() if self.run is not None else contextlib.nullcontext():
            yield

    @contextlib.contextmanager
    def passing(self) -> Iterator[None]:
        """One pass: alone, and leaving nothing behind."""
        with self.lock, self._unlogged(), as_before(self.model, None) if self.careful else contextlib.nullcontext():
            yield

    def current(self) -> Found:
        """The points; found again where the model has been changed by surgery."""
        if time.monotonic() - self._checked > 1.0:
            self._checked = time.monotonic()
            if answers.shape_of(self.model) != self._seen:
                self.look()
        assert self.found is not None
        return self.found

    def checksum(self) -> int:
        """CRC-32 of the weights, which is computed once for each version of them."""
        version = answers.version_of(self)
        if self.crc[0] != version:
            self.crc = version, answers.checksum_of(self.model)
        return self.crc[1]

    def _answer(self, peer: Peer, message: Mapping[str, Any], blob: Any) -> None:
        """Answers one request. Whatever happens in it is a sentence for who asked."""
        door, number = self._door, message.get("id")
        assert door is not None
        try:
            try:
                if not peer.greeted:
                    if not door.greet(peer, dict(message), {"name": self.name, "program": self.program, "notebook": self._cells is not None}):
                        raise Gone
                    return
                answers.answer(self, peer, message, blob)
            except Cancelled:
                peer.send({"m": "error", "id": number, "text": "the pass was cancelled", "key": "cancelled"})
            except Gone:
                raise
            except PassError as error:
                peer.send({"m": "error", "id": number, "text": str(error), "key": error.key})
            except KeyboardInterrupt:
                peer.send({"m": "error", "id": number, "text": f"the program that serves {self.name} was interrupted", "key": "interrupted"})
                raise
            except Exception as error:  # noqa: BLE001: whatever the model's own code raises
                peer.send({"m": "error", "id": number, **answers.sentence_of(error)})
        except Gone:
            door.drop(peer)


def served_here(word: Any) -> Optional[Served]:
    """The model that a word names, if this process serves it: itself, or "served:NAME"."""
    if isinstance(word, Served):
        return word
    return next((each for each in list(_open) if each._door is not None and word == f"served:{each.name}"), None)


def _first(given: Any, length: int) -> Any:
    """The first tokens of what a model is called with."""
    if hasattr(given, "detach"):
        return given[:, :_TRACED] if given.ndim >= 2 and given.shape[1] == length else given
    if isinstance(given, Mapping):
        return {name: _first(each, length) for name, each in given.items()}
    return type(given)(_first(each, length) for each in given) if type(given) in (list, tuple) else given


def _kernel() -> Any:
    """The shell that runs the cells of this notebook, if it is one."""
    made = sys.modules.get("IPython")
    return made.get_ipython() if made is not None else None


def _name(given: str) -> str:
    """A name for a door: what is given, or that of the program."""
    if not given:
        path = getattr(sys.modules["__main__"], "__file__", None) or ""
        given = os.path.splitext(os.path.basename(path))[0] or "notebook"
        given = re.sub(r"[^A-Za-z0-9._-]", "-", given).strip(".-")[:40] or "model"
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,39}", given):
        raise RunError("name", f"is '{given[:60]}'; letters, digits, '.', '_' and '-' are allowed, 40 of them")
    return given


def _forget_later(own: "weakref.ref[Served]") -> None:
    served = own()
    if served is not None:
        served._forgets = False
        served._forget()


def _end_open() -> None:
    for served in list(_open):
        served.close()


def _forget_in_child() -> None:
    """A forked process, as a DataLoader's worker, does not serve."""
    for served in list(_open):
        door, served._door = served._door, None
        if door is not None:
            door.leave()
        if served.run is not None and served in served.run._served:
            served.run._served.remove(served)


os.register_at_fork(after_in_child=_forget_in_child)
atexit.register(_end_open)
