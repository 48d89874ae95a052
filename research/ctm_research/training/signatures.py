"""Published measurements that make the signatures of listed targets."""

from __future__ import annotations

import numpy as np

from ctm_research.corpus.corpus import Corpus, Rows
from ctm_research.training.calibrate import whole_networks
from predictor.core.records import Target

_MOST = 200  # graphs of a target: more change nothing that is seen
_LEAST = 2


def published_rows(corpus: Corpus, targets: list[Target], rows: Rows, seed: int) -> dict[str, Rows]:
    """Return the measurements of ``rows`` that make the signature of each listed target, by key.

    Targets with fewer than two measured graphs are left out.
    """
    rng = np.random.default_rng(seed)
    by_key: dict[str, list[int]] = {}
    for row in chosen_rows(corpus, rows).tolist():
        index = int(corpus.measurements.target[row])
        if corpus.targets[index].is_listed:
            by_key.setdefault(str(targets[index].id), []).append(row)
    chosen = {}
    for key, members in sorted(by_key.items()):
        kept = np.array(members)
        if len(kept) >= _LEAST:
            chosen[key] = rng.permutation(kept)[:_MOST] if len(kept) > _MOST else kept
    return chosen


def chosen_rows(corpus: Corpus, rows: Rows) -> Rows:
    """Return one row of each graph on each target, of whole networks only."""
    m = corpus.measurements
    kept = whole_networks(corpus, rows)
    keys = np.stack([m.target[kept], m.graph[kept]], axis=1).astype(np.int64)
    _, first = np.unique(keys, axis=0, return_index=True)
    chosen: Rows = kept[first]
    return chosen
