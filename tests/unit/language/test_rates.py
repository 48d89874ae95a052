from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.language.deviations import Deviations, Observed, Origin, Scales, evidence_text
from predictor.language.passes import decode_pass, prefill_passes
from predictor.language.rates import (
    OVERLAP,
    Group,
    Part,
    attention_share,
    bound,
    decode_parts,
    group_of,
    pipeline_share,
    prefill_parts,
)
from predictor.language.rates_file import shipped_rates
from predictor.language.weights import weight_format
from tests.support.decoder_architectures import EXPERTS, HEAD, LAYER, MACHINE, SIMPLE, TINY

F16 = weight_format("fp16")
BACKENDS = sorted(shipped_rates())
RATES = ("bandwidth", "vector", "matrix", "clock", "block_rate")
MODELS = st.sampled_from((TINY, EXPERTS))
FORMS = st.sampled_from(("fp16", "q8_0", "q4_0", "q4_k_m"))


def seconds(parts):
    return float(sum(part.sum() for part in parts.values()))


def test_a_token_is_its_bytes_over_the_bandwidth():
    work = decode_pass(TINY, F16, 16, past=0)
    parts = decode_parts(work, MACHINE, SIMPLE, Group.HALF)
    assert parts[Part.WEIGHTS][0] == pytest.approx(2 * (2 * LAYER + HEAD) / 1e9)
    assert parts[Part.CACHE][0] == pytest.approx(2 * 128 * 2 * 2 / 1e9)
    assert parts[Part.UNPACK][0] == parts[Part.STEP][0] == 0


def test_steps_are_hidden_in_part_behind_the_work():
    c = dataclasses.replace(SIMPLE, unpack=dict.fromkeys(Group, 3.0), step=1e-3)
    parts = decode_parts(decode_pass(TINY, F16, 16, 0), MACHINE, c, Group.HALF)
    alone = decode_parts(
        decode_pass(TINY, F16, 16, 0), MACHINE, dataclasses.replace(c, step=0.0), Group.HALF
    )
    assert alone[Part.UNPACK][0] == pytest.approx(3 * (2 * LAYER + HEAD) / 1e10)
    work, step = seconds(alone), 1e-3 * 2 / 2
    assert seconds(parts) == pytest.approx((work**OVERLAP + step**OVERLAP) ** (1 / OVERLAP))
    assert max(work, step) < seconds(parts) < work + step


def test_query_heads_and_reading_the_cache_overlap_as_the_root_of_squares():
    # 100 tokens, 2 layers, 4 query heads of 64 that share 2 of keys and values.
    work = decode_pass(TINY, F16, 16, past=99)
    c = dataclasses.replace(SIMPLE, cache=1.5, head_bytes=2.0, head_flops=4.0, head_step=0.5)
    parts = decode_parts(work, MACHINE, c, Group.HALF)
    read = 1.5 * 2 * 100 * 128 * 2 * 2 / 1e9
    heads = 2 * 2 * 100 * 256 * 2 * 2 / 1e9 + 4 * 204_800 / 1e10 + 0.5 * 800 / 2e9
    attended = math.hypot(read, heads)
    assert parts[Part.CACHE][0] == pytest.approx(read**2 / attended)
    assert parts[Part.ATTENTION][0] == pytest.approx(heads**2 / attended)
    assert attention_share(parts) == pytest.approx(attended / seconds(parts))
    fused = decode_pass(TINY, F16, 16, past=99, fused=True)
    parts = decode_parts(fused, MACHINE, c, Group.HALF)
    assert (parts[Part.CACHE][0], parts[Part.ATTENTION][0]) == (pytest.approx(read), 0)


def test_query_heads_share_a_read_up_to_a_number_of_them():
    c = dataclasses.replace(SIMPLE, head_bytes=2.0, head_limit=8.0)
    for batch, reads in ((2, False), (3, True)):
        work = decode_pass(TINY, F16, 16, past=99, batch=batch)
        assert bool(decode_parts(work, MACHINE, c, Group.HALF)[Part.ATTENTION][0]) is reads
    two = dataclasses.replace(MACHINE, dies=2.0)
    assert decode_parts(work, two, c, Group.HALF)[Part.ATTENTION][0] == 0


