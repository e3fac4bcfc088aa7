# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs as event files of TensorBoard, by its own writer (resources/docs/formats.md, section 15).

    relascope.tensorboard.write(["runs/quick"], "logs")      # python3 -m relascope tensorboard runs/quick --logdir logs
"""
import bisect
import json
import os
import re
import time
from typing import Iterable, List, Union

from .reading import SPLITS, Run, RunError, _lines

__all__ = ["write"]

_STATES_THAT_GO_ON = ("queued", "running", "paused")
_SECONDS_BETWEEN_LOOKS = 1.0
_ENDING = ".relascope"  # of the files that this module writes


def _parts():
    """TensorBoard's writer and messages, which are imported here: nothing else of the package needs them."""
    try:
        from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
    except ImportError as problem:
        raise RunError("tensorboard", f"needs TensorBoard, which cannot be imported ({problem}); pip install tensorboard") from None
    return EventFileWriter, event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2


class _Clock:
    """Seconds since 1970 of the points of a run: its start, the seconds of training, and the pauses before. A note that
    was written later than training alone explains comes after a pause, which delays all that follows."""

    def __init__(self, began, points, notes):
        self._began = began
        seconds = sorted((_number(p, "step"), _number(p, "seconds")) for p in points)
        self._steps, longest = [], 0.0
        self._pauses = []
        for note in sorted(notes, key=lambda each: _number(each, "step")):
            at = bisect.bisect_right(seconds, (_number(note, "step"), float("inf")))
            longest = max(longest, _number(note, "time") - began - (seconds[at - 1][1] if at else 0.0))
            self._steps.append(_number(note, "step"))
            self._pauses.append(longest)

    def time_of(self, point):
        at = bisect.bisect_right(self._steps, _number(point, "step"))
        return self._began + _number(point, "seconds") + (self._pauses[at - 1] if at else 0.0)


def _number(line, name):
    value = line.get(name)
    return value if type(value) in (int, float) else 0


def _verbatim(text):
    """Text as a block of code, which Markdown leaves as it is."""
    return "    " + str(text).replace("\n", "\n    ")


def _cell(value):
    return str(value).replace("|", "\\|").replace("\n", " ")


def _flat(options, before=""):
    """The options of run.json by their names, as model.d_model."""
    for name, value in options.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield before + name, value if isinstance(value, str) else json.dumps(value)


