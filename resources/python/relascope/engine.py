# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks Relascope's engine: one process of relascope-cli on a pipe, which opens no port.

    relascope.analyse("runs/quick-dat-s0", "scan", seconds=20)["findings"]
    relascope.maps("runs/quick-dat-s0", sample=3).find("relation", layer=0, index=0).values
    relascope.edit("runs/quick-dat-s0", "layer 1 relation 1 zero", sample=3).after.probabilities
    relascope.generate("runs/text-dat-s0", "Once upon", tokens=20)["text"]

What a command of relascope-cli takes as --name VALUE is a keyword here: seconds=20 is --seconds 20, True is a flag
alone, a list gives the option once for each. Answers are those of the command with --json.
"""
from __future__ import annotations

import atexit
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from .frames import FrameError, FrameReader, frame
from .reading import Capture, Safetensors
from .serve import served_here

Path = Union[str, "os.PathLike[str]"]
Progress = Callable[[float], Any]
Waiting = Callable[[str], Any]
_PROTOCOL = 2
_TO_CANCEL = 30.0  # seconds that a cancelled request gets


class EngineError(Exception):
    """What the engine says in place of an answer, the same sentence as relascope-cli. option: which option it is about;
    path: which file; each empty if none."""

    def __init__(self, text: str, option: str = "", path: str = ""):
        super().__init__(text)
        self.option, self.path = option, path


class Answer(dict):
    """An answer of the engine, the JSON of the command as a dictionary.

    said: warnings and notes that came with it, a line each. code: the exit status of the command.
    """
    said: str = ""
    code: int = 0

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"an answer has no '{name}'; its parts are {', '.join(self)}: answer['...']")

    def table(self, name: str) -> dict[str, np.ndarray]:
        """A part that is a list of objects with the same names, as {column: array}; nan where a number is missing."""
        rows = self.get(name)
        if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
            there = [key for key, value in self.items() if isinstance(value, list) and value and isinstance(value[0], dict)]
            raise EngineError(f"the answer has no table '{name}'; it has {', '.join(there) or 'none'}")
        return {column: _column([row.get(column) for row in rows]) for column in dict.fromkeys(key for row in rows for key in row)}

    def frame(self, name: str) -> Any:
        """The same as a frame of pandas, which must be installed."""
        import pandas
        return pandas.DataFrame({column: list(values) for column, values in self.table(name).items()})

    def array(self, name: str) -> np.ndarray:
        """A part that is a list of numbers, or of lists of them, as an array."""
        found = np.array(self[name], dtype=np.float64)
        rows, columns = self.get("rows"), self.get("columns")
        if isinstance(rows, int) and isinstance(columns, int) and rows * columns == found.size:
            return found.reshape(rows, columns)
        return found


def _column(values: list) -> np.ndarray:
    if all(value is None or type(value) in (int, float) for value in values):
        whole = all(type(value) is int for value in values)
        return np.array(values if whole else [np.nan if value is None else value for value in values])
    if all(isinstance(value, str) for value in values):
        return np.array(values)
    found = np.empty(len(values), object)
    found[:] = values
    return found


class Edited:
    """What edits do to one input: before and after, each a relascope.reading.Capture."""

    def __init__(self, before: Capture, after: Capture):
        self.before, self.after = before, after

    def difference(self, kind: str, layer: int, index: int = 0) -> np.ndarray:
        """After less before, of a map: float32 [rows, columns]."""
        return self.after.find(kind, layer, index).values - self.before.find(kind, layer, index).values


def program(given: Optional[Path] = None, name: str = "relascope-cli") -> str:
    """relascope-cli: what is given, $RELASCOPE (the program or its folder), in PATH, or that of the installation or of the
    package relascope-app that this package is beside."""
    here = os.path.dirname(os.path.abspath(__file__))
    asked = given or os.environ.get("RELASCOPE")
    if asked:
        asked = os.path.abspath(os.fspath(asked))
        folder = asked if os.path.isdir(asked) else os.path.dirname(asked)
        choices = [os.path.join(folder, name), os.path.join(folder, "bin", name)]
        if os.path.basename(asked) == name:
            choices.insert(0, asked)
    else:
        choices = [shutil.which(name) or "", os.path.join(here, "..", "..", "..", "..", "bin", name),
                   os.path.join(here, "..", "relascope_app", "bin", name)]
    for choice in choices:
        if choice and os.path.isfile(choice) and os.access(choice, os.X_OK):
            return os.path.abspath(choice)
    raise EngineError(f"{name} was not found{' at ' + str(asked) if asked else ''}; install Relascope, or set RELASCOPE to the "
                      "folder of its programs")


class Engine:
    """A process of relascope-cli. It is started by the first question, answers one after another, and ends with the
    program. Usable by several threads, and after Ctrl-C."""

    def __init__(self, path: Optional[Path] = None):
        self._path, self._guard = path, threading.RLock()
        self._process: Any = None  # subprocess.Popen
        self._last, self._heard = 0, False

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process, which frees its memory; another question starts another one."""
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in process.stdin, process.stdout:
            try:
                pipe.close()  # its end of input, at which it ends by itself
            except OSError:
                pass
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._errors.close()

    def command(self, *words: Any, progress: Optional[Progress] = None, waiting: Optional[Waiting] = None) -> Answer:
        """Runs a command that takes --json, as command("scan", "runs/mine", "--seconds", 20), and returns its answer. Models that this
        process serves (relascope.serve) among the words answer meanwhile."""
        served = [found for word in words if (found := served_here(word)) is not None]
        message = {"m": "command", "words": [str(os.fspath(word) if isinstance(word, os.PathLike) else word) for word in words],
                   "folder": os.getcwd()}
        found, blob = self.ask(message, progress, served, waiting)
        try:
            value = json.loads(blob.decode()) if blob.strip() else {}
        except ValueError:
            raise EngineError(f"{words[0]} has not answered in JSON") from None
        answer = Answer(value if isinstance(value, dict) else {"answer": value})
        answer.said, answer.code = str(found.get("said", "")), int(found.get("code", 0))
        return answer

    def ask(self, message: dict, progress: Optional[Progress] = None, served: Sequence[Any] = (),
            waiting: Optional[Waiting] = None) -> tuple[dict, bytes]:
        """Sends a request, and returns the message and the blob of the answer. Ctrl-C cancels the request and raises
        KeyboardInterrupt. served: models of this process, which the engine may ask for the answer. waiting: called with the text of
        what a model of another program waits for, and with an empty one when that has come; without it the first text is printed on
        standard error."""
        with self._guard:
            if self._process is not None and self._process.poll() is not None:
                self.close()  # it ended between two questions, and another one starts
            kept = self._process is not None
            try:
                return self._answered(message, progress, served, waiting)
            except _Ended as ended:
                self.close()
                if not kept or not ended.idle:
                    raise
            return self._answered(message, progress, served, waiting)  # it had ended, being idle, before it read the question

    def _answered(self, message: dict, progress: Optional[Progress], served: Sequence[Any], waiting: Optional[Waiting]) -> tuple[dict, bytes]:
        self._start()
        waiting = waiting or _FirstWord()
        self._last, self._heard = self._last + 1, False
        self._send({**message, "id": self._last})
        interrupted = _Interrupts()
        try:
            with interrupted:
                cancelled = False
                while True:
                    found, blob = self._receive(interrupted, cancelled, served)
                    if interrupted.count and not cancelled:
                        cancelled = True
                        self._send({"cancel": self._last})
                    if found is None or found.get("id") != self._last:
                        continue
                    if "progress" in found and progress is not None and not cancelled:
                        progress(float(found["progress"]))
                    if "waits" in found and not cancelled:
                        waiting(str(found["waits"]))
                    if "ok" in found or "error" in found:
                        break
        except BaseException:
            self.close()  # what is on its way belongs to no question
            raise
        if interrupted.count:
            raise KeyboardInterrupt
        if "ok" in found:
            return found["ok"] or {}, blob
        error = found["error"]
        text, key, code = (str(error.get(name, "")) for name in ("text", "key", "code"))
        raise EngineError(f"{key}: {text}" if code == "option" else text, key if code == "option" else "", key if code == "file" else "")

    def _start(self) -> None:
        if self._process is not None:
            return
        found, self._errors = program(self._path), tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen([found, "session"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
                                             bufsize=0, start_new_session=True)  # Ctrl-C is for this process
        except OSError as error:
            self._errors.close()
            raise EngineError(f"{found} cannot be started: {error.strerror}") from None
        self._reader = FrameReader()
        hello = None
        try:
            while hello is None:
                hello, _ = self._receive(None, False)
            if hello.get("m") != "hello" or hello.get("protocol") != _PROTOCOL:
                raise EngineError(f"{found} is another version of Relascope than this package speaks with")
            self._send({"m": "hello", "protocol": _PROTOCOL, "version": hello.get("version", "")})
        except BaseException:
            self.close()
            raise

    def _send(self, message: dict) -> None:
        data = memoryview(frame(message))
        try:
            while data:
                data = data[self._process.stdin.write(data):]
        except (BrokenPipeError, OSError):
            raise self._ended() from None

    def _receive(self, interrupted: Optional["_Interrupts"], cancelled: bool, served: Sequence[Any] = ()) -> tuple[Optional[dict], bytes]:
        """The next frame; None after a moment without one."""
        try:
            found = self._reader.next()
            if found is not None:
                self._heard = True
                return found
            output = self._process.stdout
            ready = select.select([output, *served], [], [], 0.1)[0]
            for each in served:
                if each in ready:
                    each.answer()
            if output not in ready:
                if interrupted and (interrupted.count > 1 or (cancelled and interrupted.seconds() > _TO_CANCEL)):
                    raise KeyboardInterrupt
                return None, b""
            data = os.read(output.fileno(), 1 << 20)
            if not data:
                raise self._ended()
            self._reader.append(data)
            found = self._reader.next()
            self._heard = self._heard or found is not None
            return found or (None, b"")
        except FrameError as error:
            raise EngineError(f"the engine's answer cannot be read: {error}") from None

    def _ended(self) -> "_Ended":
        """Why the process has ended, which was idle if it ended well and has not said a word since the question."""
        try:
            code = self._process.wait(5)
        except subprocess.TimeoutExpired:
            code = None
        self._errors.seek(0)
        said = self._errors.read()[-2000:].decode(errors="replace").strip().splitlines()
        how = f"by signal {signal.Signals(-code).name}" if code is not None and code < 0 else f"with status {code}"
        return _Ended(f"the engine has ended {how}" + (f": {said[-1]}" if said else ""), code == 0 and not self._heard)


class _FirstWord:
    """Prints the first text of what a question waits for."""

    def __init__(self) -> None:
        self._said = False

    def __call__(self, text: str) -> None:
        if text and not self._said:
            print(text, file=sys.stderr, flush=True)
            self._said = True


class _Ended(EngineError):
    """The process has ended without an answer; idle: before it read the question."""

    def __init__(self, text: str, idle: bool):
        super().__init__(text)
        self.idle = idle


class _Interrupts:
    """Counts Ctrl-C instead of raising KeyboardInterrupt, so that none falls between two halves of a frame."""

    def __init__(self) -> None:
        self.count, self._since = 0, 0.0
        self._before: Any = None

    def __enter__(self) -> "_Interrupts":
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, *_: Any) -> None:
        self.count, self._since = self.count + 1, time.monotonic()

    def seconds(self) -> float:
        return time.monotonic() - self._since


