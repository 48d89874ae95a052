"""Orders of a benchmark's runs, and a runner of them that computes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ctm_research.nas.benchmark.document import document
from ctm_research.nas.benchmark.protocol import Plan
from ctm_research.nas.benchmark.runner import Order, Runner
from ctm_research.nas.benchmark.splits import Split, split
from ctm_research.nas.benchmark.suites import SUITES
from ctm_research.nas.benchmark.work import WorkFolder
from research.tests.nas.small_space import small_space
from research.tests.nas.splits import PARTITION

METHODS_RUN = ("constant", "flops", "hand-bayes")

PLAN = Plan(trainings=2, draws=3, ks=(3, 5))

ORDER = Order(("N@9",), METHODS_RUN, "hand-bayes", False, PLAN)

ENVIRONMENT = {
    "command": "ctm evaluate nas",
    "commit": "abc1234",
    "date": "2026-01-02",
    "python": "3.11",
    "system": "Linux x86_64",
    "processors": "2",
}


def splits() -> dict[str, Split]:
    return {"N@9": split(small_space(noise=0.02), PARTITION, tests=20)}


def runner(folder: Path, order: Order = ORDER, **more: Any) -> Runner:
    return Runner(splits(), order, WorkFolder(folder, order.plan), **more)


def document_of(folder: Path, suite: str, order: Order = ORDER) -> dict[str, Any]:
    figures = document(SUITES[suite], order, runner(folder, order).run())
    return json.loads(json.dumps({**ENVIRONMENT, **figures}, allow_nan=False))
