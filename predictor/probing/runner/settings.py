"""The numbers of the measuring protocol, and the names of its documents."""

from __future__ import annotations

from dataclasses import dataclass

PROTOCOL = "ctm-probe/1"
PLAN_SCHEMA = "ctm-plan/1"
RESULTS_SCHEMA = "ctm-results/1"
CPU_PROVIDER = "CPUExecutionProvider"

MAX_OPERATORS = 20_000
"""Nodes of a network whose times are reported; of a larger one none are."""

LONGEST_NAME = 500
"""Characters of a node's name, and of its type, that are reported."""


@dataclass(frozen=True)
class Settings:
    """The numbers of the measuring protocol; times in seconds.

    Attributes:
        blocks: blocks of a network, each in a fresh process; one more is measured where these
            differ. 1 for a single one of each network, all in one process.
        warm_up_runs: warm-up goes on for so many runs and
        warm_up_s: for so long, whichever is later,
        warm_up_limit_s: but no longer than this,
        settled: and then until the medians of its last two quarters differ by no more than this
            share,
        settle_limit_s: for which it may take so much more.
        least_runs: timed runs of a block.
        least_s: timed seconds of a block.
        interval: a block ends when the 95 % interval of its median is within this share of it,
        cap_s: or when the timed runs of all blocks have taken so long, a block its part,
        limit_s: or so long where ``least_runs`` are not done by then.
        agreement: medians of two blocks that agree differ by no more than this share.
        drift: medians of the sentinel that differ by more than this share are drift.
        load_limit_s: loading a network may take so long.
        silence_limit_s: a process that writes nothing for so long hangs.
        profile_warm_up_runs: of the profiled pass, which do not count.
        profile_runs: the profiled pass takes so many more runs and
        profile_s: so long, whichever is later,
        profile_most_runs: but no more runs than this
        profile_limit_s: and no longer than this.
    """

    blocks: int = 2
    warm_up_runs: int = 10
    warm_up_s: float = 0.5
    warm_up_limit_s: float = 20.0
    settled: float = 0.02
    settle_limit_s: float = 2.0
    least_runs: int = 11
    least_s: float = 1.0
    interval: float = 0.01
    cap_s: float = 20.0
    limit_s: float = 150.0
    agreement: float = 0.03
    drift: float = 0.05
    load_limit_s: float = 60.0
    silence_limit_s: float = 30.0
    profile_warm_up_runs: int = 2
    profile_runs: int = 5
    profile_s: float = 0.3
    profile_most_runs: int = 200
    profile_limit_s: float = 5.0


LATER_SETTINGS = frozenset(
    (
        "profile_warm_up_runs",
        "profile_runs",
        "profile_s",
        "profile_most_runs",
        "profile_limit_s",
        "blocks",
    )
)
"""Settings that documents of earlier versions do not have."""
