# SPDX-License-Identifier: GPL-3.0-or-later
"""A map as a picture in a notebook: SVG without scripts, whose cells say their value when the pointer rests on them."""
from __future__ import annotations

import html
from typing import Any, Optional, Sequence

import numpy as np

from .files import array_of
from .reading import RunError

_MOST_CELLS = 1 << 14  # more would make a notebook slow

# The colours of the window (core/types/map_colors.h): of signed values from -1 to 1, and of weights from 0 to 1.
_SIGNED = ("40004b", "762a83", "9970ab", "c2a5cf", "e7d4e8", "f7f7f7", "d9f0d3", "a6dba0", "5aae61", "1b7837", "00441b")
_WEIGHTS = ("440154", "482878", "3e4a89", "31688e", "26828e", "1f9e89", "35b779", "6dcd59", "b4de2c", "fde725")
_MASKED, _NO_NUMBER = "#f1f3f5", "#fdecea"


def _colour(stops: Sequence[str], share: float) -> str:
    """The colour at share, 0 to 1, of a scale."""
    at = min(max(share, 0.0), 1.0) * (len(stops) - 1)
    low = min(int(at), len(stops) - 2)
    first, second = (bytes.fromhex(stop) for stop in stops[low:low + 2])
    return "#" + "".join(f"{round(a + (b - a) * (at - low)):02x}" for a, b in zip(first, second))


class MapPicture:
    """A map, drawn. A notebook shows it; str() is its SVG, save() writes it to a file."""

    def __init__(self, values: np.ndarray, rows: Sequence[str], columns: Sequence[str], title: str, size: int, causal: bool):
        self.values, self._rows, self._columns, self._title, self._size, self._causal = values, rows, columns, title, size, causal

    def __str__(self) -> str:
        n, m = self.values.shape
        cell = max(2.0, self._size / max(n, m))
        named = len(self._rows) == n and len(self._columns) == m and cell >= 12
        left, top = (90, 78) if named else (24, 36 if self._title else 22)
        shown = np.tril(self.values) if self._causal else self.values
        finite = shown[np.isfinite(shown)]
        signed, most = bool((finite < 0).any()), float(np.abs(finite).max()) if finite.size else 0.0
        stops = _SIGNED if signed else _WEIGHTS
        width, height = left + m * cell + 8, top + n * cell + 26
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
                 f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="10" role="img">',
                 f"<title>{html.escape(self._title or f'map of {n} x {m}')}</title>",
                 f'<rect width="100%" height="100%" fill="white"/><text x="{left}" y="12" font-size="12">{html.escape(self._title)}'
                 f'</text><text x="{left + m * cell / 2:.1f}" y="{height - 14:.1f}" text-anchor="middle">j</text>'
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
                value, masked = float(self.values[i, j]), self._causal and j > i
                share = 0.0 if most == 0 or not np.isfinite(value) else value / most
                colour = _MASKED if masked else _NO_NUMBER if not np.isfinite(value) else _colour(stops, (share + 1) / 2 if signed else share)
                say = html.escape(f"i = {i}{_said(names[0][i], i)}, j = {j}{_said(names[1][j], j)}: " + ("masked" if masked else f"{value:.6g}"))
                parts.append(f'<rect x="{left + j * cell:.2f}" y="{top + i * cell:.2f}" width="{cell:.2f}" height="{cell:.2f}" '
                             f'fill="{colour}"><title>{say}</title></rect>')
        low, bar = f"{-most:.3g}" if signed else "0", height - 10
        parts.append(f'<text x="{left}" y="{height - 2:.1f}">{low}</text>')
        parts += [f'<rect x="{left + 40 + 3 * k}" y="{bar:.1f}" width="3" height="8" fill="{_colour(stops, k / 31)}"/>' for k in range(32)]
        parts.append(f'<text x="{left + 142}" y="{height - 2:.1f}">{most:.3g}</text></svg>')
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
    shows its value. The colours are those of the window: from violet to green for signed values, viridis for weights.
    """
    causal = bool(getattr(values, "causal", False))
    if hasattr(values, "values") and hasattr(values, "kind"):  # reading.Map
        title = title or f"{values.kind} of layer {values.layer}, index {values.index}"
        values = values.values
    found = array_of(values, "map")
    if found.ndim != 2 or 0 in found.shape:
        raise RunError("map", f"has the shape {list(found.shape)}; [rows, columns] is needed")
    if found.size > _MOST_CELLS:
        raise RunError("map", f"has {found.size} cells; at most {_MOST_CELLS} are drawn: show a part, as values[:100, :100]")
    return MapPicture(found.astype(np.float64), list(words or ()), list(columns if columns is not None else words or ()), title, size, causal)