def test_an_operation_of_another_sequence_takes_its_time_whatever_the_matrix_rate():
    c = dataclasses.replace(SIMPLE, row=0.0, flop=1e-12)
    work = decode_pass(TINY, F16, 16, past=0, batch=4)
    fast = dataclasses.replace(MACHINE, matrix=1e15)
    for machine in (MACHINE, fast):
        parts = decode_parts(work, machine, c, Group.HALF)
        assert parts[Part.UNPACK][0] == pytest.approx(3e-12 * work.flops[0])


def test_passes_of_a_prompt_follow_each_other_through_a_pipeline():
    # One pass: it is on one card at a time. Two passes on two cards: three times of half a pass.
    assert pipeline_share(4, 1, 1, 1.0) == 1
    assert pipeline_share(2, 1, 2, 1.0) == pytest.approx(3 / 4)
    assert pipeline_share(2, 1, 2, 0.0) == 1
    assert pipeline_share(4, 1, 1000, 1.0) == pytest.approx(1 / 4, abs=1e-3)
    # Groups of sequences: of two on two cards each has two passes.
    assert pipeline_share(2, 2, 1, 1.0) == pytest.approx(3 / 2)
    assert pipeline_share(2, 2, 1, 0.0) == 2


def test_scores_of_a_prompt_pass_through_memory_unless_attention_is_fused():
    c = dataclasses.replace(SIMPLE, attention=3.0, score_bytes=20.0)
    scores, flops = 4 * 64 * 65 / 2 * 2, 4 * 4 * 64 * 64 * 65 / 2 * 2
    parts = prefill_parts(prefill_passes(TINY, F16, 16, 64), MACHINE, c, Group.HALF)
    assert parts[Part.ATTENTION][0] == pytest.approx(3 * flops / 1e11 + 20 * scores / 1e9)
    parts = prefill_parts(prefill_passes(TINY, F16, 16, 64, fused=True), MACHINE, c, Group.HALF)
    assert parts[Part.ATTENTION][0] == pytest.approx(3 * flops / 1e11)


def test_the_threads_of_a_processor_wait_for_another_at_layers():
    c = dataclasses.replace(SIMPLE, step=1e-3, prompt_step=1e-3, bandwidth=0.0, cache=0.0)
    many = dataclasses.replace(MACHINE, threads=64.0)
    parts = decode_parts(decode_pass(TINY, F16, 16, 0), many, c, Group.HALF)
    assert seconds(parts) == pytest.approx(1e-3 * 2 * 64 / 2)
    prompt = prefill_parts(prefill_passes(TINY, F16, 16, 64), many, c, Group.HALF)
    assert prompt[Part.STEP][0] == pytest.approx(1e-3 * 2 * 64 / 2)


def test_further_sequences_cost_a_product_where_that_is_cheaper():
    c = dataclasses.replace(SIMPLE, unpack=dict.fromkeys(Group, 3.0))
    four = decode_parts(decode_pass(TINY, F16, 16, 0, batch=4), MACHINE, c, Group.HALF)
    weights = 2 * LAYER + HEAD
    assert four[Part.UNPACK][0] == pytest.approx(3 * weights / 1e10 + 3 * 2 * weights / 1e11)


