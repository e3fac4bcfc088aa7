# SPDX-License-Identifier: GPL-3.0-or-later
"""Relations that are fitted to a fact of pairs on a frozen stream (resources/docs/interventions.md section 18)."""
from __future__ import annotations

import functools
import os
import shutil
import tempfile
from typing import Any, Optional

import numpy as np

from .engine import Answer, Engine, EngineError, Path, analyse, maps
from .reading import Safetensors


class FittedRelation:
    """A fitted relation and what was measured of it.

    answer: that of fit-relation. auc, interval: on the examples to test. curve: {stream: AUC}. chance: {what: [AUCs]}.
    A, B [rank, d], mean [places, d], bias: the relation of the stream `point`.
    """

    def __init__(self, answer: Answer, file: Safetensors, ask: Any, look: Any):
        self.answer, self._ask, self._look, self._path = answer, ask, look, file.path
        self.point = file.metadata["point"]
        self.form = file.metadata.get("form", "")
        self.A, self.B, self.mean = (file.tensor(name) for name in ("A", "B", "mean"))
        self.bias = float(file.tensor("bias")[0])

    @property
    def auc(self) -> float:
        return self.answer["auc"]

    @property
    def interval(self) -> tuple[float, float]:
        return self.answer["low"], self.answer["high"]

    @property
    def curve(self) -> dict[str, float]:
        return {row["layer"]: row["auc"] for row in self.answer["layers"]}

    @property
    def chance(self) -> dict[str, list[float]]:
        found: dict[str, list[float]] = {"place alone": [self.answer["place_alone"]], "one side": [self.answer["one_side"]]}
        for row in self.answer["chance"]:
            found.setdefault(row["of"].split(",")[0], []).append(row["auc"])
        return found

    def map(self, stream: Optional[np.ndarray] = None, **input: Any) -> np.ndarray:
        """r of all pairs: of an input of the model, map(sample=3), map(image="a.png"), as float32 [positions, positions] with
        nan where there is no place; or of a stream [.., places, d] at `point`, without the first tokens: [.., places, places]."""
        if stream is None:
            found = self._look(edit=f"fitted {self._path} shown", **input)
            return next(each for each in found.maps if each.fitted).values
        x = np.asarray(stream, dtype=np.float64) - self.mean
        left, right = x @ self.A.T.astype(np.float64), x @ self.B.T.astype(np.float64)
        r = left @ np.swapaxes(right, -1, -2)
        if self.form == "distance":
            own = (left * right).sum(-1)
            r = r + np.swapaxes(r, -1, -2) - own[..., None] - own[..., None, :]
        return r + self.bias

    def remove(self) -> dict[str, np.ndarray]:
        """What the model answers without it, beside random subspaces as strong: a table by rank."""
        return self._ask(remove=True).table("removed")

    def save(self, path: Path) -> None:
        """Keeps it as NAME.safetensors, for "fitted NAME out"."""
        shutil.copyfile(self._path, os.fspath(path))


def fit_relation(model: Path, fact: str, layer: Any = "all", *, engine: Optional[Engine] = None, **options: Any) -> FittedRelation:
    """Fits a relation to a fact of pairs ("same kind") on the stream of a run or checkpoint. layer: "all", or after which
    layer, 0 before the first. options: those of the command, as form, scale, data, untrained."""
    folder = tempfile.TemporaryDirectory(prefix="relascope-fitted-")

    def ask(**more: Any) -> Answer:
        # The folder lives as long as the relation that asks.
        return analyse(model, "fit-relation", engine=engine, fact=fact, layer=layer,
                       save=os.path.join(folder.name, "relation.safetensors"), **{**options, **more})

    answer = ask()
    if not answer.get("saved"):
        raise EngineError(str(answer["sentences"][-1]))
    return FittedRelation(answer, Safetensors(answer["saved"]), ask, functools.partial(maps, model, engine=engine))