class _Board:
    """One run, and its event file in a folder of TensorBoard."""

    def __init__(self, path, logdir):
        self.run = Run(path)
        self.began = self.run.info.get("started_at", 0)
        self._kept, self._notes, self._parts, self._ended = [], 0, _parts(), False
        self.folder = os.path.join(logdir, name_of(path))
        try:
            os.makedirs(self.folder, exist_ok=True)
            there = [name for name in os.listdir(self.folder) if name.startswith("events.out.tfevents.")]
            others = [name for name in there if not name.endswith(_ENDING)]
            if others:
                raise RunError(self.folder, f"already holds the events {others[0]}; remove them or choose another folder")
            self._writer = self._parts[0](self.folder, filename_suffix=_ENDING)
            self._replaced = [os.path.join(self.folder, name) for name in there]
            self.path, = {os.path.join(self.folder, name) for name in os.listdir(self.folder)
                          if name.endswith(_ENDING)} - set(self._replaced)
            self._options()
        except OSError as error:
            raise RunError(self.folder, f"cannot be written: {error.strerror}") from None

    def _write(self, step, when, value=None, restart=False):
        _, event_pb2, summary_pb2, _, _ = self._parts
        event = event_pb2.Event(wall_time=when, step=step)
        if restart:
            event.session_log.status = event_pb2.SessionLog.START
        else:
            event.summary.CopyFrom(summary_pb2.Summary(value=value))
        self._writer.add_event(event)

    def _text(self, tag, step, when, text):
        _, _, summary_pb2, tensor_pb2, shape_pb2 = self._parts
        tensor = tensor_pb2.TensorProto(dtype="DT_STRING", string_val=[text.encode()], tensor_shape=shape_pb2.TensorShapeProto(
            dim=[shape_pb2.TensorShapeProto.Dim(size=1)]))
        metadata = summary_pb2.SummaryMetadata(plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name="text"),
                                               data_class=summary_pb2.DATA_CLASS_TENSOR)
        self._write(step, when, [summary_pb2.Summary.Value(tag=tag, tensor=tensor, metadata=metadata)])

    def _scalars(self, step, when, split, values):
        value = self._parts[2].Summary.Value
        found = [value(tag=f"{name}/{split}", simple_value=float("nan") if number is None else number)
                 for name, number in values.items()]
        if found:
            self._write(step, when, found)

    def _options(self):
        info = self.run.info
        rows = [(name, info.get(name, "")) for name in ("preset", "variant", "model", "seed", "device", "parameters")]
        rows += [(name, value) for name, value in _flat(info.get("options", {})) if name not in ("preset", "variant")]
        lines = ["| option | value |", "|---|---|"] + [f"| {_cell(name)} | {_cell(value)} |" for name, value in rows]
        self._text("options", 0, self.began, "\n".join(lines) + "\n")

    def update(self):
        """Writes what the run has that was not written before. False when it has ended."""
        info = self.run.info
        points, notes = _lines(self.run._at("metrics.jsonl")), self.run.events()
        clock = _Clock(self.began, points, notes)
        same = next((i for i, (old, new) in enumerate(zip(self._kept, points)) if old != new),
                    min(len(self._kept), len(points)))
        if same < len(self._kept):  # resumed from an earlier checkpoint: TensorBoard forgets what was written since
            self._write(_number(self._kept[same], "step"), time.time(), restart=True)
        for point in points[same:]:
            values = {name: value for name, value in point.items()
                      if name not in ("step", "epoch", "examples", "seconds") and
                      (value is None or type(value) in (int, float))}
            split = point.get("split") if point.get("split") in SPLITS else "train"
            self._scalars(_number(point, "step"), clock.time_of(point), split, values)
        for note in notes[self._notes:]:
            self._note(note)
        self._kept, self._notes = points, len(notes)
        if info.get("state") in _STATES_THAT_GO_ON:
            self._writer.flush()
            return True
        if not self._ended:
            self._ended = True
            when = max([clock.time_of(point) for point in points], default=self.began)
            for result in info.get("results", []):
                values = {name: value for name, value in result.items() if name not in ("split", "examples")}
                self._scalars(info.get("step", 0), when, result["split"], values)
        self._writer.flush()
        return False

    def _note(self, note):
        level, text = note.get("level", "info"), note.get("text", "")
        if level == "checkpoint":
            return
        if level == "sample":
            return self._text("generated text", _number(note, "step"), _number(note, "time"), _verbatim(text))
        before = f"{level}: " if level in ("warning", "edit") else ""
        self._text("notes", _number(note, "step"), _number(note, "time"), _verbatim(before + text))

    def replace(self):
        """Removes what was written of the run before."""
        self._writer.flush()
        for path in self._replaced:
            os.remove(path)

    def close(self):
        self._writer.close()


def name_of(run):
    """The name of a run's folder in TensorBoard's: "quick-dat-s0", or "quick-dat/seed-0" of a run of several seeds."""
    path = os.path.realpath(run)
    name = os.path.basename(path)
    return os.path.join(os.path.basename(os.path.dirname(path)), name) if name.startswith("seed-") else name


def _runs_in(path):
    """A run, or the runs of a folder of several seeds."""
    seeds = [] if os.path.isfile(os.path.join(path, "run.json")) or not os.path.isdir(path) else \
        [name for name in os.listdir(path) if re.fullmatch("seed-[0-9]+", name)]
    return [os.path.join(path, name) for name in sorted(seeds, key=lambda each: int(each[5:]))] or [path]


def write(runs: "Iterable[Union[str, os.PathLike[str]]]", logdir: "Union[str, os.PathLike[str]]", follow: bool = False) -> "List[str]":
    """Writes DIR/NAME/events.out.tfevents....relascope of each run and returns these paths. Files of the run that were
    written before are replaced. With `follow` it goes on with what the runs write until all of them have ended."""
    boards = []
    try:
        for path in runs:
            for one in _runs_in(os.fspath(path)):
                boards.append(_Board(one, os.fspath(logdir)))
        trains = [board for board in boards if board.update()]
        for board in boards:
            board.replace()
        while follow and trains:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
            trains = [board for board in trains if board.update()]
    finally:
        for board in boards:
            board.close()
    return [board.path for board in boards]