_shared = Engine()
atexit.register(_shared.close)


def _words(options: dict) -> list[str]:
    """Keywords as options of the command line."""
    words = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        for each in value if isinstance(value, (list, tuple, np.ndarray)) else [value]:
            if each is True:
                words.append(option)
            elif each is not None and each is not False:
                words.append(f"{option}={os.fspath(each) if isinstance(each, os.PathLike) else each}")
    return words


def analyse(path: Path, what: str, /, *more: Any, engine: Optional[Engine] = None, progress: Optional[Progress] = None,
            waiting: Optional[Waiting] = None, **options: Any) -> Answer:
    """An analysis of a run, a checkpoint, a model of the hub ("hub:ORG/NAME"), or one that this process serves: "scan", "atlas", "heads", "lens",
    "ablate", "eval", "info", or another command of relascope-cli that takes --json. more: further words, as the second
    model of "duel". options: those of the command. waiting: gets the text of what a model of another program waits for ("waiting for
    the cell, 12 s"), and an empty one when that has come; without it the first text is printed on standard error."""
    words = [what, path, *more, *_words(options)]
    return (engine or _shared).command(*words, progress=progress, waiting=waiting)


def command(name: str, /, *places: Path, engine: Optional[Engine] = None, progress: Optional[Progress] = None,
            waiting: Optional[Waiting] = None, **options: Any) -> Union[Answer, list]:
    """A command of relascope-cli that takes --json: command("compare", "runs/a", "runs/b", differences=True),
    command("info", "model.safetensors", tensor="head.weight"). places: its runs, checkpoints, folders and other words
    without a name; options: as those of analyse(). Returns its JSON, an Answer where that is an object. Raises
    EngineError with the sentence of the command; Ctrl-C cancels it."""
    answer = (engine or _shared).command(name, *places, *_words(options), progress=progress, waiting=waiting)
    listed = answer.get("answer")
    return listed if list(answer) == ["answer"] and isinstance(listed, list) else answer


