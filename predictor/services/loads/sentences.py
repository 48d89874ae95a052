"""What a box does with a load, in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator

from predictor.core.text import plural, printable
from predictor.core.units import format_bytes
from predictor.devices.operating import DOMAINS
from predictor.presentation.wording import number
from predictor.services.loads.answers import (
    MAX_COPIES,
    Advice,
    Answer,
    Candidate,
    StageAnswer,
    StreamAnswer,
)
from predictor.services.loads.choice import BoxChoice
from predictor.services.loads.costs import Fallback, runs_at_once
from predictor.services.loads.prices import LoadCost
from predictor.services.loads.records import Load
from predictor.services.serving.records import Between
from predictor.services.serving.sentences import percent


def headline(answer: Answer) -> str:
    """Return whether the load holds, and how large it may be."""
    wanted, chance = percent(answer.load.chance), percent(answer.chance)
    words = f"holds with a chance of {chance}"
    if not answer.holds:
        words = f"does not hold with {wanted}: the chance of its deadlines is {chance}"
        words += "" if answer.fits else ", and its models do not fit the memory"
        words += "" if answer.within_watts else ", and it takes more than the watts"
    factor = answer.largest_factor
    largest = (
        f"up to {number(factor)} times its rates hold" if factor else "no part of its rates does"
    )
    return f"{answer.box.name}: the load {words}; {largest} with {wanted}."


def choice_sentence(load: Load, choice: BoxChoice) -> str:
    """Return which box carries a load with the fewest joules, else with the fewest watts."""
    boxes = plural(choice.considered, "box in its mode", "boxes in their modes")
    sentence = f"{choice.passing} of {boxes} pass the bounds of the load."
    if not choice.holding:
        return f"{sentence} None carries it with {percent(load.chance)}."
    first = choice.candidates[0]
    mode = f" at {first.box.mode}" if first.box.mode else ""
    carries, watts = f"{sentence} {first.box.name}{mode} carries it", number(first.run_watts)
    if first.run_watts is not None and first.of_board:
        return f"{carries} with the fewest joules: its runs draw {watts} W on average."
    stated = "" if first.watts is None else f" with the fewest stated watts, {number(first.watts)}"
    if first.run_watts is None:
        return f"{carries}{stated}; what its runs take is not known."
    return (
        f"{carries}{stated}; its card draws {watts} W on average, what its host takes is not known."
    )


def sentences(answer: Answer) -> Iterator[str]:
    """Yield what stands behind the figures."""
    for stream in answer.streams:
        yield _largest_count(answer, stream)
    yield _binding(answer)
    yield from _generated(answer)
    yield from _at_once(answer)
    for change in answer.advice:
        yield _advice(change, answer.binding)
    yield from _resources(answer)
    yield from _settings(answer)
    yield from _doubts(answer)


def _largest_count(answer: Answer, stream: StreamAnswer) -> str:
    name, count = stream.stream.name, stream.largest_count
    chance = percent(answer.load.chance)
    if not count:
        return f"It holds no stream of {name} with {chance}."
    more = " or more" if count == MAX_COPIES * stream.stream.count else ""
    streams = plural(count, "stream")
    return f"It holds {streams} of {name}{more} with {chance}, the others as stated."


def _binding(answer: Answer) -> str:
    stage = answer.binding
    return (
        f"{stage.stage.name} binds: it takes {percent(stage.share)} of {stage.unit}, "
        f"{number(stage.cost.prediction.latency_ms)} ms a run by itself."
    )


def _generated(answer: Answer) -> Iterator[str]:
    """Yield what a run of each language model is made of."""
    for stream in answer.streams:
        for stage in stream.stages:
            run = stage.cost.generation
            if run is None or run.first_token is None or run.decode_tokens_per_s is None:
                continue
            tokens = plural(run.request.new, "token")
            yield (
                f"{stage.stage.name} generates {tokens} after {run.request.prompt:,}: "
                f"{number(run.first_token.median)} ms to the first, then "
                f"{number(run.decode_tokens_per_s)} a second ({run.weights}, "
                f"{format_bytes(run.memory.total)} of weights, cache and buffers)."
            )


def _at_once(answer: Answer) -> Iterator[str]:
    for stream in answer.streams:
        for stage in stream.stages:
            unit = answer.box.units[stage.unit]
            at_once = runs_at_once(stage.stage, unit)
            if at_once > unit.count:
                threads = plural(stage.stage.threads or 1, "thread")
                yield (
                    f"{stage.stage.name} runs on {threads}, so that {unit.name} makes up to "
                    f"{at_once} runs at once."
                )


def _advice(change: Advice, binding: StageAnswer) -> str:
    after = f"{number(change.before_ms)} to {number(change.after_ms)} ms an item"
    busy = f"{binding.unit} is busy {percent(change.utilisation)} then"
    if change.busiest > change.utilisation:
        busy += f", the busiest unit {percent(change.busiest)}"
    doubt = ", few chips of its kind were checked" if change.few_chips else ""
    return f"What would help: {change.words}, {after}{doubt}; {busy}."


def _resources(answer: Answer) -> Iterator[str]:
    for memory in answer.memory:
        where = "Shared memory" if memory.where == "shared" else f"Memory of {memory.where}"
        room = "" if memory.of_bytes is None else f" of {format_bytes(memory.of_bytes)}"
        yield f"{where}: {format_bytes(memory.bytes)}{room}, without what runtimes take."
    for stream in answer.streams:
        if stream.joules is not None:
            yield f"{stream.stream.name}: {_interval(stream.joules)} J an item, of its runs alone."
    yield from dict.fromkeys(
        f"Joules of {stage.unit} are {stage.cost.power}."
        for stream in answer.streams
        for stage in stream.stages
        if stream.joules is not None and stage.cost.power
    )
    if answer.watts is not None:
        budget = answer.budget_w
        of = "" if budget is None else f" of {number(budget)} W"
        yield f"Runs draw {_interval(answer.watts)} W on average{of}; idle time is not counted."
    if answer.cost is not None:
        yield _cost(answer.cost)


def _cost(cost: LoadCost) -> str:
    parts = " and ".join(filter(None, [", ".join(cost.parts[:-1]), cost.parts[-1]]))
    return (
        f"It costs {_interval(cost.per_hour)} an hour, {_interval(cost.per_million)} a million "
        f"items: {parts}."
    )


def _interval(value: Between) -> str:
    if value.low == value.high:
        return number(value.median)
    return f"{number(value.median)} ({number(value.low)} – {number(value.high)})"


def _settings(answer: Answer) -> Iterator[str]:
    settings = answer.settings
    if settings is None:
        return
    chance = percent(settings.chance)
    best = settings.thriftiest
    holding = [mode for mode in settings.modes if mode.chance >= settings.chance]
    if len(settings.modes) > 1 and best is not None:
        unknown = [mode_name(mode) for mode in holding if mode.run_watts is None]
        yield (
            f"Of its modes that hold with {chance}, {mode_name(best)} takes the fewest joules: "
            f"{number(best.joules_per_hour)} J an hour by its runs"
            f"{', of the whole board' if best.of_board else ', without their host'}"
            f"{_of_stated(answer, best)}; idle time is not counted."
        )
        if unknown:
            yield f"What the runs take at {', '.join(unknown)} is not known."
    elif len(settings.modes) > 1 and holding:
        yield f"What the runs take is not known in the modes that hold with {chance}."
    for clock in settings.clocks:
        or_lower = " or lower" if clock.is_lowest else ""
        yield (
            f"At {DOMAINS[clock.domain]} {number(clock.mhz, 5)} MHz{or_lower}, of "
            f"{number(clock.usual_mhz, 5)}, it still holds with {chance}, all other clocks usual; "
            "what it takes there is not known."
        )


def _of_stated(answer: Answer, best: Candidate) -> str:
    """Return what a mode takes over what the load takes as stated, in words."""
    if answer.watts is None or best.run_watts is None or answer.box.mode == best.box.mode:
        return ""
    return f", {number(best.run_watts / answer.watts.median)} times those as stated"


def mode_name(candidate: Candidate) -> str:
    """Return the name of the mode of a box."""
    return candidate.box.mode or "the usual clocks"


def _doubts(answer: Answer) -> Iterator[str]:
    for stream in answer.streams:
        for stage in stream.stages:
            prediction = stage.cost.prediction
            if stage.cost.needs_quantising:
                yield f"{stage.stage.name} runs in INT8: its model is to be quantised first."
            if prediction.few_chips:
                yield f"{stage.stage.name}: few chips of the kind of {stage.unit} were checked."
            if prediction.is_lower_limit:
                yield f"{stage.stage.name}: operators of unknown cost are missing from its latency."
            if stage.cost.fallback is not None:
                yield _fallback(stage, stage.cost.fallback)
            elif prediction.unsupported is not None:
                types = ", ".join(prediction.unsupported.types[:3])
                yield (
                    f"{stage.stage.name}: {stage.unit} does not run {types}: "
                    f"{prediction.unsupported.consequence}."
                )


def _fallback(stage: StageAnswer, fallback: Fallback) -> str:
    types = ", ".join(map(printable, fallback.types[:3]))
    more = len(fallback.types) - 3
    types += f" and {more} more" if more > 0 else ""
    return (
        f"{stage.stage.name}: {stage.unit} leaves {plural(fallback.operators, 'operator')} "
        f"({types}) to {fallback.unit}: {number(stage.cost.processor_ms)} ms a run there and "
        f"{number(fallback.transfer_ms)} ms for {plural(fallback.transfers, 'tensor')} between "
        f"them, {format_bytes(fallback.transfer_bytes)}."
    )


def interval(value: Between) -> str:
    """Write the ends of an interval; an end without a limit as ∞."""
    high = "∞" if math.isinf(value.high) else number(value.high)
    return f"{number(value.low)} – {high}"
