"""A small work folder of the bridge: prepared networks without files."""

from __future__ import annotations

import sys
from pathlib import Path

from ctm_research.bridge.measure import Bridge, Limits
from ctm_research.bridge.prepare import form_folder, reason_file
from ctm_research.bridge.rows import Network, Row
from ctm_research.bridge.table import Table

BLOCK = (sys.executable, str(Path(__file__).with_name("fake_block.py")))
NETWORKS = tuple(
    Network(name, "residual", "graphs", f"{name}.onnx", "", more=False)
    for name in ("one", "two", "three")
)
ROWS = tuple(Row(network, "onnxruntime", "fp32", 1) for network in NETWORKS)


def make(folder: Path, *, missing: str = "") -> None:
    for network in NETWORKS:
        form = form_folder(folder, network, "onnxruntime", "fp32")
        if network.name == missing:
            form.parent.mkdir(parents=True)
            reason_file(form).write_text("no kernel for this", encoding="utf-8")
        else:
            form.mkdir(parents=True)


def bridge(folder: Path, limits: Limits | None = None) -> Bridge:
    table = Table(folder / "rows.jsonl")
    return Bridge(folder, folder, table, limits or Limits(), lambda _: None, BLOCK)


def run_all(folder: Path) -> int:
    """Be the program that a test kills."""
    return bridge(folder, Limits(busy_cores=None)).run(ROWS, {})