def maps(path: Path, /, *, edit: Union[str, Sequence[str], None] = None, engine: Optional[Engine] = None, **options: Any) -> Capture:
    """All maps of one input, exact float32, as relascope.read(...).capture(...) gives them: find(kind, layer, index).

    The input is sample=N of split="validation", text="...", tokens=[1, 2], image="file.png", or what else
    `relascope-cli inspect` takes; step=N: as captured or kept after that step of a run. edit: words as "layer 2 relation 3
    zero", or a list of them."""
    folder = tempfile.mkdtemp(prefix="relascope-")
    try:
        out = os.path.join(folder, "maps.safetensors")
        analyse(path, "inspect", engine=engine, edit=[edit] if isinstance(edit, str) else edit, out=out, **options)
        found = Capture(out, int(Safetensors(out).metadata["step"]))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(found, shutil.rmtree, folder, ignore_errors=True)
    for each in found.maps:
        each.capture = found  # whose file they read when their values are asked for
    return found


def edit(path: Path, edits: Union[str, Sequence[str]], /, *, engine: Optional[Engine] = None, **options: Any) -> Edited:
    """The maps and the answer of one input before and after edits, in the words of `--edit`; options as of maps()."""
    return Edited(maps(path, engine=engine, **options), maps(path, edit=edits, engine=engine, **options))


def generate(path: Path, prompt: str, /, *, engine: Optional[Engine] = None, progress: Optional[Progress] = None, **options: Any) -> Answer:
    """Continues a text: {"text", "end", "tokens": [{"id", "piece", "probability"}]}. options: tokens, temperature, top_k,
    top_p, seed, stop, edit and what else `relascope-cli generate` takes."""
    return analyse(path, "generate", engine=engine, progress=progress, prompt=prompt, **options)


def show(what: Any = None) -> None:
    """Opens Relascope's window with a run (its path, or the relascope.Run that is written), or a view in a file."""
    paths = [] if what is None else [os.path.abspath(os.fspath(getattr(what, "path", what)))]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([program(None, "relascope"), *paths], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=errors, start_new_session=True)
        try:
            code = process.wait(1)
        except subprocess.TimeoutExpired:
            return  # it stays open
        if code != 0:  # 0: a window that was open shows it
            errors.seek(0)
            said = errors.read()[-2000:].decode(errors="replace").strip().splitlines()
            raise EngineError("the window did not open" + (f": {said[-1]}" if said else ""))
