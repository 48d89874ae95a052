"""The systems by name. A module is imported when its system is asked for: most need torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Final, cast

from ctm_research.evaluation.systems.system import System
from predictor.core.errors import HostError, InputError

_ROOM: Final = "ctm_research.evaluation.systems"
PRODUCT: Final = "closertome"


@dataclass(frozen=True, slots=True)
class Entry:
    """A system that can be asked for on the corpus.

    Attributes:
        factory: module:attribute that makes it.
        label: as on the page.
        needs: facts or measurements that it reads of a device or a network.
        differs: from its authors' form, and what they leave open.
        seeds: number of trainings of a fold; 1 where no random numbers are drawn.
        is_defined_unmeasured: whether its authors define a prediction for a device without any
            measurement.
        is_variant: part of a system that is left out, shown below it.
    """

    factory: str
    label: str
    needs: str
    differs: str
    seeds: int = 1
    is_defined_unmeasured: bool = True
    is_variant: bool = False

    @property
    def module(self) -> str:
        """Name of the module that it is made in."""
        return f"{_ROOM}.{self.factory.partition(':')[0]}"


_SPECS: Final = "peak, bandwidth, units, launch"
_NOT_UNMEASURED: Final = (
    "Of a device without measurements it defines nothing: the mean of the class stands there."
)

SYSTEMS: Mapping[str, Entry] = MappingProxyType(
    {
        PRODUCT: Entry(
            "product:Product",
            "CloserToMe (estimate)",
            "facts of the device, runtime, operators",
            "What ships for hardware without measurements, trained anew in each fold on all rows.",
        ),
        "roofline": Entry(
            "arithmetic:Peaks", "Roofline", _SPECS, "Peaks alone; where all rates are stated."
        ),
        "class-roofline": Entry(
            "arithmetic:ClassRoofline",
            "Roofline, class efficiency",
            _SPECS,
            "One efficiency for each class, the median over silicon.",
        ),
        "pm2lat": Entry(
            "arithmetic:Pm2Lat",
            "PM2Lat's form",
            _SPECS,
            "Its tables are of kernels timed on the very card. On an unseen device they are those "
            "of the class, as shares of the peak; with its own it stands among the transformers.",
        ),
        "habitat": Entry(
            "arithmetic:Habitat",
            "Habitat's scaling",
            "the same network measured on another device of the class; peak, bandwidth",
            "Wave scaling of all kernels by roofline shares; its networks for convolutions and "
            "products cannot be trained, as their data are not public.",
        ),
        "nn-meter": Entry(
            "kernels:NnMeter",
            "nn-Meter",
            "k measured networks; kinds of kernels",
            f"Its random forests need kernels timed one by one on the device; sums of networks fit "
            f"a positive linear regression for each kind. {_NOT_UNMEASURED}",
            is_defined_unmeasured=False,
        ),
        "litepred": Entry(
            "kernels:LitePred",
            "LitePred",
            "k measured networks; a pool of measured targets",
            "Pool of nn-Meter regressions in place of its 16-layer networks; the nearest by "
            "divergence of the measured latencies. Its sampling by a VAE has nothing to choose "
            f"from: which networks are measured is drawn alike for all. {_NOT_UNMEASURED}",
            is_defined_unmeasured=False,
        ),
        "trees": Entry(
            "trees:Trees",
            "Boosted trees",
            "facts of the device, runtime, operators by kind",
            "No system of a paper: ALCOP's trees without its lesson.",
        ),
        "alcop": Entry(
            "trees:Alcop",
            "ALCOP's lesson: trees after analytic times",
            "facts of the device, runtime, operators by kind",
            "It tunes pipelined kernels with XGBoost; the lesson is tried with scikit-learn's "
            "histogram trees on networks: pre-trained on the roofline of 20 000 drawn pairs.",
            seeds=3,
        ),
        "nnlp": Entry(
            "graph_networks:Nnlp",
            "NNLP",
            "k measured networks; the graph",
            "64 wide in place of 512, 1000 steps; its fine-tuning of a new platform's head is the "
            f"level. {_NOT_UNMEASURED}",
            seeds=3,
            is_defined_unmeasured=False,
        ),
        "nnlp-facts": Entry(
            "graph_networks:NnlpFacts",
            "NNLP with facts of the device",
            "facts of the device, runtime, the graph",
            "Not of the paper: one head that reads the facts in place of a head a platform.",
            seeds=3,
            is_variant=True,
        ),
        "tlp": Entry(
            "graph_networks:Tlp",
            "TLP's sequence network",
            "k measured networks; the sequence of operators",
            "It ranks schedules of one tensor program; here its network, 64 wide in place of 256, "
            "reads operators in place of schedule primitives and regresses latency, with a head "
            f"for each platform as in MTL-TLP. {_NOT_UNMEASURED}",
            seeds=3,
            is_defined_unmeasured=False,
        ),
        "ledg-former": Entry(
            "ledg_former:LedgFormer",
            "LeDG-Former",
            "a text for the device, a text for each operator, the graph",
            "MiniLM in place of BERT, 64 wide, two layers, 1000 steps. Which sizes an operator's "
            "text has is not printed: here window, stride, and product or bytes, rounded. Runtime "
            "and threads stand in the device's text, as the corpus has more than one runtime.",
            seeds=3,
        ),
        "ledg-former-same-mix": Entry(
            "ledg_former:WithoutMix",
            "LeDG-Former without dynamic mix",
            "the same",
            "LeDG-Former whose sons, fathers and grandfathers count the same.",
            seeds=3,
            is_variant=True,
        ),
        "ledg-former-random": Entry(
            "ledg_former:RandomEncoder",
            "LeDG-Former with a random encoder",
            "the same",
            "LeDG-Former whose sentence encoder has random weights.",
            seeds=3,
            is_variant=True,
        ),
    }
)

# Systems that have a line on the page and no figures of the corpus, with the reason.
NOT_RUN: Mapping[str, str] = MappingProxyType(
    {
        "NeuSight": "It needs operators timed on cards, with the tiles of their kernels. They are "
        "public for five cards and no convolutions: it stands among the transformers.",
        "BRP, FLAT, LAD, ESM": "They read the code of one search space, which networks of a corpus "
        "do not have: they stand among the search spaces.",
        "Habitat's networks": "Their training sets and the runs that they scale are not public; "
        "its scaling of kernels stands above.",
        "FLAME, Roofline-LLM": "The first predicts clocks of one board, the second rates of "
        "language models: [clocks](clocks.md) and [generation](generation.md) judge these.",
    }
)


def system_named(name: str) -> System:
    """Return a system.

    Raises:
        InputError: there is no such system.
        HostError: a library that it needs is not installed.
    """
    check_names([name])
    entry = SYSTEMS[name]
    try:
        made = getattr(import_module(entry.module), entry.factory.partition(":")[2])()
    except ModuleNotFoundError as error:
        raise HostError(
            f"system {name}", f"{error.name} is not installed", "install closertome[systems]"
        ) from error
    return cast("System", made)


def check_names(names: list[str]) -> None:
    """Refuse names of systems that there are not.

    Raises:
        InputError: there is no such system.
    """
    for name in names:
        if name not in SYSTEMS:
            raise InputError(
                f"system {name}", "there is no such system", f"give some of {', '.join(SYSTEMS)}"
            )
