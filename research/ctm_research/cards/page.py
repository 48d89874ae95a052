"""The page of the networks on the timed card, beside what the engine predicts of them."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import mean, median
from typing import Any, Final

from ctm_research.cards import CARD, card_path, images_path, transformers_path
from ctm_research.cards.predicted import predicted_rows
from ctm_research.sources.tables import read_rows
from predictor.core.errors import InputError
from predictor.core.files import read_text, write_text
from predictor.presentation.markdown import table
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.measurements.origin import environment_of, origin_of
from predictor.services.prediction.engines import CLOSERTOME

Document = Mapping[str, Any]

_STEM: Final = "cards"
_LATENCIES: Final = ("measured ms", "predicted ms", "error %", "80 % interval, ms")
_IMAGES: Final = "timm"  # folder of their graphs
_NEUSIGHT: Final = "neusight"
_COMMAND: Final = "python -m ctm_research.cards page --data DIR --output DIR"
_METHOD: Final = """\
{networks} image networks of timm on an {card}, in eager PyTorch {torch} with CUDA {cuda}, timed
for this page: by the clock from the call to the end of the work, the median of 30 runs; FP32 takes
TF32 in convolutions{matrices}. No training has seen the card, and nothing of it was measured for
the engine: these are the numbers that a user gets who names `--device {device} --runtime pytorch`.
How other systems predict the transformers stands on [the page of systems](systems.md)."""
_TRANSFORMERS: Final = """\
Transformers by the protocol of NeuSight's collector: events of the device, the mean of the fastest
runs, FP32 without TF32, eager attention. Mean error {mean:.1f} %."""
_HOST: Final = """\
From batch {first} to batch {second} a run took {longer:.2f} times as long in the median: at batch
{first} its time is that of the host, which starts one operator after the other while the card
waits."""


def write_page(data: Path, folder: Path | None = None) -> str:
    """Predict the networks of the card, and return the page.

    Args:
        data: folder with one folder a source, among them the graphs of timm and NeuSight.
        folder: where ``cards.json`` and ``cards.md`` are written; None writes nothing.

    Raises:
        InputError: a table or a graph is missing or damaged.
    """
    document = {**environment_of(_COMMAND, engine=CLOSERTOME), **card_figures(data)}
    text = card_page(document, origin_of(document))
    if folder is not None:
        write_text(folder / f"{_STEM}.json", json.dumps(document, indent=1) + "\n")
        write_text(folder / f"{_STEM}.md", text)
    return text


def card_figures(data: Path) -> dict[str, Any]:
    """Return the rows of the card's tables, each with its prediction, as plain values.

    Args:
        data: folder with one folder a source.

    Raises:
        InputError: a table or a graph is missing or damaged.
    """
    source, catalogue = data / _IMAGES, load_catalogue()
    families = {
        Path(row["file"]).stem: row["family"]
        for row in read_rows(source / "graphs.csv", ("file", "family"))
    }
    with tempfile.TemporaryDirectory(prefix="ctm-cards-") as folder:
        models = {row["model"] for row in read_rows(images_path(), ("model",))}
        _unpack(source / "graphs.zip", models, Path(folder))
        rows = predicted_rows(images_path(), Path(folder), catalogue)
    graphs = data / _NEUSIGHT / "graphs"
    transformers = predicted_rows(transformers_path(), graphs, catalogue)
    return {
        "evaluation": "cards",
        "device": CARD,
        "card": json.loads(read_text(card_path())),
        "rows": [{**asdict(row), "family": families[row.model]} for row in rows],
        "transformers": [asdict(row) for row in transformers],
    }


def _unpack(archive: Path, models: Iterable[str], folder: Path) -> None:
    """Write the graphs of some models into a folder.

    Raises:
        InputError: the archive is missing or damaged, or lacks one.
    """
    try:
        with zipfile.ZipFile(archive) as graphs:
            for model in models:
                content = graphs.read(f"graphs/{model}.onnx")
                (folder / f"{model}.onnx").write_bytes(content)
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        reason = f"a graph cannot be unpacked ({error})"
        raise InputError(str(archive), reason, "restore the file from its source") from error


def card_page(document: Document, origin: str) -> str:
    """Return the page.

    Args:
        document: of :func:`card_figures`.
        origin: the lines on command, day, machine and engine.
    """
    rows, card = document["rows"], document["card"]
    method = _METHOD.format(
        networks=len({row["model"] for row in rows}),
        card=card["card"],
        torch=card["torch"],
        cuda=card["cuda"],
        matrices=" and in products" if card["matrix_tf32"] else ", not in products of matrices",
        device=document["device"],
    )
    first = min(row["batch"] for row in rows)
    at_first = [row for row in rows if row["batch"] == first]
    parts = ["# Networks on an H100 that no training has seen", origin, method]
    parts += [_plainly(at_first, first), *_host(rows)]
    parts += ["## By precision and batch", _by_batch(rows)]
    for precision in _distinct(rows, "precision"):
        chosen = [row for row in at_first if row["precision"] == precision]
        parts += [f"## {precision.upper()}, batch {first}", _by_network(chosen)]
        parts += [f"### By family, {precision.upper()}", _by_family(chosen)]
    transformers = document["transformers"]
    parts += ["## Transformers", _TRANSFORMERS.format(mean=mean(_errors(transformers)))]
    parts.append(_by_transformer(transformers))
    return "\n\n".join(parts) + "\n"


def _plainly(rows: Sequence[Document], batch: int) -> str:
    """Say in one sentence how far off the engine is."""
    words = []
    for precision in _distinct(rows, "precision"):
        chosen = [row for row in rows if row["precision"] == precision]
        over = sum(row["predicted_ms"] > row["measured_ms"] for row in chosen)
        words.append(
            f"{median(_errors(chosen)):.0f} % in {precision.upper()} "
            f"({over} of {len(chosen)} networks predicted too slow)"
        )
    return f"**At batch {batch} the engine is off by a median of {' and '.join(words)}.**"


def _host(rows: Sequence[Document]) -> Iterator[str]:
    """Say how much longer the next larger batch took; nothing where there is one batch."""
    batches = sorted(_distinct(rows, "batch"))[:2]
    if len(batches) < 2:
        return
    one, more = (
        {(r["model"], r["precision"]): r["measured_ms"] for r in rows if r["batch"] == batch}
        for batch in batches
    )
    longer = median(more[run] / one[run] for run in one)
    yield _HOST.format(first=batches[0], second=batches[1], longer=longer)


def _by_batch(rows: Sequence[Document]) -> str:
    header = (
        *("precision", "batch", "networks", "median error %", "largest %"),
        *("predicted / measured, median", "in the 80 % interval"),
    )
    cells = []
    for precision in _distinct(rows, "precision"):
        for batch in _distinct(rows, "batch"):
            chosen = [r for r in rows if r["precision"] == precision and r["batch"] == batch]
            errors = _errors(chosen)
            inside = sum(r["low80_ms"] <= r["measured_ms"] <= r["high80_ms"] for r in chosen)
            ratio = median(r["predicted_ms"] / r["measured_ms"] for r in chosen)
            cells.append(
                (
                    *(precision, batch, len(chosen)),
                    *(f"{median(errors):.0f}", f"{max(errors):.0f}"),
                    *(ratio, f"{inside} of {len(chosen)}"),
                )
            )
    return table(header, cells)


def _by_network(rows: Sequence[Document]) -> str:
    cells = [(row["model"], row["family"], *_latencies(row)) for row in rows]
    return table(("network", "family", *_LATENCIES), cells)


def _by_transformer(rows: Sequence[Document]) -> str:
    cells = [(row["model"], row["batch"], *_latencies(row)) for row in rows]
    return table(("network", "batch", *_LATENCIES), cells)


def _latencies(row: Document) -> tuple[object, ...]:
    """Return the cells of :data:`_LATENCIES`."""
    return (
        *(row["measured_ms"], row["predicted_ms"]),
        f"{100 * (row['predicted_ms'] / row['measured_ms'] - 1):+.0f}",
        f"{row['low80_ms']:.2f} to {row['high80_ms']:.2f}",
    )


def _by_family(rows: Sequence[Document]) -> str:
    cells = []
    for family in _distinct(rows, "family"):
        chosen = [row for row in rows if row["family"] == family]
        cells.append((family, len(chosen), f"{median(_errors(chosen)):.0f}"))
    return table(("family", "networks", "median error %"), cells)


def _errors(rows: Sequence[Document]) -> list[float]:
    """Return the errors in percent of the measured latency."""
    return [100 * abs(row["predicted_ms"] / row["measured_ms"] - 1) for row in rows]


def _distinct(rows: Sequence[Document], name: str) -> list[Any]:
    """Return the values of a column, in the order of the rows."""
    return list(dict.fromkeys(row[name] for row in rows))
