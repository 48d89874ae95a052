"""timm's published inference benchmark: image networks on GPUs at large batches and on one CPU.

Source: ``huggingface/pytorch-image-models``, results/benchmark-infer-*.csv. The time of a whole
batch is taken; the time per image is throughput.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from ctm_research.sources import built
from ctm_research.sources.aliases import Aliases, read_aliases
from ctm_research.sources.samples import GraphFile, Sample, Statistic
from ctm_research.sources.source import Share, Source
from ctm_research.sources.tables import Row, read_rows
from predictor.core.records import Configuration, Precision

NAME = "timm"
_TABLE = "latencies.csv"
_COLUMNS = (
    *("device_id", "precision", "compiled", "torch", "model", "img_size", "batch_size"),
    *("step_time_ms", "source_file", "graph_variant", "flag"),
)
_GRAPH_COLUMNS = ("model", "img_size", "graph_variant", "file")
_CHANGED = "graph_params_differ"

_RUNTIMES = {"yes": "pytorch-compiled", "no": "pytorch"}
_PRECISIONS = {str(precision): precision for precision in Precision}

# Modules of timm that are written around the blocks of another module: one family.
_SAME_FAMILY = {
    "beit": "vision_transformer",
    "deit": "vision_transformer",
    "efficientformer_v2": "efficientformer",
    "eva": "vision_transformer",
    "hardcorenas": "mobilenetv3",
    "hieradet_sam2": "hiera",
    "inception_v4": "inception_v3",
    "mobilenetv5": "mobilenetv3",
    "naflexvit": "vision_transformer",
    "pnasnet": "nasnet",
    "repghost": "ghostnet",
    "resnetv2": "resnet",
    "senet": "resnet",
    "swin_transformer_v2": "swin_transformer",
    "swin_transformer_v2_cr": "swin_transformer",
    "vision_transformer_hybrid": "vision_transformer",
    "vision_transformer_relpos": "vision_transformer",
    "vision_transformer_sam": "vision_transformer",
    "xception_aligned": "xception",
}

Key = tuple[str, str, str]
"""Model, size of the image and variant of a graph."""

Graphs = dict[Key, GraphFile]

RESIZED: Final = Path(__file__).parent / "resized.csv"
"""Sizes at which a network can be had from its graph at another one, as ``corpus.resizing`` found.

