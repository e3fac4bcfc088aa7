# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the run of a training of one's own as a folder that Relascope opens (formats.md, sections 9 to 11).

    run = relascope.Run("runs/mine", model={"name": "my ViT"})
    run.log(step, loss=loss, accuracy=accuracy)                      # a point of the training
    run.log(step, split="validation", loss=loss, accuracy=accuracy)
    run.capture(step, inputs={"images": images, "patch": 8}, layers=[relascope.Layer("block 1", attention=weights)])
    run.weights(step, model.state_dict())
    run.done()

A kill at any moment leaves a folder that opens: lines are appended with one write, files are renamed when they are
whole. One process writes a run; of a training on several, the first.
"""
from __future__ import annotations

import atexit
import contextlib
import errno
import fcntl
import json
import math
import operator
import os
import re
import socket
import sys
import threading
import time
import warnings
import weakref
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence, Union

import numpy as np

from . import files, reading
from .capture import Inputs, Layer, NotFinite, capture_parts
from .reading import RunError
from .version import __version__

LEVELS = ("info", "warning", "edit", "checkpoint", "sample", "jump")
_SAVE_EVERY = 0.5  # seconds between two writings of the progress; points are written at once
_LAST = 10 ** 15 - 1
_TAKEN = ("step", "epoch", "examples", "seconds", "split")
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP)  # of some file systems of a network
# What Relascope computes with. Other programs may use the same key for names of their own.
ARCHITECTURES = (
    "AbstractorModel", "CoRelNet", "CoRelNetSoftmax", "DualAttnTransformerLM", "ESBN", "FixedRelationAbstractor", "HadamardTransformerLM",
    "InnerProductRelation", "MessagePassingAbstractor", "NanochatDecoder", "ObjectAbstractor", "ObjectCoRelNet", "ObjectMLP",
    "ObjectPrediNet", "ObjectTransformer", "PairRelations", "PrediNet", "PublicDecoder", "PublicDualDecoder", "PublicEncoder", "PublicImageModel",
    "RcaHead", "RelationNetwork", "RelationalHead", "RobustRegression", "SensoryHead", "Seq2SeqAbstractor", "Seq2SeqDualAttnTransformer",
    "Seq2SeqTransformer", "SymbolicMLP", "TransformerLM", "VisionDualAttnTransformer", "VisionTransformer")

_open_runs: "weakref.WeakSet[Run]" = weakref.WeakSet()


def _number(value: Any, name: str) -> float:
    """A number, also of a tensor or array with one."""
    try:
        return float(value.item() if hasattr(value, "item") else value)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise RunError(name, f"is {type(value).__name__}, not a number") from None


def _whole(value: Any, name: str) -> int:
    """A whole number from 0 on, also of a tensor or array with one."""
    try:
        found = operator.index(value.item() if hasattr(value, "item") else value)
    except (TypeError, ValueError, RuntimeError):
        raise RunError(name, f"is {str(value)[:40]}, not a whole number") from None
    if not 0 <= found <= _LAST:
        raise RunError(name, f"is {found}; a number from 0 to {_LAST} is needed")
    return found


def _first_line(path: str) -> str:
    try:
        with open(path) as file:
            return file.readline().strip()
    except OSError:
        return ""


def _process_line() -> str:
    """This process as a line of .lock, by which it can be told later how it ended. It has no door."""
    kills = 0
    try:
        with open("/proc/vmstat") as file:
            kills = next((int(line.split()[1]) for line in file if line.startswith("oom_kill ")), 0)
    except OSError:
        pass
    return json.dumps({"pid": os.getpid(), "machine": socket.gethostname(), "boot": _first_line("/proc/sys/kernel/random/boot_id"),
                       "socket": "", "version": __version__, "protocol": 0, "oom_kill": kills,
                       "job": os.environ.get("SLURM_JOB_ID", "")}) + "\n"


def _rank() -> str:
    """Which process of a distributed training this is, as "rank 1 of 4"; empty if it is alone."""
    torch = sys.modules.get("torch.distributed")
    if torch is not None and torch.is_available() and torch.is_initialized():
        rank, size = torch.get_rank(), torch.get_world_size()
        return f"rank {rank} of {size}" if size > 1 else ""
    for key, count in (("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS"),
                       ("LOCAL_RANK", "LOCAL_WORLD_SIZE")):
        rank, size = os.environ.get(key, ""), os.environ.get(count, "")
        if rank.isdecimal() and (size.isdecimal() and int(size) > 1 or not size and int(rank) > 0):
            return f"rank {rank}" + (f" of {size}" if size else "")
    return ""


def _as_json(value: Any, name: str) -> Any:
    """The value with NumPy's and PyTorch's numbers as Python's. Refuses what JSON cannot hold."""
    if isinstance(value, Mapping):
        return {str(key): _as_json(each, f"{name}.{key}") for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_json(each, name) for each in value]
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
        return value if isinstance(value, (bool, int)) else files.finite(_number(value, name))
    if isinstance(value, float):
        return files.finite(value)
    raise RunError(name, f"is {type(value).__name__}; numbers, texts, lists and dictionaries can be kept")


