"""Versions of all that made the report, and the commands that make it again."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version

from predictor import __version__
from predictor.core.records import Target
from predictor.core.runtimes import UNKNOWN
from predictor.graph.model import LEADING_BATCH, NAMED_BATCH, Model
from predictor.presentation.report import (
    Block,
    Cell,
    Commands,
    Facts,
    Paragraph,
    Section,
    SectionId,
)
from predictor.presentation.wording import shown
from predictor.services.prediction.targets import resolve_targets
from predictor.services.report.request import ReportedModel, ReportRequest, RequestedSettings
from predictor.services.report.words import Field, table_of, words

PROGRAM = f"CloserToMe {__version__}"
_PACKAGES = ("numpy", "onnx", "onnxruntime", "PySide6-Essentials")
_MODELS: tuple[Field[ReportedModel], ...] = (
    words("model", "Model", lambda model: shown(model.label)),
    words("fingerprint", "Fingerprint (SHA-256)", lambda model: model.model.graph.fingerprint),
)


def versions_section(request: ReportRequest) -> Section:
    """Return versions, fingerprints and the commands."""
    blocks: list[Block] = [Facts(tuple(_facts(request))), table_of(_MODELS, _readings(request))]
    if request.commands:
        blocks += [Paragraph("The same again, in a shell:"), Commands(request.commands)]
    return Section(SectionId.VERSIONS, "Versions and how to repeat this", tuple(blocks))


def _readings(request: ReportRequest) -> Iterator[ReportedModel]:
    """Yield each model, also as it was read at further batches: these have graphs of their own."""
    for model in request.models:
        yield model
        for batch, read in sorted(model.batches.items()):
            yield ReportedModel(f"{model.label}, batch {batch}", read)


def command_line(
    models: Sequence[str],
    devices: Sequence[str],
    requested: RequestedSettings,
    *,
    budget_ms: float | None = None,
    dimensions: Sequence[tuple[str, int]] = (),
    shapes: Sequence[tuple[str, Sequence[int]]] = (),
    further: Sequence[tuple[str, str]] = (),
    output: str = "report.pdf",
) -> str:
    """Return a ``ctm report`` line for a POSIX shell.

    Args:
        models: paths or names of the files.
        devices: ids, or paths of device files.
        requested: the what-ifs.
        budget_ms: the budget.
        dimensions: open dimensions that were set.
        shapes: inputs whose shape was set.
        further: other options with their values.
        output: the file to write.
    """
    options = [("--device", device) for device in devices]
    options += [("--dim", f"{name}={value}") for name, value in dimensions]
    options += [("--shape", f"{name}={','.join(map(str, dims))}") for name, dims in shapes]
    single = {
        "--batch": requested.batch,
        "--runtime": requested.runtime,
        "--precision": requested.precision,
        "--threads": requested.threads,
        "--budget-ms": None if budget_ms is None else f"{budget_ms:g}",
    }
    options += [(name, str(value)) for name, value in single.items() if value is not None]
    options += further
    words_of_line = ["ctm", "report", *models, *(word for pair in options for word in pair)]
    return shlex.join([*map(shown, words_of_line), "-o", output])


def command_lines(
    models: Sequence[Model],
    targets: Sequence[Target],
    requested: RequestedSettings,
    budget_ms: float | None,
) -> tuple[str, ...]:
    """Return lines that make the report again: one for all targets that one set of options fits.

    Targets whose configuration is neither the usual nor the requested one share a line
    with those of the same configuration.
    """
    usual = resolve_targets(
        [target.device for target in targets],
        requested.runtime,
        requested.precision,
        requested.threads,
    )
    groups: dict[RequestedSettings, list[str]] = {}
    for target, common in zip(targets, usual, strict=True):
        options = (
            requested
            if target.configuration == common.configuration
            else _of_target(target, requested)
        )
        groups.setdefault(options, []).append(target.device.id)
    names = [os.path.basename(model.path.replace("\\", "/")) for model in models]  # noqa: PTH119
    return tuple(
        command_line(
            names,
            devices,
            options,
            budget_ms=budget_ms,
            dimensions=_set_dimensions(models, with_batch=options.batch is None),
        )
        for options, devices in groups.items()
    )


def _of_target(target: Target, requested: RequestedSettings) -> RequestedSettings:
    configuration = target.configuration
    runtime = None if configuration.runtime == UNKNOWN else configuration.runtime
    return RequestedSettings(
        runtime,
        configuration.precision,
        configuration.threads,
        configuration.batch or requested.batch,
    )


def _set_dimensions(models: Sequence[Model], *, with_batch: bool) -> tuple[tuple[str, int], ...]:
    """Return the open dimensions that the user has set, but for those that a set batch sets."""
    left_out = () if with_batch else (NAMED_BATCH, LEADING_BATCH)
    dimensions = (dimension for model in models for dimension in model.dynamic)
    changed = (d for d in dimensions if d.value != d.default and d.reason not in left_out)
    return tuple(dict.fromkeys((d.name, d.value) for d in changed))


def _facts(request: ReportRequest) -> Iterator[tuple[str, Cell]]:
    yield "Made", Cell(request.created.isoformat(sep=" ", timespec="seconds"))
    yield "Program", Cell(PROGRAM)
    engines = sorted({p.engine for p in request.predictions if p.engine})
    yield "Engine", Cell(shown(", ".join(engines)))
    yield "Python", Cell(platform.python_version())
    yield "System", Cell(f"{platform.system()} {platform.release()} {platform.machine()}")
    yield "Libraries", Cell(", ".join(_libraries()))


def _libraries() -> Iterator[str]:
    for package in _PACKAGES:
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:
            yield f"{package} unknown"
