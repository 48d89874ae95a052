"""The methods by name. A module is imported when its method is asked for: most need torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Final, cast

from ctm_research.nas.method import Method
from predictor.core.errors import HostError, InputError

_BASELINES: Final = "ctm_research.nas.baselines"
_OURS: Final = "ctm_research.nas.methods"
MAIN: Final = frozenset({"table1", "figure3", "figure4"})
PARTS: Final = frozenset({"table1"})
ABLATION: Final = frozenset({"table3"})
SELECTORS: Final = frozenset({"selectors"})
SYSTEMS: Final = frozenset({"systems", "systems-nasbench201"})
QUICK: Final = MAIN | SYSTEMS
# Published systems of the paper's table, which beside the others are trained as often as these.
FIELD: Final = MAIN | {"systems"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A method that can be asked for.

    Attributes:
        factory: module:attribute that makes it, called without arguments.
        label: as on pages.
        suites: in which it takes part unless methods are named.
        own_probes: whether it must have the probes that it chooses itself.
    """

    factory: str
    label: str
    suites: frozenset[str] = MAIN
    own_probes: bool = False


def _ablation(attribute: str, label: str) -> Entry:
    return Entry(f"{_OURS}.ablation:{attribute}", label, ABLATION, own_probes=True)


def _by(attribute: str, selector: str) -> Entry:
    return Entry(
        f"{_BASELINES}.hand_bayes:{attribute}", f"hand features, {selector} probes", SELECTORS
    )


METHODS: Mapping[str, Entry] = MappingProxyType(
    {
        "constant": Entry(f"{_BASELINES}.constant:Constant", "constant", QUICK),
        "flops": Entry(f"{_BASELINES}.flops:Flops", "#FLOPs", QUICK),
        "lad": Entry(f"{_BASELINES}.lad:Lad", "LAD", FIELD),
        "brp": Entry(f"{_BASELINES}.brp:Brp", "BRP", FIELD),
        "nn-meter": Entry(f"{_BASELINES}.nn_meter:NnMeter", "nn-Meter", QUICK),
        "flat": Entry(f"{_BASELINES}.flat:Flat", "FLAT", FIELD),
        "nnlp": Entry(f"{_BASELINES}.nnlp:Nnlp", "NNLP", SYSTEMS),
        "esm": Entry(f"{_BASELINES}.esm:Esm", "ESM", SYSTEMS),
        "litepred": Entry(f"{_BASELINES}.litepred:LitePred", "LitePred", SYSTEMS),
        "alcop": Entry(f"{_BASELINES}.alcop:Alcop", "ALCOP's lesson", SYSTEMS),
        "hand-bayes": Entry(f"{_BASELINES}.hand_bayes:HandBayes", "hand features, Bayes"),
        "hand-bayes-random": _by("BY_CHANCE", "random"),
        "hand-bayes-dbsel": _by("BY_DBSEL", "DBSel"),
        "hand-bayes-dopt": _by("BY_D_OPTIMAL", "D-optimal"),
        # Last: what the others are compared with.
        "hand-bayes-iopt": _by("BY_I_OPTIMAL", "I-optimal"),
        "closertome": Entry(f"{_OURS}.kernel_posterior:KernelPosterior", "Kernel posterior", QUICK),
        "closertome-zero-shot": Entry(
            f"{_OURS}.graph_rows:ZERO_SHOT", "graph network, zero-shot", PARTS
        ),
        "closertome-film": Entry(f"{_OURS}.graph_rows:FILM", "graph network + FiLM", PARTS),
        "closertome-both": Entry(
            f"{_OURS}.graph_rows:BOTH", "graph network + FiLM + posterior", PARTS
        ),
        "closertome-graph": Entry(
            f"{_OURS}.graph_rows:GRAPH", "posterior, features of graph layers", PARTS
        ),
        "closertome-shuffled": Entry(
            f"{_OURS}.graph_rows:Shuffled", "posterior, features shuffled", PARTS
        ),
        "closertome-paper": Entry(
            f"{_OURS}.paper:PaperMethod", "CloserToMe as published", own_probes=True
        ),
        "ablation-baseline": _ablation("BASELINE", "Baseline"),
        "ablation-baseline-posterior": _ablation("BASELINE_POSTERIOR", "Baseline + posterior"),
        "ablation-a": _ablation("A", "Variant A"),
        "ablation-a-posterior": _ablation("A_POSTERIOR", "Variant A + posterior"),
        "ablation-b": _ablation("B", "Variant B"),
        "ablation-b-posterior": _ablation("B_POSTERIOR", "Variant B + posterior"),
        "ablation-c": _ablation("C", "Variant C"),
        "ablation-c-posterior": _ablation("C_POSTERIOR", "Variant C + posterior"),
        "ablation-ours": _ablation("OURS", "Ours"),
        "ablation-ours-posterior": _ablation("OURS_POSTERIOR", "Ours + posterior"),
    }
)


def method_named(name: str) -> Method:
    """Return a method.

    Raises:
        InputError: there is no such method.
        HostError: it needs torch or scikit-learn, which is not installed.
    """
    if name not in METHODS:
        raise InputError(
            f"method {name}", "there is no such method", f"give one of {', '.join(METHODS)}"
        )
    module, _, attribute = METHODS[name].factory.partition(":")
    try:
        return cast("Method", getattr(import_module(module), attribute)())
    except ModuleNotFoundError as error:
        extra = {"torch": "train", "sklearn": "systems"}.get(str(error.name))
        if extra is None:
            raise
        raise HostError(
            f"method {name}", f"{error.name} is not installed", f"install closertome[{extra}]"
        ) from error
