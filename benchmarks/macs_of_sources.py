"""Compares the MACs that ingestion counts with those that the data sets state for their graphs.

``python -m benchmarks.macs_of_sources --data DIR --output docs/results/macs.md`` ingests all graphs
of ``DIR/ncnn`` (``models.csv``) and ``DIR/timm`` (``graphs.zip``, ``graphs.csv``), and writes the
page and the same figures as JSON beside it. The graphs of ``DIR/neusight``, for which no MACs are
stated, are listed with their totals. Nothing of the data is kept.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from predictor.core.units import format_count
from predictor.graph.contractions import arithmetic_of
from predictor.graph.flatten import flatten
from predictor.graph.ingest import ingest
from predictor.graph.model import Model
from predictor.graph.reader import read_model
from predictor.graph.shapes import complete_types, infer_all_types
from predictor.graph.values import ValueTable

LIMIT = 0.01
EXPLANATIONS = {
    "recurrent": (
        "the data set's count leaves out recurrent layers, ours has them: both agree without"
    ),
    "folded": (
        "the graph multiplies constants by constants (a position bias made by a small network), "
        "which a runtime does once when it loads the file; with them both agree"
    ),
}


@dataclass(frozen=True)
class Comparison:
    """MACs of one graph as counted and as stated."""

    source: str
    model: str
    counted: int
    stated: int
    recurrent: int
    folded: int
    operators: int
    milliseconds: float

    @property
    def ratio(self) -> float:
        """Counted over stated."""
        return self.counted / self.stated

    @property
    def explanation(self) -> str:
        """Why the counts differ; empty where nothing of ours explains it."""
        if self.recurrent and self.counted - self.recurrent == self.stated:
            return EXPLANATIONS["recurrent"]
        if self.folded and self.counted + self.folded == self.stated:
            return EXPLANATIONS["folded"]
        return ""


def ncnn_graphs(data: Path) -> Iterator[tuple[str, Path, int]]:
    """Yield model, graph and stated MACs of the ncnn data set, each graph once."""
    with (data / "ncnn" / "models.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["precision"] == "float" and row["macs"]:
                yield row["model"], data / "ncnn" / row["graph"], int(row["macs"])


def timm_graphs(data: Path, folder: Path) -> Iterator[tuple[str, Path, int]]:
    """Yield model, graph and stated MACs of the timm data set; graphs are unpacked one by one."""
    with (
        zipfile.ZipFile(data / "timm" / "graphs.zip") as archive,
        (data / "timm" / "graphs.csv").open(encoding="utf-8", newline="") as file,
    ):
        for row in csv.DictReader(file):
            path = folder / "graph.onnx"
            path.write_bytes(archive.read(f"graphs/{row['file']}"))
            yield row["file"].removesuffix(".onnx"), path, int(row["macs"])


def recurrent_macs(model: Model) -> int:
    """Return the MACs of LSTM, GRU and RNN."""
    kinds = zip(model.graph.op_types, model.graph.macs.tolist(), strict=True)
    return sum(macs for kind, macs in kinds if kind in {"LSTM", "GRU", "RNN"})


def unfolded_macs(path: Path) -> int:
    """Return the MACs of every operator in the file, also of those that clean-up folds."""
    network = flatten(infer_all_types(read_model(path).proto))
    complete_types(network, ValueTable(network))
    return sum(arithmetic_of(network, node).macs for node in network.nodes)


def compare(source: str, graphs: Iterator[tuple[str, Path, int]]) -> Iterator[Comparison]:
    """Ingest graphs and compare; progress goes to stderr."""
    for name, path, stated in graphs:
        start = time.perf_counter()
        model = ingest(path)
        elapsed = time.perf_counter() - start
        counted = int(model.graph.macs.sum())
        sys.stderr.write(f"\r{source} {name:60.60}")
        yield Comparison(
            source,
            name,
            counted,
            stated,
            recurrent_macs(model),
            unfolded_macs(path) - counted,
            len(model.graph),
            elapsed * 1e3,
        )
    sys.stderr.write("\n")


def unstated_totals(data: Path) -> list[str]:
    """Return table rows for the graphs of neusight: operators, MACs, parameters."""
    rows = []
    for path in sorted((data / "neusight" / "graphs").glob("*.onnx")):
        graph = ingest(path).graph
        macs = format_count(int(graph.macs.sum()))
        rows.append(f"| {path.stem} | {len(graph)} | {macs} | {format_count(graph.parameters)} |")
    return rows


def page(rows: list[Comparison], totals: list[str], seconds: float) -> str:
    """Return the result page."""
    lines = [
        "# MACs of the data sets' graphs",
        "",
        "`python -m benchmarks.macs_of_sources --data DIR --output docs/results/macs.md`",
        "",
        "Every graph of two data sets is ingested. The MACs that ingestion counts stand beside",
        "those that the data set states for the same graph.",
        "",
        "| source | graphs | equal to the digit | within 1 % | median ms | slowest ms |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for source in dict.fromkeys(row.source for row in rows):
        mine = [row for row in rows if row.source == source]
        times = sorted(row.milliseconds for row in mine)
        lines.append(
            f"| {source} | {len(mine)} | {sum(r.counted == r.stated for r in mine)} | "
            f"{sum(abs(r.ratio - 1) <= LIMIT for r in mine)} | {times[len(times) // 2]:.1f} | "
            f"{times[-1]:.0f} |"
        )
    unexplained = [row for row in rows if row.counted != row.stated and not row.explanation]
    far = sorted((r for r in rows if abs(r.ratio - 1) > LIMIT), key=lambda r: -abs(r.ratio - 1))
    lines += [
        "",
        f"Counts that differ and that nothing below explains to the digit: {len(unexplained)}.",
        f"The whole run took {seconds:.0f} s; the times include reading the file.",
        "",
        "## Every deviation above 1 %",
        "",
        "| model | counted | stated | ratio | why |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| {r.model} | {r.counted} | {r.stated} | {r.ratio:.4f} | {reason_of(r)} |"
            for r in far
        ),
        "",
        "Reasons:",
        "",
        *(f"- **{name}**: {text}." for name, text in EXPLANATIONS.items()),
        "",
        "## Graphs without stated MACs (neusight; model, sequence length, batch)",
        "",
        "| graph | operators | MACs | parameters |",
        "| --- | --- | --- | --- |",
        *totals,
        "",
    ]
    return "\n".join(lines)


def reason_of(row: Comparison) -> str:
    """Return the short name of an explanation, to the digit where there is one."""
    for name, text in EXPLANATIONS.items():
        if row.explanation == text:
            return f"{name}, to the digit"
    return "folded in part" if row.folded else "not explained"


def main() -> int:
    """Run the comparison and write its pages; exit code 1 when a deviation is not explained."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with ncnn/ and timm/")
    parser.add_argument("--output", type=Path, required=True, help="page to write (Markdown)")
    options = parser.parse_args()
    start = time.perf_counter()
    rows = list(compare("ncnn", ncnn_graphs(options.data)))
    with tempfile.TemporaryDirectory() as folder:
        rows += compare("timm", timm_graphs(options.data, Path(folder)))
    seconds = time.perf_counter() - start
    text = page(rows, unstated_totals(options.data), seconds)
    options.output.write_text(text, encoding="utf-8")
    facts = [{**asdict(row), "ratio": row.ratio} for row in rows if row.counted != row.stated]
    result = {"graphs": len(rows), "limit": LIMIT, "deviations": facts}
    options.output.with_suffix(".json").write_text(
        json.dumps(result, indent=1) + "\n", encoding="utf-8"
    )
    print(text)
    bad = [row for row in rows if abs(row.ratio - 1) > LIMIT and not row.explanation]
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
