# SPDX-License-Identifier: GPL-3.0-or-later
"""A map as a picture in a notebook: SVG without scripts, whose cells say their value when the pointer rests on them."""
from __future__ import annotations

import html
from typing import Any, Optional, Sequence

import numpy as np

from .files import array_of
from .reading import RunError

_MOST_CELLS = 1 << 14  # more would make a notebook slow

# Blue, white, red for signed values; white to blue for weights. They are told apart in print, and by most eyes.
_BLUE, _WHITE, _RED = (33, 102, 172), (247, 247, 247), (178, 24, 43)


def _between(first: Sequence[int], second: Sequence[int], share: float) -> str:
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(first, second))


def _colour(value: float, most: float, signed: bool) -> str:
    if not np.isfinite(value):
        return "#999999"
    share = min(1.0, abs(value) / most) if most > 0 else 0.0
    return _between(_WHITE, _RED if signed and value < 0 else _BLUE, share)


class MapPicture:
    """A map, drawn. A notebook shows it; str() is its SVG, save() writes it to a file."""

    def __init__(self, values: np.ndarray, rows: Sequence[str], columns: Sequence[str], title: str, size: int):
        self.values, self._rows, self._columns, self._title, self._size = values, rows, columns, title, size

    def __str__(self) -> str:
        n, m = self.values.shape
        cell = max(2.0, self._size / max(n, m))
        named = len(self._rows) == n and len(self._columns) == m and cell >= 12
        left, top = (90, 78) if named else (24, 36 if self._title else 22)
        finite = self.values[np.isfinite(self.values)]
        signed, most = bool((finite < 0).any()), float(np.abs(finite).max()) if finite.size else 0.0
        width, height = left + m * cell + 8, top + n * cell + 26
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
                 f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="10" role="img">',
                 f"<title>{html.escape(self._title or f'map of {n} x {m}')}</title>",
                 f'<rect width="100%" height="100%" fill="white"/><text x="{left}" y="12" font-size="12">{html.escape(self._title)}'
                 f'</text><text x="{left + m * cell / 2:.1f}" y="{height - 14:.1f}" text-anchor="middle">j, from 0</text>'
                 f'<text x="10" y="{top + n * cell / 2:.1f}" text-anchor="middle">i</text>']
        names = [[self._rows[i] if len(self._rows) == n else str(i) for i in range(n)],
                 [self._columns[j] if len(self._columns) == m else str(j) for j in range(m)]]
        if named:
            parts += [f'<text x="{left - 4}" y="{top + (i + 0.5) * cell + 3:.1f}" text-anchor="end">{html.escape(name[:14])}</text>'
                      for i, name in enumerate(names[0])]
            parts += [f'<text transform="translate({left + (j + 0.5) * cell + 3:.1f},{top - 4}) rotate(-60)">{html.escape(name[:14])}'
                      "</text>" for j, name in enumerate(names[1])]
        for i in range(n):
            for j in range(m):
                value = float(self.values[i, j])
                say = html.escape(f"i = {i}{_said(names[0][i], i)}, j = {j}{_said(names[1][j], j)}: {value:.6g}")
                parts.append(f'<rect x="{left + j * cell:.2f}" y="{top + i * cell:.2f}" width="{cell:.2f}" height="{cell:.2f}" '
                             f'fill="{_colour(value, most, signed)}"><title>{say}</title></rect>')
        low = f"{-most:.3g} (red) to " if signed else "0 to "
        parts.append(f'<text x="{left}" y="{height - 2:.1f}">{low}{most:.3g} (blue)</text></svg>')
        return "".join(parts)

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, path: str) -> None:
        """Writes the picture as an .svg file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(str(self))


def _said(name: str, at: int) -> str:
    return "" if name == str(at) else f" ({name})"


def map(values: Any, words: Optional[Sequence[str]] = None, title: str = "", *, columns: Optional[Sequence[str]] = None,
        size: int = 420) -> MapPicture:
    """A picture of a map [rows, columns]: an array, a tensor, or a map of a capture (relascope.read(...).capture(...)).

    words: names of the rows, and of the columns without `columns`. size: pixels of the longer side. The pointer on a cell
    shows its value. Signed values are drawn from red through white to blue, weights from white to blue.
    """
    if hasattr(values, "values") and hasattr(values, "kind"):  # reading.Map
        title = title or f"{values.kind} of layer {values.layer}, index {values.index}"
        values = values.values
    found = array_of(values, "map")
    if found.ndim != 2 or 0 in found.shape:
        raise RunError("map", f"has the shape {list(found.shape)}; [rows, columns] is needed")
    if found.size > _MOST_CELLS:
        raise RunError("map", f"has {found.size} cells; at most {_MOST_CELLS} are drawn: show a part, as values[:100, :100]")
    return MapPicture(found.astype(np.float64), list(words or ()), list(columns if columns is not None else words or ()), title, size)