A network of convolutions takes images of any size.
"""
RESIZED_COLUMNS: Final = ("model", "graph_variant", "img_size", "side")


def graphs(data: Path) -> Graphs:
    """Return the graphs by model, image size and variant, each at batch 1.

    Those of the folder come first; then what was built (``sources.built``).

    Raises:
        InputError: a table of graphs is missing or damaged.
    """
    return {_key(row): file for row, file in _built(data)} | _resized(files(data))


def _built(data: Path) -> Iterator[tuple[Row, GraphFile]]:
    """Yield the rows whose graph was built."""
    there = built.graphs(data)
    if there:
        for row in read_rows(data / NAME / _TABLE, (*_COLUMNS, "family")):
            stem = file_stem(_key(row))
            if stem in there:
                yield row, there[stem]


def _key(row: Row) -> Key:
    return row["model"], row["img_size"], row["graph_variant"]


def file_stem(key: Key) -> str:
    """Return the name of the file of a graph, without its ending."""
    model, size, variant = key
    return f"{model}__{size}" + ("" if variant == "plain" else f"__{variant}")


def missing(data: Path) -> Mapping[Key, list[Row]]:
    """Return the rows that lack nothing but a graph, by graph; what was built counts as missing.

    Raises:
        InputError: a table is missing or damaged.
    """
    at_hand = _resized(files(data))
    rows: dict[Key, list[Row]] = {}
    for row in read_rows(data / NAME / _TABLE, (*_COLUMNS, "param_count_m", "gmacs_ref")):
        if _key(row) not in at_hand and _CHANGED not in row["flag"].split(";"):
            rows.setdefault(_key(row), []).append(row)
    return rows


def files(data: Path) -> Graphs:
    """Return the graphs of the folder that are files.

    Raises:
        InputError: the table of graphs is missing or damaged.
    """
    return {
        _key(row): _graph_file(data, row)
        for row in read_rows(data / NAME / "graphs.csv", _GRAPH_COLUMNS)
    }


def _resized(of_files: Graphs) -> Graphs:
    more = {}
    for row in read_rows(RESIZED, RESIZED_COLUMNS, only=True):
        base = of_files.get((row["model"], row["img_size"], row["graph_variant"]))
        if base is not None:
            side = row.count("side")
            more[row["model"], row["side"], row["graph_variant"]] = replace(base, side=side)
    return more | of_files


def waiting(data: Path) -> Iterator[tuple[Key, int]]:
    """Yield graphs of the folder, each with a side of images that rows without a graph have.

    Raises:
        InputError: a table is missing or damaged.
    """
    sides: dict[tuple[str, str], list[int]] = {}
    for model, size, variant in files(data):
        sides.setdefault((model, variant), []).append(int(size))
    wanted = {
        (row["model"], row["graph_variant"], row.count("img_size"))
        for row in read_rows(data / NAME / _TABLE, _COLUMNS)
    }
    for model, variant, side in sorted(wanted):
        at_hand = sides.get((model, variant), [])
        if at_hand and side not in at_hand:
            nearest = min(at_hand, key=lambda size: abs(size - side))
            yield (model, str(nearest), variant), side


def families(data: Path) -> Mapping[GraphFile, str]:
    """Return the family of architectures of each graph: its module of timm.

    Raises:
        InputError: a table is missing or damaged.
    """
    of_files = {
        _graph_file(data, row): row["family"]
        for row in read_rows(data / NAME / "graphs.csv", ("file", "family"))
    }
    of_built = {file: row["family"] for row, file in _built(data)}
    modules = of_built | of_files
    return {file: _SAME_FAMILY.get(module, module) for file, module in modules.items()}


def _graph_file(data: Path, row: Row) -> GraphFile:
    return GraphFile(data / NAME / "graphs.zip", f"graphs/{row['file']}")


def samples(data: Path) -> Iterator[Sample]:
    """Yield every row of the table.

    Raises:
        InputError: a table is missing or damaged.
    """
    by_key, aliases = graphs(data), read_aliases(NAME)
    for row in read_rows(data / NAME / _TABLE, _COLUMNS):
        if row["precision"] not in _PRECISIONS:
            row.refuse("precision", f"one of {', '.join(_PRECISIONS)}")
        if row["compiled"] not in _RUNTIMES:
            row.refuse("compiled", "yes or no")
        yield _sample(row, by_key, aliases)


def _sample(row: Row, graphs: Graphs, aliases: Aliases) -> Sample:
    batch = row.count("batch_size")
    flags = tuple(filter(None, row["flag"].split(";")))
    changed = _CHANGED in flags
    return Sample(
        source=NAME,
        table=_TABLE,
        line=row.line,
        network=f"{row['model']} {row['img_size']}",
        graph=graphs.get(_key(row)),
        batch_factor=batch,
        device=row["device_id"],
        device_id=aliases.find(row["device_id"]).device_id,
        configuration=Configuration(
            _RUNTIMES[row["compiled"]], _PRECISIONS[row["precision"]], threads=0, batch=batch
        ),
        latency_ms=row.positive("step_time_ms"),
        statistic=Statistic.MEAN,
        provenance=f"huggingface/pytorch-image-models, results/{row['source_file']}, "
        f"torch {row['torch']}",
        flags=flags,
        excluded="the network was changed after it was measured" if changed else "",
        threads_stated=False,
    )


SOURCE = Source(
    name=NAME,
    rank=2,
    title="timm benchmarks",
    repository="huggingface/pytorch-image-models",
    licence="Apache-2.0",
    notice="; graphs exported from timm 1.0.31",
    files=(_TABLE, "graphs.csv", "graphs.zip"),
    row="the mean of a whole batch",
    ships="results",
    samples=samples,
    families=families,
    shares={NAME: Share(0.22, 14, 8)},
    names=(_SAME_FAMILY,),
)
