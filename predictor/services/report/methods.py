"""The methods that numbers come from, and their limits."""

from __future__ import annotations

from collections.abc import Iterator

from predictor.core.records import Basis
from predictor.presentation import report
from predictor.services.report.request import ReportRequest

_MEASURED = (
    "Where this very model was measured on this target, by the user or by a published source, the "
    "measured latency is shown, and what the engine alone predicts stands beside it. The intervals "
    "are those of another run like the measured ones."
)
_ANALYTIC = (
    "The roofline engine reads the operators of the model and the facts of the device. It needs no "
    "measurement. For each operator it takes the larger of arithmetic (MACs / rate of the "
    "precision) and traffic (bytes read and written / memory bandwidth), adds the overhead of "
    "starting the operator, and sums over the operators."
)
_LEARNED = (
    "The closertome engine is a network that learned from published measurements how much of its "
    "peaks a device reaches on which operators. It reads the operator graph, the facts of the "
    "device and, where there is one, the target's signature: reference networks that were measured "
    "on it. A Bayesian posterior over the target's own measurements gives the intervals."
)
_ESTIMATED = (
    "Where nothing was measured on a device under the runtime, at this number of threads or one "
    "near it, the number is an estimate instead: for each operator arithmetic, the part of it "
    "that one core or unit does alone, traffic and starts, each as work over a rate, times "
    "efficiencies that were fitted to published measurements of the runtime and the kind of "
    "device, times the deviation of the same chip, cores or device where measured. Its "
    "intervals are as wide as they had to be on hardware that was left out; the remark says how "
    "far off it was there."
)
_SCALED = (
    "Where a number is scaled, the user measured this model on another target. The error of the "
    "prediction there corrects the one here, by as much as errors on such two targets were "
    "correlated on hardware that was left out, and narrows its intervals likewise."
)
_BY_OPERATORS = (
    "Where the part on probing says so, a profile measured how long each operator of the "
    "signature's networks took on the target. A Gaussian process over operators, by their type, "
    "sizes and kind of work, predicts those of other models; a prediction is their sum."
)
_FINE_TUNED = (
    "Where the part on probing says so, the network itself was fine-tuned to a target before that: "
    "FiLM, a scale and a shift of each of its features, was fitted to the signature's networks; "
    "everything else is as it ships."
)
_BOUND = (
    "The bound adds up the arithmetic at the highest rate of any precision that the run may use, "
    "with fast algorithms allowed for, and the traffic that no cache can spare. No run can be "
    "faster. A measurement below it would prove that the bound or a fact of the device is wrong."
)
_LIMITS = (
    (
        "The latency is that of one run of the network itself, after warm-up: loading the model, "
        "preparing the input, copies from and to the host and what an application adds are not "
        "in it."
    ),
    "P50 is the median. Heat, power limits and other programs make single runs slower.",
    (
        "Facts of devices are as their sources state them; no fact is assumed. One that is missing "
        "leaves out what needs it."
    ),
    (
        "FPS is batch / latency, one run after the other. A latency and a budget are of one run: "
        "every input of a batch waits for the whole."
    ),
    (
        "Operators that are unknown or lie in a loop of unknown length are counted as far as the "
        "file states them."
    ),
)
_LIMITS_OF_PEAKS = (
    (
        "Peaks are taken as reached: how well a runtime's kernels use the hardware is not in the "
        "number. Real runs are usually slower, often by a factor of 1 to 4, on some runtimes by "
        "more."
    ),
    (
        "Between two operators the result is taken to go through memory. A compiler that keeps it "
        "on the chip can be faster than the estimate, never than the bound."
    ),
)


def methods_section(request: ReportRequest) -> report.Section:
    """Return the methods of the engines and bases that occur, and the limits."""
    bases = {prediction.basis for prediction in request.predictions}
    engines = " ".join(prediction.engine for prediction in request.predictions)
    adaptations = {prediction.adaptation for prediction in request.predictions}
    is_scaled = any(prediction.scaled_from for prediction in request.predictions)
    blocks = tuple(_blocks(bases, engines, adaptations, is_scaled=is_scaled))
    return report.Section(report.SectionId.METHODS, "Methods and limits", blocks)


def _blocks(
    bases: set[Basis | None], engines: str, adaptations: set[str | None], *, is_scaled: bool
) -> Iterator[report.Block]:
    if Basis.MEASURED in bases:
        yield report.Heading("Measured latencies")
        yield report.Paragraph(_MEASURED)
    if "closertome" in engines:
        yield report.Heading("The learned estimate")
        yield report.Paragraph(_LEARNED)
        if Basis.ZERO_SHOT in bases:
            yield report.Paragraph(_ESTIMATED)
        if is_scaled:
            yield report.Paragraph(_SCALED)
        if "operators" in adaptations:
            yield report.Paragraph(_BY_OPERATORS)
        if "film" in adaptations:
            yield report.Paragraph(_FINE_TUNED)
    if "roofline" in engines:
        yield report.Heading("The analytic estimate")
        yield report.Paragraph(_ANALYTIC)
    yield report.Heading("The bound")
    yield report.Paragraph(_BOUND)
    yield report.Heading("Limits")
    limits = _LIMITS + (_LIMITS_OF_PEAKS if "roofline" in engines else ())
    yield report.Bullets(tuple(map(report.Cell, limits)))
