"""``ctm inspect``: a model's operators with their shapes, MACs and bytes."""

from __future__ import annotations

import argparse
from concurrent.futures import Future

from predictor.cli.console import Console
from predictor.cli.model_text import NAME_COLUMNS, describe, dims_text
from predictor.cli.tables import render_table
from predictor.core.text import printable, shortened
from predictor.core.units import format_bytes, format_count
from predictor.services.models.inspection import Model, inspection_document
from predictor.services.prediction.predict import operator_facts

_HEADERS = ("Operator", "Type", "Output", "MACs", "Bytes", "Weights", "")
_RIGHT = "   rrr"


def run(options: argparse.Namespace, console: Console, reading: Future[Model]) -> int:
    """Print what a model is made of."""
    model = reading.result()
    if options.json:
        console.document(inspection_document(model))
    else:
        console.result(f"{describe(model)}\n\n{_operator_table(model)}")
    return 0


def _operator_table(model: Model) -> str:
    facts = operator_facts(model)
    columns = zip(
        facts.names,
        facts.op_types,
        facts.output_shapes,
        facts.macs.tolist(),
        facts.bytes_moved.tolist(),
        facts.weight_bytes.tolist(),
        facts.flags,
        strict=True,
    )
    rows = [
        (
            shortened(name, NAME_COLUMNS),
            shortened(op_type, NAME_COLUMNS),
            dims_text(shape),
            format_count(macs) if macs else "",
            format_bytes(moved),
            format_bytes(weights) if weights else "",
            printable(flags),
        )
        for name, op_type, shape, macs, moved, weights, flags in columns
    ]
    return render_table(_HEADERS, rows, _RIGHT)
