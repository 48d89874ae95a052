"""Published latencies on accelerators of which no other source has any, looked up one by one.

The table ships here, in ``looked_up``, in the common form of
:mod:`~ctm_research.sources.published`; each row names the page that it is from. NVIDIA states what
both accelerators of an Orin do together, on one network each: half of that is what one does, as
owners measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ctm_research.sources.graphs import joined_graphs
from ctm_research.sources.published import table_samples
from ctm_research.sources.samples import Sample
from ctm_research.sources.source import Source

NAME = "accelerators"
_TABLE = "latencies.csv"
_FOLDER = Path(__file__).with_name("looked_up")


def samples(data: Path) -> Iterator[Sample]:
    """Yield every row.

    Raises:
        InputError: the table is missing or damaged.
    """
    return table_samples(NAME, SOURCE.path(data) / _TABLE, joined_graphs(data, NAME))


SOURCE = Source(
    name=NAME,
    rank=20,
    title="Latencies on accelerators, looked up",
    repository="pages named in each row",
    licence="each its own",
    files=(_TABLE,),
    row="a stated statistic",
    samples=samples,
    shipped=_FOLDER,
)