def test_reading_and_multiplying_a_prompt_overlap_as_the_root_of_squares():
    work = prefill_passes(TINY, F16, 16, tokens=64)
    parts = prefill_parts(work, MACHINE, SIMPLE, Group.HALF)
    read = (work.weight_bytes[0] + work.kv_bytes[0]) / 1e9
    product = work.flops[0] / 1e11
    assert seconds(parts) == pytest.approx(math.hypot(read, product))


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(
    st.sampled_from(BACKENDS), MODELS, FORMS, st.sampled_from(RATES),
    st.floats(1.0, 50.0), st.tuples(st.integers(1, 1500), st.integers(1, 8)),
    st.tuples(st.floats(-3, 3), st.floats(-3, 3)),
)  # fmt: skip
def test_a_rate_that_grows_never_slows_and_never_gains_more_than_its_factor(
    backend, model, name, rate, factor, run, balance
):
    (tokens, batch), (matrix, vector) = run, balance
    c = shipped_rates()[backend].coefficients
    form = weight_format(name)
    machine = dataclasses.replace(
        MACHINE, matrix=MACHINE.matrix * 10**matrix, vector=MACHINE.vector * 10**vector
    )
    faster = dataclasses.replace(machine, **{rate: getattr(machine, rate) * factor})
    for parts, work in (
        (decode_parts, decode_pass(model, form, 16, tokens, batch)),
        (prefill_parts, prefill_passes(model, form, 16, tokens, batch)),
    ):
        before = seconds(parts(work, machine, c, group_of(form)))
        after = seconds(parts(work, faster, c, group_of(form)))
        assert after <= before * (1 + 1e-9)
        assert after * factor >= before * (1 - 1e-9)


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from(BACKENDS), MODELS, FORMS, st.integers(1, 2000), st.integers(1, 300),
    st.integers(1, 6),
)  # fmt: skip
def test_more_tokens_and_more_sequences_are_never_faster(backend, model, name, n, more, batch):
    c = shipped_rates()[backend].coefficients
    form = weight_format(name)
    group = group_of(form)

    def prompt(tokens, sequences):
        work = prefill_passes(model, form, 16, tokens, sequences)
        return seconds(prefill_parts(work, MACHINE, c, group))

    def token(depth, sequences):
        work = decode_pass(model, form, 16, depth, sequences)
        return seconds(decode_parts(work, MACHINE, c, group))

    for time in (prompt, token):
        assert time(n + more, batch) >= time(n, batch) * (1 - 1e-9)
        assert time(n, batch + 1) >= time(n, batch) * (1 - 1e-9)


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from(BACKENDS), MODELS, FORMS, st.booleans(), st.integers(0, 3000),
    st.integers(1, 3000), st.tuples(st.floats(-3, 3), st.floats(-3, 3)),
)  # fmt: skip
def test_a_longer_context_costs_no_more_than_its_work(
    backend, model, name, fused, past, more, balance
):
    c, form = shipped_rates()[backend].coefficients, weight_format(name)
    vector, block_rate = balance
    machine = dataclasses.replace(
        MACHINE, vector=1e10 * 10**vector, block_rate=2.0 * 10**block_rate
    )
    near, far = (decode_pass(model, form, 16, n, fused=fused) for n in (past, past + more))
    before, after = (seconds(decode_parts(p, machine, c, group_of(form))) for p in (near, far))
    shared, all_heads, scores = (
        float(b[0] - a[0])
        for a, b in (
            (near.kv_bytes, far.kv_bytes),
            (near.attention_flops, far.attention_flops),
            (near.scores, far.scores),
        )
    )
    # Three times the time of bytes, an eighth of the vector rate, two thread blocks a score.
    heads = 3 * all_heads / 1e9 + 8 * all_heads / machine.vector
    heads += 2 * scores / (1e9 * machine.block_rate)
    limit = 3 * shared / 1e9 + (0.0 if fused else heads)
    assert after - before <= limit * (1 + 1e-6) + 1e-9 * before


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(BACKENDS), MODELS, FORMS, st.integers(64, 2000), st.integers(2, 5))
def test_a_longer_prompt_costs_no_more_than_its_square(backend, model, name, tokens, times):
    c, form = shipped_rates()[backend].coefficients, weight_format(name)
    short, long = (
        seconds(prefill_parts(prefill_passes(model, form, 16, n), MACHINE, c, group_of(form)))
        for n in (tokens, times * tokens)
    )
    assert short <= long <= times**2 * short * (1 + 1e-9)


def test_the_bound_is_the_bytes_or_the_products():
    work = decode_pass(TINY, F16, 16, past=0)
    assert bound(work, MACHINE)[0] == pytest.approx(
        (work.weight_bytes[0] + work.kv_bytes[0]) / MACHINE.stated_bandwidth
    )
    slow = dataclasses.replace(MACHINE, peak=1e3)
    flops = work.flops[0] + work.attention_flops[0]
    assert bound(work, slow)[0] == pytest.approx(flops / 1e3)


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("fp16", Group.HALF),
        ("bf16", Group.HALF),
        ("fp8", Group.HALF),
        ("q8_0", Group.BYTE),
        ("int8", Group.BYTE),
        ("q4_0", Group.BLOCKS),
        ("int4-128", Group.BLOCKS),
        ("q4f16", Group.BLOCKS),
        ("q4_k_m", Group.SUPER_BLOCKS),
        ("q6_k", Group.SUPER_BLOCKS),
        ("mxfp4", Group.BLOCKS),
    ],
)
def test_formats_that_are_unpacked_alike_are_one_group(name, group):
    assert group_of(weight_format(name)) is group


