#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes fixtures/duel_numbers.json: what compares two models, computed with NumPy and SciPy.

Needs an environment of its own, no part of the program:
  python3 -m venv numbers && numbers/bin/pip install numpy scipy && numbers/bin/python make_duel_golden.py
"""
import json
import pathlib

import numpy as np
from scipy import optimize, special, stats

random = np.random.default_rng(35)
EXAMPLES, OBJECTS, OURS, THEIRS = 8, 4, 3, 4


def rounded(x):
    return np.round(x, 4)


def cka(x, y):
    x, y = x - x.mean(0), y - y.mean(0)
    return np.linalg.norm(y.T @ x) ** 2 / (np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y))


def place_of(causal, offsets):
    """For each pair that counts its cell and its place."""
    pairs = [(i, j) for i in range(OBJECTS) for j in range(OBJECTS) if (j < i if causal else i != j)]
    names = sorted({j - i if offsets else (i, j) for i, j in pairs})
    return [(i, j, names.index(j - i if offsets else (i, j))) for i, j in pairs]


def values_at(maps, pairs):
    """[maps, examples, pairs] of [maps, examples, objects, objects]."""
    return np.stack([maps[:, :, i, j] for i, j, _ in pairs], -1)


def means(values, places):
    """Of each place, [maps, pairs]."""
    result = np.zeros((values.shape[0], values.shape[2]))
    for place in set(places):
        at = [k for k, p in enumerate(places) if p == place]
        result[:, at] = values[:, :, at].mean((1, 2))[:, None]
    return result


def r2(sources, targets, pairs):
    places = [p for _, _, p in pairs]
    x, y = values_at(sources, pairs), values_at(targets, pairs)
    mx, my = means(x[:, ::2], places), means(y[:, ::2], places)
    x, y = x - mx[:, None], y - my[:, None]
    flat = lambda v: v.reshape(v.shape[0], -1).T
    map_, *_ = np.linalg.lstsq(flat(x[:, ::2]), flat(y[:, ::2]), rcond=None)
    left = flat(y[:, 1::2]) - flat(x[:, 1::2]) @ map_
    return float(np.mean(1 - (left ** 2).sum(0) / (flat(y[:, 1::2]) ** 2).sum(0)))


def relations():
    common = random.normal(size=(2, EXAMPLES, OBJECTS, OBJECTS))
    ours = rounded(random.normal(size=(OURS, EXAMPLES, OBJECTS, OBJECTS)) + 2.0)
    theirs = rounded(random.normal(size=(THEIRS, EXAMPLES, OBJECTS, OBJECTS)) - 1.0)
    ours[0] += rounded(common[0]); theirs[2] -= rounded(2 * common[0]); theirs[0] += rounded(common[1])
    ours[2] += rounded(common[1])
    cases = []
    for causal, offsets in ((False, False), (True, False), (True, True)):
        pairs = place_of(causal, offsets)
        places = [p for _, _, p in pairs]
        both = np.concatenate([ours, theirs])
        values = values_at(both, pairs)
        values = (values - means(values, places)[:, None]).reshape(len(both), -1)
        # Without place the means are 0 already: no second centring.
        norm = np.sqrt((values ** 2).sum(1))
        correlation = (values @ values.T / np.outer(norm, norm))[:OURS, OURS:]
        rows, columns = optimize.linear_sum_assignment(-np.abs(correlation))
        cases.append({"causal": causal, "by_offset": offsets, "correlation": correlation.tolist(),
                      "partners": columns.tolist(),
                      "matched": float(np.abs(correlation)[rows, columns].mean()),
                      "any": float(np.abs(correlation).mean()),
                      "explained": r2(theirs, ours, pairs), "back": r2(ours, theirs, pairs)})
    return {"ours": ours.tolist(), "theirs": theirs.tolist(), "cases": cases}


def main():
    x, y = rounded(random.normal(size=(12, 5))), rounded(random.normal(size=(12, 7)))
    y[:, :3] += rounded(x[:, :3])
    a, b = rounded(random.normal(size=(4, 5)) * 3), rounded(random.normal(size=(4, 5)) * 3)
    softmax, sigmoid = (lambda s: special.softmax(s, -1)), special.expit
    signs = special.rel_entr(sigmoid(a), sigmoid(b)) + special.rel_entr(sigmoid(-a), sigmoid(-b))
    pairs = [(0, 0), (1, 0), (3, 3), (2, 9), (14, 5), (40, 61), (900, 1010), (1, 1200)]
    numbers = {
        "cka": {"x": x.tolist(), "y": y.tolist(), "value": float(cka(x, y)), "self": float(cka(x, x))},
        "divergence": {"a": a.tolist(), "b": b.tolist(),
                       "classes": special.rel_entr(softmax(a), softmax(b)).sum(-1).tolist(),
                       "signs": signs.tolist()},
        "mcnemar": [{"first": f, "second": s,
                     "p": float(stats.binomtest(f, f + s, 0.5).pvalue) if f + s else 1.0} for f, s in pairs],
        "relations": relations()}
    path = pathlib.Path(__file__).parent / "fixtures" / "duel_numbers.json"
    path.write_text(json.dumps(numbers, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
