"""The suites: partitions and methods of each page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ctm_research.nas.benchmark.published import OURS
from ctm_research.nas.benchmark.registry import METHODS
from predictor.core.errors import InputError

HAND_FEATURES = "hand-bayes"


@dataclass(frozen=True, slots=True)
class Suite:
    """One table or figure of the paper, or a comparison of ours.

    Attributes:
        name: in the option --suite.
        title: of the page.
        partitions: that it is made of.
        own_probes: whether a method that can choose probes uses its own.
    """

    name: str
    title: str
    partitions: tuple[str, ...]
    own_probes: bool = False


SUITES: Mapping[str, Suite] = MappingProxyType(
    {
        suite.name: suite
        for suite in (
            Suite("table1", "Errors on FBNet", ("F@1", "F@2", "F@3", "F@4")),
            Suite("systems", "The systems of the field on FBNet", ("F@1", "F@2", "F@3", "F@4")),
            Suite(
                "systems-nasbench201",
                "The systems of the field on NAS-Bench-201",
                ("N@1", "N@2", "N@3", "N@4"),
            ),
            Suite("figure3", "Coverage on NAS-Bench-201", ("N@1", "N@2", "N@3", "N@4")),
            Suite("figure4", "Distribution of errors on three devices", ("F@1", "F@2")),
            Suite("table3", "Ablation", ("F@1",), own_probes=True),
            Suite(
                "selectors",
                "Selectors of reference networks on search spaces",
                ("F@1", "F@2", "F@3", "F@4", "N@1", "N@2", "N@3", "N@4"),
                own_probes=True,
            ),
        )
    }
)


def methods_of(suite: Suite, named: Sequence[str]) -> tuple[str, ...]:
    """Return the methods of a suite, or those that were named.

    Raises:
        InputError: a method is unknown or named twice, or the suite has none.
    """
    for name in named:
        if name not in METHODS:
            raise InputError(
                f"method {name}", "there is no such method", f"give one of {', '.join(METHODS)}"
            )
    if len(set(named)) != len(named):
        raise InputError("methods", "one is named twice", "name each once")
    chosen = tuple(named) or tuple(n for n, entry in METHODS.items() if suite.name in entry.suites)
    if not chosen:
        raise InputError(f"suite {suite.name}", "it has no method yet", "name methods")
    return chosen


def chooser_of(*, own_probes: bool) -> str:
    """Return the method whose probes the others get, whichever methods take part.

    It is ours. Where methods choose for themselves, those that cannot get the cheap choice.
    """
    return OURS if OURS in METHODS and not own_probes else HAND_FEATURES