class Run:
    """A run that this process writes.

    path: its folder, new or empty. model, data: settings for people, of any kind; model["name"] names the run's model.
    Where `model` is the options of an architecture of Relascope ({"architecture": "DualAttnTransformerLM", ...}), the
    weights open as those of any run. total_steps: 0 where it is not known. resume: continues a run that is there; a
    number drops the points after that step first. Throws RunError, which names the file or argument.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"], model: Optional[Mapping[str, Any]] = None,
                 data: Optional[Mapping[str, Any]] = None, *, total_steps: int = 0, seed: int = 0, parameters: int = 0,
                 device: str = "cpu", resume: Union[bool, int] = False):
        self.path = os.path.abspath(os.fspath(path))
        self._guard, self._ended = threading.RLock(), False
        self._metrics_path = self._at("metrics.jsonl")
        self._metrics = self._events = self._lock = self._folder = -1
        self._watches: list = []
        self._served: list = []  # models that answer between two steps
        self._looker = 0  # the thread in which a model is looked at, whose forward may log
        self._unwritten, self._left_out = 0, set[str]()
        there = os.path.isfile(self._at("run.json"))
        if there and resume is False:
            raise RunError(self.path, self._why_taken())
        if not there and resume is not False:
            raise RunError(self.path, "has no run to resume")
        made = self._new_info(_as_json(model or {}, "model"), _as_json(data or {}, "data")) if not there else {}
        try:
            os.makedirs(self.path, exist_ok=True)
            self._folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            unlocked = self._take_lock(there)
            for folder in "captures", "weights":
                os.makedirs(self._at(folder), exist_ok=True)
            if there:
                self._continue(resume)
            else:
                self._info = made
            for key, value in ("total_steps", total_steps), ("seed", seed), ("parameters", parameters), ("device", device):
                if value or key not in self._info:
                    self._info[key] = _as_json(value, key)
            self._info.update(state="running", message="")
            self._began = time.monotonic() - self._info["seconds"]
            files.write_json(self._at("run.json"), self._info)
            self._saved = time.monotonic()
            self._metrics, self._events = (os.open(self._at(name), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
                                           for name in ("metrics.jsonl", "events.jsonl"))
        except (OSError, RunError) as error:
            if self._lock >= 0 and not there and not os.path.exists(self._at("run.json")):  # of what is no run the name stays free
                for remove, name in (os.remove, ".lock"), (os.rmdir, "captures"), (os.rmdir, "weights"):
                    with contextlib.suppress(OSError):
                        remove(self._at(name))
            self._close()
            if isinstance(error, RunError):
                raise
            raise RunError(error.filename or self.path, f"cannot be written: {error.strerror}") from None
        _open_runs.add(self)
        if unlocked:
            self._say(self.step, f"{self.path} is on a file system without locks ({unlocked}): nothing keeps another process from writing "
                                 "this run, and it is shown as interrupted while it is written", depth=3)

    def __repr__(self) -> str:
        return f"<relascope.Run {self.path}>"

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.done()
        elif kind is KeyboardInterrupt:
            self._end("stopped", "interrupted from the keyboard")
        else:
            self.failed(f"{kind.__name__}: {error}")

    def __deepcopy__(self, _: Any) -> "Run":
        return self  # of a model that holds it: the copy writes the same run

    def __reduce__(self) -> Any:
        raise RunError(self.path, "cannot be handed to another process; make the Run in the process that writes it")

    @property
    def step(self) -> int:
        """The last step that was logged."""
        return self._info["step"]

    def log(self, step: int, values: Optional[Mapping[str, Any]] = None, *, split: str = "train",
            epoch: Optional[float] = None, examples: Optional[int] = None, **more: Any) -> None:
        """Appends a point of the learning curves: numbers by their names, as loss=0.3, accuracy=0.9 (0 to 1). Names that
        no keyword can be, as "loss/mlm", go into the dictionary `values`, as loggers give them: its "epoch" is the epoch, its
        "step" is left out, and so is what is no number, with one note. What is not finite is kept as such. A disk that is
        full is a warning, and no error."""
        if self._looker == threading.get_ident():
            return  # by the forward of a model that is looked at
        step, examples = _whole(step, "step"), _whole(examples or 0, "examples")
        if split not in reading.SPLITS:
            raise RunError("split", f"is '{split}'; there are {', '.join(reading.SPLITS)}")
        if epoch is not None:
            more["epoch"] = epoch
        found = self._numbers(step, {**values, **more} if values else more, ("seconds", "examples", "split"))
        found.pop("step", None)
        with self._guard:
            self._need_open()
            info, now = self._info, time.monotonic()
            info["step"], info["seconds"] = max(info["step"], step), now - self._began
            if "epoch" in found:
                info["epoch"] = found.pop("epoch")
            line = {"step": step, "epoch": info["epoch"], "examples": examples, "seconds": round(info["seconds"], 6), "split": split, **found}
            self._written(step, lambda: files.append_line(self._metrics_path, self._metrics, line), opened=True)
            if split == "validation":
                _take(info, step, found)
            if split == "validation" or now - self._saved >= _SAVE_EVERY:
                self._save(durable=False)
        if split == "train":
            for watch in list(self._watches):
                watch.logged(step)
            for served in list(self._served):
                served.logged()

    def note(self, step: int, text: str, level: str = "info") -> None:
        """Appends a note to the run's events."""
        if level not in LEVELS:
            raise RunError("level", f"is '{level}'; there are {', '.join(LEVELS)}")
        with self._guard:
            self._need_open()
            line = {"step": _whole(step, "step"), "time": int(time.time()), "level": level, "text": str(text)}
            self._written(step, lambda: files.append_line(self._at("events.jsonl"), self._events, line), opened=True)

    def capture(self, step: int, inputs: Union[Inputs, Mapping[str, Any], None] = None,
                layers: Sequence[Union[Layer, Mapping[str, Any]]] = ()) -> None:
        """Keeps what was seen of the inputs with the weights after a step: the maps of each layer (relascope.Layer) and
        the inputs (relascope.Inputs). Where they are not finite, the capture is left out with a note."""
        self._captured(_whole(step, "step"), inputs, layers)

    def weights(self, step: int, state_dict: Mapping[str, Any]) -> None:
        """Keeps the weights after a step: parameter names and arrays or tensors, as model.state_dict(). Floating-point
        numbers become float32; a tensor with several names is stored once."""
        step = _whole(step, "step")
        stored: dict[str, np.ndarray] = {}
        metadata: dict[str, str] = {}
        seen: dict[Any, str] = {}
        for name, tensor in state_dict.items():
            if not hasattr(tensor, "shape"):
                continue  # extra state, which is no tensor
            place = _place(tensor)
            if place is not None and place in seen:
                metadata[str(name)] = seen[place]
                continue
            values = files.array_of(tensor, str(name))
            stored[str(name)] = values.astype(np.float32) if values.dtype.kind == "f" else values
            seen[place] = str(name)
        if not stored:
            raise RunError("state_dict", "has no tensors")
        metadata.update({"format": "pt", "kept": "1", "step": str(step), "form": "float32", "crc32": str(files.checksum(stored))})
        with self._guard:
            self._need_open()
            self._written(step, lambda: files.write_safetensors(self._at("weights", f"step-{step}.safetensors"), stored, metadata))

    def results(self, split: str, examples: int = 0, **values: Any) -> None:
        """The result on a test split, as results("test", accuracy=0.9)."""
        found = self._numbers(self.step, values)
        with self._guard:
            self._need_open()
            others = [each for each in self._info["results"] if each["split"] != split]
            self._info["results"] = others + [{"split": str(split), "examples": _whole(examples, "examples"), **found}]
            self._save()

    def done(self) -> None:
        """The run is complete. Nothing can be written to it any more."""
        if not self._ended:
            for watch in list(self._watches):
                watch.logged(self.step, last=True)
        self._end("done", "")

    def failed(self, message: str) -> None:
        """The run has failed, and why."""
        self._end("failed", str(message)[:2000])

    def set(self, **facts: Any) -> None:
        """Changes what the run states of itself: total_steps, parameters, device, seed."""
        for key, value in facts.items():
            if key not in ("total_steps", "parameters", "device", "seed"):
                raise RunError(key, "cannot be set; total_steps, parameters, device and seed can")
            self._info[key] = _as_json(value, key)
        with self._guard:
            self._save()

    def _at(self, *names: str) -> str:
        return os.path.join(self.path, *names)

    @contextlib.contextmanager
    def _being_looked_at(self) -> Iterator[None]:
        before, self._looker = self._looker, threading.get_ident()
        try:
            yield
        finally:
            self._looker = before

    def _captured(self, step: int, inputs: Any, layers: Any) -> bool:
        """capture(), and whether it was written."""
        try:
            tensors, metadata = capture_parts(step, inputs, layers)
        except NotFinite as error:
            self._say(step, f"the maps of step {step} are left out: {error}", "not finite")
            return False
        with self._guard:
            self._need_open()
            return self._written(step, lambda: files.write_safetensors(self._at("captures", f"step-{step}.safetensors"), tensors, metadata))

    def _thin(self, folder: str, budget: int) -> bool:
        """Removes kept steps until the files of a folder take no more than `budget` bytes: always the one whose neighbours
        are nearest by log(step + 1), never the first and the last. Returns whether there were too many."""
        sizes = {step: os.path.getsize(self._at(folder, f"step-{step}.safetensors")) for step in self._kept_steps(folder)}
        full = sum(sizes.values()) > budget
        while sum(sizes.values()) > budget and len(sizes) > 2:
            steps = sorted(sizes)
            _, gone = min((math.log((after + 1) / (before + 1)), step) for before, step, after in zip(steps, steps[1:], steps[2:]))
            os.remove(self._at(folder, f"step-{gone}.safetensors"))
            del sizes[gone]
        return full

    def _kept_steps(self, folder: str) -> list[int]:
        found = (re.fullmatch(r"step-([0-9]{1,15})\.safetensors", name) for name in os.listdir(self._at(folder)))
        return [int(each.group(1)) for each in found if each]

    def _numbers(self, step: int, values: Mapping[str, Any], taken: Sequence[str] = ()) -> dict[str, Optional[float]]:
        """Those of the values that are numbers. Of the others, and of names that are taken, is said once that they are left
        out."""
        found, others = {}, []
        for name, value in values.items():
            try:
                number = value if type(value) is float else _number(value, str(name))
            except RunError:
                others.append(str(name))
                continue
            if name in taken:
                others.append(str(name))
            else:
                found[str(name)] = files.finite(number)
        news = [name for name in others if name not in self._left_out]
        if news:
            self._left_out.update(news)
            self._say(step, "left out of the points, since it is no number or its name has another meaning there: " + ", ".join(news))
        return found

    def _say(self, step: int, text: str, about: str = "", depth: int = 4) -> None:
        """A note in the run, and a warning in the program; of what is said again and again the note alone."""
        self.note(step, text, "warning")
        if not about or about not in self._left_out:
            self._left_out.add(about)
            warnings.warn(text, stacklevel=depth)

    def _written(self, step: int, write: Callable[[], None], opened: bool = False) -> bool:
        """Whether `write` could write. A training goes on where it could not, as on a disk that is full: this is said once, and
        again when it can write. opened: to a file that this run has opened, wherever its folder is now."""
        try:
            if not opened:
                self._need_own_folder()
            write()
        except files.NotWritten as error:
            self._unwritten += 1
            if self._unwritten == 1:
                warnings.warn(f"{error}; the training goes on, and what it logs is lost until this can be written", stacklevel=4)
            return False
        lost, self._unwritten = self._unwritten, 0
        if lost:
            self.note(step, f"{lost} points, maps or notes before this step are lost, since they could not be written", "warning")
        return True

    def _need_own_folder(self) -> None:
        """Another run may be where this one was: its folder was removed, and its name used again."""
        try:
            own = os.path.samestat(os.stat(self.path), os.fstat(self._folder))
        except OSError:
            own = False
        if not own:
            raise files.NotWritten(self.path, "is not the folder any more that this run was begun in")

    def _why_taken(self) -> str:
        """Why a new run cannot be in this folder, where there is one."""
        if any(os.path.realpath(run.path) == os.path.realpath(self.path) and run._lock >= 0 for run in _open_runs):
            return ("is being written by this program, as where a cell of a notebook is run again; end that run with done(), and choose "
                    "another folder, or resume=True to continue it")
        try:
            info = reading.Run(self.path).info
            state, how = info["state"], f", which is {info['state']} at step {info['step']}"
        except (RunError, KeyError):
            state, how = "", ""
        rank = _rank()
        if rank and (state == "running" or self._is_locked()):
            return f"is being written by another process of this training, and this is {rank}; make the Run in the first one alone"
        if self._is_locked():
            return "is being written by another process; stop that one first, or choose another folder"
        return f"already contains a run{how}; choose another folder, or resume=True to continue it"

    def _is_locked(self) -> bool:
        try:
            lock = os.open(self._at(".lock"), os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            return self._lock_file(lock) == errno.EWOULDBLOCK
        finally:
            os.close(lock)

    def _new_info(self, model: dict, data: dict) -> dict:
        ours = model.get("architecture") in ARCHITECTURES
        name = str(model.get("name") or model.get("architecture") or os.path.basename(self.path))
        facts = {"version": __version__, "writer": "relascope (Python)"}
        if "torch" in sys.modules:
            facts["torch"] = "PyTorch " + str(getattr(sys.modules["torch"], "__version__", ""))
        settings = {key: value for key, value in model.items() if key != "name"} if ours else model
        return {"format": 1, "preset": "", "variant": name, "model": str(model.get("description") or name), "state": "running",
                "message": "", "step": 0, "epoch": 0.0, "seconds": 0.0, "started_at": int(time.time()),
                "best": {"loss": None, "accuracy": None, "metric": None, "step": -1, "evaluations": 0}, "last": {"step": -1},
                "results": [], "facts": facts,
                "options": {"preset": "", "variant": name,
                            "model": settings if ours else {"architecture": "recorded", "settings": model},
                            "data": {"kind": "recorded", "settings": data}, "train": {}}}

    def _continue(self, resume: Union[bool, int]) -> None:
        self._info = reading.Run(self.path).info
        if "writer" not in self._info.get("facts", {}):
            raise RunError(self.path, "was trained by Relascope; resume it there")
        for name in "metrics.jsonl", "events.jsonl":
            files.cut_last_line(self._at(name))
        if resume is not True:
            last, kept = _whole(resume, "resume"), b""
            if os.path.exists(self._at("metrics.jsonl")):
                with open(self._at("metrics.jsonl"), "rb") as file:
                    kept = b"".join(line for line in file if _step_of(line) <= last)
            files.write_whole(self._at("metrics.jsonl"), kept)
            for folder in "captures", "weights":
                for step in self._kept_steps(folder):
                    if step > last:
                        os.remove(self._at(folder, f"step-{step}.safetensors"))
            self._info["step"] = last
        self._info.update(_validations(self._at("metrics.jsonl"), self._info.get("total_steps", 0)))

    def _take_lock(self, there: bool) -> str:
        """Locks the run. Returns why the file system cannot; empty if it can. Two processes that begin the same new run at the
        same time are told apart by the lock, or where there are none by who made its file."""
        if not there and os.listdir(self.path):
            raise RunError(self.path, self._why_taken() if os.path.exists(self._at(".lock")) else "is not empty; choose another folder")
        try:
            self._lock = os.open(self._at(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | (0 if there else os.O_EXCL), 0o644)
        except FileExistsError:
            raise RunError(self.path, self._why_taken()) from None
        failed = self._lock_file(self._lock)
        if failed == errno.EWOULDBLOCK:
            raise RunError(self.path, self._why_taken())
        if failed and failed not in _NO_LOCKS:
            raise RunError(self._at(".lock"), f"cannot be locked: {os.strerror(failed)}")
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, _process_line().encode(), 0)
        return os.strerror(failed) if failed else ""

    @staticmethod
    def _lock_file(lock: int) -> int:
        """0, or why it cannot be locked: EWOULDBLOCK where another process holds it."""
        for attempt in range(6):
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return 0
            except OSError as error:
                if error.errno != errno.EWOULDBLOCK or attempt == 5:
                    return error.errno or errno.EIO
                time.sleep(0.02)  # a reader that asks whether it is held holds it for a moment
        return errno.EWOULDBLOCK

    def _need_open(self) -> None:
        if self._ended:
            raise RunError(self.path, "is complete; nothing more can be written to it")
        if self._lock < 0:
            raise RunError(self.path, "is written by the process that this one was forked from")

    def _save(self, durable: bool = True) -> None:
        self._saved = time.monotonic()
        self._written(self.step, lambda: files.write_json(self._at("run.json"), self._info, durable))

    def _end(self, state: str, message: str) -> None:
        with self._guard:
            if self._ended or self._lock < 0:
                return
            self._info.update(state=state, message=message, seconds=time.monotonic() - self._began)
            if state == "done" and self._info["total_steps"] == 0:
                self._info["total_steps"] = self._info["step"]
            self._save()
            self._ended = True
            self._close()

    def _close(self) -> None:
        for name in "_metrics", "_events", "_folder", "_lock":  # the lock goes last: whoever gets it finds the end written
            if getattr(self, name) >= 0:
                os.close(getattr(self, name))
            setattr(self, name, -1)

    def __del__(self) -> None:
        if getattr(self, "_lock", -1) >= 0:
            _end_without_done(self)


def _place(tensor: Any) -> Any:
    """What tells that two tensors are one; None: cannot be told."""
    if hasattr(tensor, "data_ptr"):
        return (tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), str(tensor.dtype)) if tensor.numel() else None
    if isinstance(tensor, np.ndarray):
        return (tensor.ctypes.data, tensor.shape, tensor.strides, tensor.dtype.str) if tensor.size else None
    return None


