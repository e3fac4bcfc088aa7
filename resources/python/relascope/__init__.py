# SPDX-License-Identifier: GPL-3.0-or-later
"""Relascope in Python: write runs of one's own, watch and serve models of PyTorch, ask Relascope's engine, read runs.

    run = relascope.Run("runs/mine", model={"name": "my ViT"})       # write: run.log(), run.capture(), run.weights()
    relascope.watch(model, run, every=100, inputs=probe)             # maps of a model of PyTorch along its training
    relascope.record("similarity", r, kind="relation")               # a map of one's own, inside a forward
    relascope.serve(model, validation, run=run).wait()               # edits and analyses of a model that this process has
    relascope.analyse("runs/mine", "scan", seconds=20)               # the engine: analyse, command, maps, edit, generate
    relascope.fit_relation("runs/mine", "same kind").auc             # a relation that is fitted afterwards
    relascope.read("runs/mine").metrics("validation")                # what is in a run folder
    relascope.map(weights), relascope.show("runs/mine")              # a picture in a notebook, the window

It needs NumPy; watch() and serve() also need PyTorch, and the engine an installed Relascope. Errors are RunError or EngineError,
each one sentence.
"""
import os as _os
from typing import Union as _Union

from . import reading
from .capture import Inputs, Layer
from .engine import Engine, EngineError, analyse, command, edit, generate, maps, show
from .fitted import FittedRelation, fit_relation
from .passes import point
from .picture import MapPicture, map
from .reading import RunError
from .run import Run
from .serve import Served, serve
from .version import __version__
from .watch import Watch, record, watch


def read(path: "_Union[str, _os.PathLike[str]]") -> reading.Run:
    """A run folder of Relascope or of this package, to read (relascope.reading.Run)."""
    return reading.Run(path)


__all__ = ["Engine", "EngineError", "FittedRelation", "Inputs", "Layer", "MapPicture", "Run", "RunError", "Served", "Watch", "__version__",
           "analyse", "command", "edit", "fit_relation", "generate", "map", "maps", "point", "read", "record", "serve", "show", "watch"]