SCALES = Scales(architecture=0.1, silicon=0.2, format=0.1, noise=0.05)


def seen(device, silicon, architecture, deviation, group=Group.BLOCKS, **more):
    return Observed(
        device=device,
        silicon=silicon,
        architecture=architecture,
        group=group,
        deviation=deviation,
        **more,
    )


def test_one_measurement_moves_its_device_by_the_shrunken_deviation():
    deviations = Deviations(SCALES, (seen("a", "die", "arch", 0.3),))
    mean, spread = deviations.of([seen("a", "die", "arch", math.nan)])
    prior = 0.1**2 + 0.2**2 + 0.1**2
    gain = prior / (prior + 0.05**2)
    assert mean[0] == pytest.approx(0.3 * gain)
    assert spread[0] == pytest.approx(math.sqrt(prior * (1 - gain) + 0.05**2))


def test_what_is_farther_is_moved_less_and_is_less_certain():
    deviations = Deviations(SCALES, (seen("a", "die", "arch", 0.3),))
    targets = [
        seen("a", "die", "arch", math.nan),
        seen("b", "die", "arch", math.nan, Group.HALF),
        seen("c", "other", "arch", math.nan),
        seen("d", "third", "", math.nan),
    ]
    means, spreads = deviations.of(targets)
    assert (np.diff(means) < 0).all()
    assert (np.diff(spreads) > 0).all()
    assert means[3] == 0


def test_devices_without_an_architecture_share_nothing():
    deviations = Deviations(SCALES, (seen("a", "die", "", 0.3),))
    means, _ = deviations.of([seen("b", "other", "", math.nan)])
    assert means[0] == 0


def test_the_users_measurement_is_nearly_what_is_predicted():
    published = Deviations(SCALES, (seen("a", "die", "arch", 0.3),))
    own = published.with_user([seen("a", "die", "arch", -0.2, origin=Origin.MEASURED)])
    target = seen("a", "die", "arch", math.nan)
    (before,), (wide,) = published.of([target])
    (after,), (narrow,) = own.of([target])
    assert before > 0.2
    assert after == pytest.approx(-0.2, abs=0.07)
    assert narrow < wide


def test_a_format_that_few_dies_tell_of_is_less_certain():
    deviations = Deviations(SCALES, (seen("a", "die", "arch", 0.0, Group.HALF),))
    target = seen("b", "other", "", math.nan)
    (_,), (spread,) = deviations.of([target])
    assert spread > math.sqrt(0.1**2 + 0.2**2 + 0.1**2 + 0.05**2)


def test_intervals_widen_with_the_share_of_attention():
    scales = dataclasses.replace(SCALES, attention=0.4)
    target = seen("a", "die", "arch", math.nan)
    for observed in ((), (seen("a", "die", "arch", 0.3),)):
        deviations = Deviations(scales, observed)
        means, (none, half) = deviations.of([target, target], [0.0, 0.5])
        assert means[0] == means[1]
        assert half == pytest.approx(math.hypot(none, 0.4 * 0.5))


def test_evidence_names_the_nearest_measurements():
    target = seen("a", "die", "arch", math.nan)
    rows = [seen("z", "far", "else", 0.1, rates=4)]
    assert evidence_text(target, [], "T") == "physics alone: no published rate of T"
    assert evidence_text(target, rows, "T") == "published rates of T on 1 other device"
    rows.append(seen("c", "other", "arch", 0.1, rates=2))
    assert evidence_text(target, rows, "T") == "2 published rates of T on this architecture"
    rows.append(seen("b", "die", "arch", 0.1))
    assert evidence_text(target, rows, "T") == "1 published rate of T on this chip"
    rows.append(seen("a", "die", "arch", 0.1, Group.HALF))
    assert "on this device with other weights" in evidence_text(target, rows, "T")
    rows.append(seen("a", "die", "arch", 0.1, origin=Origin.PROBED))
    assert evidence_text(target, rows, "T") == "probed by you on this device with such weights"
    rows.append(seen("a", "die", "arch", 0.1, origin=Origin.MEASURED))
    assert evidence_text(target, rows, "T") == "measured by you on this device with such weights"