def _step_of(line: bytes) -> int:
    try:
        return int(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return _LAST + 1


def _take(info: dict, step: int, values: Mapping[str, Optional[float]]) -> None:
    """The weights of a run without early stopping are the last ones, so `kept` is `last`; `best` is what was ever seen.
    Its `metric` is the accuracy, or the loss where there is none."""
    info["last"] = info["kept"] = {"step": step, **values}
    if step == 0 and info["total_steps"] > 0:
        return  # of a model that has not been trained
    best = info["best"]
    best["evaluations"] += 1
    for name, better in ("loss", lambda new, old: new < old), ("accuracy", lambda new, old: new > old):
        value = values.get(name)
        if value is None or not (best[name] is None or better(value, best[name])):
            continue
        best[name] = value
        if name == "accuracy" or best["accuracy"] is None:
            best["metric"], best["step"] = value, step


def _validations(path: str, total_steps: int) -> dict:
    """`kept`, `last` and `best` from the points of a run."""
    info: dict = {"total_steps": total_steps, "last": {"step": -1}, "best": {"loss": None, "accuracy": None, "metric": None, "step": -1, "evaluations": 0}}
    if os.path.exists(path):
        with open(path, "rb") as file:
            for line in file:
                try:
                    point = json.loads(line)
                    if point["split"] == "validation":
                        _take(info, int(point["step"]), {name: value for name, value in point.items() if name not in _TAKEN})
                except (ValueError, KeyError, TypeError):
                    continue
    return info


def _forget_in_child() -> None:
    """A forked process, as a DataLoader's worker, must not hold the lock of its parent's runs."""
    for run in list(_open_runs):
        run._close()


def _end_without_done(run: Run) -> None:
    try:
        run._need_own_folder()
    except files.NotWritten:
        return run._close()  # another run may be there
    run._end("stopped", "the program ended without run.done()")


def _end_open_runs() -> None:
    for run in list(_open_runs):
        _end_without_done(run)


os.register_at_fork(after_in_child=_forget_in_child)
atexit.register(_end_open_runs)
