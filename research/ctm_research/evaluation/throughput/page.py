"""The page of what several runs at once bring."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ctm_research.evaluation.throughput.check import LEAST_SYSTEMS, MOST_ERROR
from ctm_research.evaluation.throughput.forms import FORMS
from predictor.presentation.markdown import table

_INTRODUCTION: Final = f"""\
A rate is published beside the latency of the same network on the same system: Offline beside
SingleStream in MLPerf's logs (rate of one accelerator), throughput beside latency on OpenVINO's
pages (streams chosen by it), runs of Vitis AI on several threads of the host beside one, and the
best stated batch of PyTorch and TensorFlow beside batch 1. Items in the time of one run, rate times
latency, are the gain; ln of it is a sum of shares, at least 0, fitted by least absolute errors,
each device counting the same:

- *batches*: ln of what the best batch of up to 128 brings by the engine that ships, in memory;
- *cores*: ln of the cores of a processor, of both its sockets where both ran, or of the cores of a
  DPU that run images of their own;
- *bound*: ln of the latency over the bound of an item in a batch of 128;
- *latency*: ln of the latency in ms.

Left out are networks whose inputs differ in length (RNN-T, 3D-UNet; BERT where its padding is cut
away), sparse weights, slices of cards and power modes of unknown clocks.

*Error*: of the rate from the measured latency, median over the pairs with their silicon (a class of
little silicon: their device) left out of the fit, devices counting the same. *By device*: median of
the devices' medians. *Inside*: pairs in the 80 % interval, whose width the others gave. *From the
prediction*: error of the rate from the engine's latency, of which it knows most of these systems.
The form of a class is the one of the least mean error in ln, of those within {MOST_ERROR:.0%} where
there are any."""
_BATCHES: Final = """\
## Batches as predicted

The gain of a stated batch over runs one after the other: MLPerf's queries of 8 samples
(MultiStream), which several cores of an accelerator may share, and stated batches of frameworks.
*Error* of the predicted gain, and *none* of no gain at all, median, devices counting the same.
Nothing is fitted here."""
_SERVER: Final = """\
## Batches under a deadline

MLPerf's Server beside Offline of the same system and network: queries come as a Poisson process and
99 % of them end within 15 ms (ResNet-50) or 100 ms (RetinaNet). *Share*: the published one in the
other, median. *Predicted*: by the simulation of `ctm load`, which takes what waits as a batch up to
the size that serves the deadline best; the time of batches is as predicted but for one factor, so
that the best one makes the rate of Offline. *Error* of the predicted share and *none* of a share of
1, median. Nothing is fitted: what is judged is the queue."""
_LOADS: Final = """\
## Batches of loads

How far batches are off as the engine predicts them, and by the rule of their class: the share of ln
of what the batch brings as predicted, and of the rest 1 - 1 / size. The rule is fitted without the
silicon of each pair (its device where it is judged so). Of MultiStream it is the gain of 8, of
Server the rate from the predicted latency, within the deadline. *Over*: predicted over published,
median; *ln*: mean error in ln; devices count the same. `ctm load` takes the rule where the mean
over the judges is a tenth less by it, on at least four devices."""
_TURNS: Final = """\
## Runs of one thread side by side

