"""NeuSight's published measurements: whole transformers on server GPUs in FP32.

Source: ``sitar-lab/NeuSight``, data of "Forecasting GPU Performance for Deep Learning Training and
Inference", ASPLOS 2025. TF32 was switched off; the mean of the 5 fastest of 25 runs is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ctm_research.sources.aliases import Aliases, read_aliases
from ctm_research.sources.samples import GraphFile, Sample, Statistic
from ctm_research.sources.source import Share, Source
from ctm_research.sources.tables import Row, read_rows
from predictor.core.records import Configuration, Precision

NAME = "neusight"
OPERATORS = "neusight-operators"
"""The part of the source that is no whole networks; ``corpus.single_operators`` reads it."""
OPERATORS_TABLE = "ops_train.csv.gz"
_TABLE = "models.csv"
_COLUMNS = (
    *("device_id", "model", "mode", "seq_len", "batch", "fused", "n_gpus"),
    "measured_e2e_ms",
)

_RUNTIMES = {"True": "pytorch-compiled", "False": "pytorch"}

# Family of architectures by the start of a name; GPT-2 and GPT-3 differ in size alone.
_FAMILIES = {"bert": "bert", "gpt": "gpt", "opt": "opt"}


def families(data: Path) -> Mapping[GraphFile, str]:
    """Return the family of architectures of each graph of the folder."""
    return {
        graph: family
        for stem, graph in _graphs(data).items()
        for start, family in _FAMILIES.items()
        if stem.startswith(start)
    }


def samples(data: Path) -> Iterator[Sample]:
    """Yield every row of the table of whole models.

    Raises:
        InputError: the table is missing or damaged.
    """
    by_name, aliases = _graphs(data), read_aliases(NAME)
    for row in read_rows(data / NAME / _TABLE, _COLUMNS):
        if row["fused"] not in _RUNTIMES:
            row.refuse("fused", "True or False")
        yield _sample(row, by_name, aliases)


def _graphs(data: Path) -> dict[str, GraphFile]:
    return {path.stem: GraphFile(path) for path in sorted((data / NAME / "graphs").glob("*.onnx"))}


def _sample(row: Row, by_name: dict[str, GraphFile], aliases: Aliases) -> Sample:
    batch = row.count("batch")
    network = f"{row['model']}-{row['seq_len']}-{batch}"
    return Sample(
        source=NAME,
        table=_TABLE,
        line=row.line,
        network=network,
        graph=by_name.get(network),
        batch_factor=1,  # each batch has a file of its own
        device=row["device_id"],
        device_id=aliases.find(row["device_id"]).device_id,
        configuration=Configuration(_RUNTIMES[row["fused"]], Precision.FP32, 0, batch),
        latency_ms=row.positive("measured_e2e_ms"),
        statistic=Statistic.MEAN_OF_FASTEST,
        provenance="sitar-lab/NeuSight, ASPLOS 2025",
        excluded=_exclusion(row),
    )


def _exclusion(row: Row) -> str:
    if row["mode"] != "inf":
        return "forward and backward pass"
    if row["n_gpus"] != "1":
        return "several GPUs at once"
    return ""


SOURCE = Source(
    name=NAME,
    rank=3,
    title="NeuSight",
    repository="sitar-lab/NeuSight",
    commits=("69459279",),
    licence="MIT",
    notice="; ASPLOS 2025, doi 10.1145/3669940.3707265; (c) 2025 Georgia Institute of Technology "
    "and Microsoft Corporation",
    files=(_TABLE, "graphs/MODEL-SEQUENCE-BATCH.onnx", OPERATORS_TABLE),
    row="the mean of the 5 fastest of 25",
    ships="",
    samples=samples,
    families=families,
    shares={NAME: Share(0.04, 8, 8), OPERATORS: Share(0.06, 256, 7)},
    names=(_FAMILIES,),
)
