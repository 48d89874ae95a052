"""The limits of a choice as they are typed."""

from __future__ import annotations

from dataclasses import dataclass, field

from ctm_gui.choose.language import LanguageLimits
from predictor.core.run_facts import MEDIAN
from predictor.services.choose.choose import EVEN
from predictor.services.choose.options import Budget, Wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """A budget as it is typed, and what may be chosen; None and empty parts limit nothing."""

    model: str = ""  # the one that runs; empty for all
    max_ms: float | None = None
    min_fps: float | None = None
    min_throughput: float | None = None
    max_watts: float | None = None
    max_memory_mb: float | None = None
    percentile: int = MEDIAN
    chance: float = EVEN
    wanted: Wanted = field(default_factory=Wanted)
    language: LanguageLimits = field(default_factory=LanguageLimits)

    @property
    def budget(self) -> Budget | None:
        """The budget; None where nothing is limited."""
        names = ("max_ms", "min_fps", "min_throughput", "max_watts", "max_memory_mb")
        limits = {name: getattr(self, name) for name in names}
        if all(limit is None for limit in limits.values()):
            return None
        # Without a latency there is nothing that slow runs could miss.
        return Budget(**limits, percentile=MEDIAN if self.max_ms is None else self.percentile)