A speech recogniser (Paraformer under ONNX Runtime, FunASR's C++ program) over its concurrent tasks
of one thread each: the rate over that of one task, as a share of what is expected, the tasks, at
most as many as cores. Nothing is fitted; `ctm load` takes it as 1."""
_LIMITS: Final = """\
Rates of MLPerf are those of tuned servers, for a minute to ten, with all inputs at hand: streams
of cameras do not fill batches by themselves. Offline runs of phones may take more units than the
NPU."""


def throughput_page(figures: Mapping[str, Any], origin: str) -> str:
    """Return the figures as a Markdown page.

    Args:
        figures: of the check.
        origin: sentence on the command that made them.
    """
    parts = ["# Several runs at once", origin, _INTRODUCTION, "## What ships", _shipped(figures)]
    parts += [_too_few(figures), "## All forms", _forms(figures)]
    parts += [_BATCHES, _batches(figures), _SERVER, _server(figures), _LOADS, _loads(figures)]
    parts += [_TURNS, _turns(figures), _LIMITS]
    return "\n\n".join(parts) + "\n"


def _shipped(figures: Mapping[str, Any]) -> str:
    rows = []
    for entry in figures["classes"]:
        best = entry["forms"][entry["best"]]
        ships = "yes" if best["error"] <= MOST_ERROR else f"no: over {MOST_ERROR:.0%}"
        left_out = f"{entry['systems']} {entry['left_out']}"
        sources, formula = ", ".join(entry["sources"]), _formula(best["shares"])
        facts = (entry["runtime"], entry["kind"], sources, entry["devices"], left_out)
        rows.append((*facts, best["pairs"], formula, *_errors(best), ships))
    header = ("runtime", "kind", "source", "devices", "left out", "pairs", "ln of the gain",
              "error %", "by device %", "inside %", "from the prediction %", "ships")  # fmt: skip
    return table(header, rows)


def _formula(shares: Mapping[str, float]) -> str:
    terms = [
        f"{share:.3f}" if name == "start" else f"{share:.3f} ln({name})"
        for name, share in shares.items()
    ]
    return " + ".join(terms).replace("+ -", "- ")


def _errors(form: Mapping[str, Any]) -> tuple[float | None, ...]:
    values = (form["error"], form["by_device"], form["inside"], form["from_prediction"])
    return tuple(None if value is None else 100 * value for value in values)


def _too_few(figures: Mapping[str, Any]) -> str:
    names = ", ".join(
        f"{entry['runtime']} on {entry['kind']} ({entry['devices']})"
        for entry in figures["too_few"]
    )
    return f"Nothing is said of classes of fewer than {LEAST_SYSTEMS} devices: {names or 'none'}."


def _forms(figures: Mapping[str, Any]) -> str:
    """Return the errors of all forms by class, in percent, and what is inside."""
    header = ("runtime", "kind", *(f"{form} %" for form in FORMS))
    rows = [
        (entry["runtime"], entry["kind"], *(_form(entry["forms"].get(form)) for form in FORMS))
        for entry in figures["classes"]
    ]
    return table(header, rows)


def _form(form: Mapping[str, Any] | None) -> str | None:
    return None if form is None else f"{100 * form['error']:.1f} ({100 * form['inside']:.0f})"


def _turns(figures: Mapping[str, Any]) -> str:
    header = ("processor", "cores", "tasks", "rows", "lowest %", "median %", "highest %")
    rows = [
        (entry["device"], entry["cores"], entry["tasks"], entry["rows"],
         *(100 * entry[name] for name in ("low", "median", "high")))
        for entry in figures["turns"]
    ]  # fmt: skip
    return table(header, rows)


def _batches(figures: Mapping[str, Any]) -> str:
    header = ("source", "runtime", "kind", "devices", "pairs", "gain", "error %", "none %")
    rows = [
        (entry["source"], entry["runtime"], entry["kind"], entry["devices"], entry["pairs"],
         f"{entry['gain']:.2f}", 100 * entry["error"], 100 * entry["none_error"])
        for entry in figures["batches"]
    ]  # fmt: skip
    return table(header, rows)


def _server(figures: Mapping[str, Any]) -> str:
    header = ("runtime", "kind", "network", "devices", "systems", "share %", "predicted %",
              "error %", "none %")  # fmt: skip
    names = ("share", "predicted", "error", "none_error")
    rows = [
        (entry["runtime"], entry["kind"], entry["network"], entry["devices"], entry["systems"],
         *(100 * entry[name] for name in names))
        for entry in figures["server"]
    ]  # fmt: skip
    return table(header, rows)


def _loads(figures: Mapping[str, Any]) -> str:
    header = ("runtime", "kind", "judge", "devices", "pairs", "engine: over", "error %", "ln",
              "rule: over", "error %", "ln", "loads take")  # fmt: skip
    rows = [
        (entry["runtime"], entry["kind"], judge["judge"], len(judge["devices"]), judge["pairs"],
         *_of_judge(judge["engine"]), *_of_judge(judge["rule"]),
         "the rule" if entry["of_loads"] else "the engine")
        for entry in figures["classes"]
        for judge in entry["judges"]
    ]  # fmt: skip
    return table(header, rows)


def _of_judge(errors: Mapping[str, float]) -> tuple[str, float, str]:
    return f"{errors['over']:.2f}", 100 * errors["error"], f"{errors['mean_log']:.2f}"
