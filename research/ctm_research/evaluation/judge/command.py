"""The work of ``ctm evaluate classes``: from a data folder to the document."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ctm_research.corpus import open_corpus
from ctm_research.corpus.ledger import read_ledger
from ctm_research.evaluation.judge.document import Entry, LawCheck, Shipped, judge
from ctm_research.evaluation.judge.engines import JudgedEngine
from ctm_research.evaluation.judge.estimate import EstimateEngine
from ctm_research.evaluation.judge.judged import judged_of
from ctm_research.evaluation.judge.law_graphs import law_graphs
from ctm_research.evaluation.judge.training import ESTIMATE_DATA
from predictor.core.progress import CancelToken, ProgressCallback, no_progress
from predictor.core.records import Device
from predictor.core.resources import resources_dir
from predictor.cost.engine import Engine
from predictor.cost.roofline import RooflineEngine
from predictor.engine.checkpoint import read_checkpoint
from predictor.engine.closertome import CloserToMeEngine
from predictor.services.prediction.engines import CLOSERTOME


def judge_data(
    data: Path,
    devices: Mapping[str, Device],
    *,
    seed: int,
    draws: int,
    with_shipped: bool,
    network: Path | None = None,
    progress: ProgressCallback = no_progress,
    cancel: CancelToken | None = None,
) -> Entry:
    """Judge the measurements of a data folder.

    Args:
        data: folder with one folder a source.
        devices: the catalogue by id.
        seed: of folds and draws.
        draws: of measured networks.
        with_shipped: whether the shipped engine is asked too.
        network: folder that keeps trainings of the network, which is judged in three folds; None
            for none.
        progress: told while graphs are read and engines are asked.
        cancel: asks to stop.

    Raises:
        InputError: the folder holds no source, a file in it is damaged, no measurement is of a
            device of the catalogue, or the checkpoint is damaged.
        HostError: the cache of the corpus cannot be written.
        CancelledError: a stop was asked for.
    """
    corpus = open_corpus(data, progress=progress, cancel=cancel)
    judged = judged_of(corpus, devices, read_ledger(data, devices))
    engines: list[Engine] = [RooflineEngine()]
    folder = resources_dir() / "checkpoints" / CLOSERTOME
    card = read_checkpoint(folder).engine
    shipped = None
    if with_shipped:
        learned = [card.notes.get(name) for name in ("data", ESTIMATE_DATA)]
        names = {name for each in learned if isinstance(each, Mapping) for name in each}
        shipped = Shipped(CloserToMeEngine(folder), names)
        engines.append(shipped.engine)
    trained: list[JudgedEngine] = [
        EstimateEngine(judged, "estimate by kinds alone", learned=()),
        EstimateEngine(judged),
    ]
    if network is not None:
        # Here, because they load torch.
        from ctm_research.evaluation.judge.network import NetworkEngine  # noqa: PLC0415
        from ctm_research.training.loop import Recipe  # noqa: PLC0415

        recipe = Recipe(seed=seed)
        priors = (card.prior, card.widths)
        trained.append(NetworkEngine(network, recipe, *priors, progress, cancel))
    graphs = law_graphs(data)
    return judge(
        judged,
        trained,
        seed=seed,
        draws=draws,
        shipped=shipped,
        checked=LawCheck(engines, graphs, list(devices.values())) if graphs else None,
        progress=progress,
        cancel=cancel,
    )
