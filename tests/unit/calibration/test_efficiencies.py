"""Factors on the terms of the physics, as sums of effects of the groups of a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from predictor.calibration.efficiencies import GROUPS, LEVELS, Efficiencies, groups_of
from predictor.core.metrics import Family
from predictor.core.records import Cluster, Configuration, Device, Precision, Target
from predictor.cost.operator_kinds import KINDS
from predictor.cost.physics import TERMS
from predictor.cost.rates.typical import TypicalRates

WIDTH = len(KINDS) * len(TERMS)
BIG, SMALL = (
    Cluster(name="Big", cores=2, clock_mhz=2000.0, fp32_au_per_core=8.0, architecture="cortex-a76"),
    Cluster(name="S", cores=4, clock_mhz=1800.0, fp32_au_per_core=4.0, architecture="cortex-a55"),
)


def target(
    family: Family = Family.MOBILE_CPU,
    runtime: str = "ncnn",
    precision: Precision = Precision.FP32,
    architecture: str = "",
    clusters: tuple[Cluster, ...] = (),
    vendor: str = "",
) -> Target:
    device = Device(
        id="d",
        name="D",
        vendor=vendor,
        family=family,
        metrics={},
        clusters=clusters,
        architecture=architecture,
    )
    return Target(device, Configuration(runtime, precision))


def test_a_processor_with_clusters_is_of_the_order_of_its_fastest() -> None:
    assert groups_of(target(clusters=(BIG, SMALL))) == {
        "all": "all",
        "kind": "arm",
        "runtime": "ncnn",
        "class": "arm x ncnn",
        "precision": "arm x ncnn x fp32",
        "order": "arm out of order",
        "maker": "",
        "sets": "",
    }
    assert groups_of(target(clusters=(SMALL, BIG)))["order"] == "arm in order"
    assert groups_of(target(clusters=(SMALL,), architecture="cortex-a76"))["order"] == (
        "arm out of order"
    )


def test_a_gpu_has_no_order() -> None:
    one = target(Family.GPU, "pytorch", Precision.AMP_FP16, "ampere-ga10x", vendor="NVIDIA")

    assert groups_of(one) == {
        "all": "all",
        "kind": "nvidia",
        "runtime": "pytorch",
        "class": "nvidia x pytorch",
        "precision": "nvidia x pytorch x amp_fp16",
        "order": "",
        "maker": "",
        "sets": "",
    }


def test_arm_nn_is_told_apart_by_the_sets_that_it_has_kernels_for() -> None:
    plain, halves = (
        groups_of(target(runtime="armnn", architecture=design))["sets"]
        for design in ("cortex-a53", "cortex-a76")
    )
    assert plain == "arm x armnn with none"
    assert halves == "arm x armnn with fp16+dotprod"
    assert not groups_of(target(architecture="cortex-a76"))["sets"]


def test_mobile_gpus_and_accelerators_are_told_apart_by_who_designed_them() -> None:
    """Mali is of Arm, on whoever's chip it is; a design that is not known, of the chip's vendor."""
    mali, unknown, edge_tpu = (
        groups_of(target(family, architecture=design, vendor=vendor))["maker"]
        for family, design, vendor in (
            (Family.MOBILE_GPU, "mali-valhall", "MediaTek"),
            (Family.MOBILE_GPU, "", "MediaTek"),
            (Family.NPU, "edgetpu", "Coral"),
        )
    )
    assert (mali, unknown) == ("mobile-gpu of Arm", "mobile-gpu of MediaTek")
    assert edge_tpu == "npu of Google"


@pytest.mark.parametrize(
    ("family", "kind"), [(Family.CPU, "cpu"), (Family.GPU, "gpu"), (Family.NPU, "npu")]
)
def test_an_unknown_design_is_of_the_kind_of_its_family(family: Family, kind: str) -> None:
    groups = groups_of(target(family, architecture="never-heard-of"))

    assert (groups["kind"], groups["class"], groups["order"]) == (kind, f"{kind} x ncnn", "")
    assert set(groups) == set(GROUPS)


def efficiencies(
    effects: Mapping[str, Mapping[str, float]], level: Mapping[str, Mapping[str, float]]
) -> Efficiencies:
    """Return efficiencies of which each effect is one number on all terms of all kinds."""
    return Efficiencies(
        np.full(WIDTH, 0.1),
        {
            name: {group: np.full(WIDTH, effect) for group, effect in groups.items()}
            for name, groups in effects.items()
        },
        {name: level.get(name, {}) for name in LEVELS},
        TypicalRates({}, {}),
    )


EFFECTS = {
    "all": {"all": 1.0},
    "runtime": {"ncnn": 0.2, "tflite": 7.0},
    "kind": {"arm": 0.03},
    "class": {"arm x ncnn": 0.004},
    "precision": {"arm x ncnn x fp32": 0.0005},
    "order": {"arm in order": 0.00006, "arm out of order": 7.0},
}


def test_the_effects_of_all_groups_of_a_target_add_up() -> None:
    factors = efficiencies(EFFECTS, {}).of([target(clusters=(SMALL,)), target(clusters=(BIG,))])

    assert factors.shape == (2, len(KINDS), len(TERMS))
    assert np.log(factors[0]) == pytest.approx(0.1 + 1.23456)
    assert np.log(factors[1]) == pytest.approx(0.1 + 1.2345 + 7)


def test_groups_without_an_effect_add_nothing() -> None:
    unknown = [
        target(Family.MCU, "never-heard-of"),
        target(precision=Precision.INT8, runtime="never-heard-of"),
    ]

    factors = efficiencies(EFFECTS, {}).of(unknown)

    assert np.log(factors[0]) == pytest.approx(1.1)
    assert np.log(factors[1]) == pytest.approx(1.1 + 0.03)


def test_a_plan_on_one_thread_starts_in_8000_clocks_that_effects_move_by_three_tenths() -> None:
    """Four times the 2000 clocks of the physics."""
    plan = target(Family.CPU, "onnxruntime")
    one, all_cores = (
        replace(plan, configuration=replace(plan.configuration, threads=threads))
        for threads in (1, 8)
    )

    factors = efficiencies({"all": {"all": 2.0}}, {"all": {"all": 0.5}}).of([one, all_cores])

    launch = TERMS.index("launch")
    assert np.log(factors[0, :, launch]) == pytest.approx(0.1 + np.log(4) + 0.3 * 2.0 + 0.5)
    assert np.log(np.delete(factors[0], launch, axis=1)) == pytest.approx(0.1 + 2.0 + 0.5)
    assert np.log(factors[1]) == pytest.approx(0.1 + 2.0 + 0.5)


def test_an_effect_is_of_one_kind_of_operators_and_one_term() -> None:
    plain = efficiencies({"all": {"all": 0.0}}, {})
    effect = np.zeros(WIDTH)
    effect[2 * len(TERMS) + 3] = 0.5  # third kind, last term

    factors = Efficiencies(
        plain.mean, {"runtime": {"ncnn": effect}}, plain.level, plain.typical
    ).of([target()])

    logs = np.log(factors[0])
    assert logs[2, 3] == pytest.approx(0.6)
    assert np.delete(logs.ravel(), 2 * len(TERMS) + 3) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ((), 0.0),
        (("all",), 0.3),
        (("all", "kind"), 0.5),
        (("all", "kind", "runtime"), 0.7),
        (("all", "runtime"), 0.7),
        (("all", "kind", "runtime", "class"), 0.9),
        (("class",), 0.9),
    ],
)
def test_the_level_is_that_of_the_finest_group_that_is_known(
    known: tuple[str, ...], expected: float
) -> None:
    levels = {
        "all": {"all": 0.3},
        "kind": {"arm": 0.5},
        "runtime": {"ncnn": 0.7},
        "class": {"arm x ncnn": 0.9},
    }

    factors = efficiencies({}, {name: levels[name] for name in known}).of([target()])

    assert np.log(factors[0]) == pytest.approx(0.1 + expected)


def test_no_group_reads_a_rate() -> None:
    slow = target(clusters=(BIG,))
    fast = target(
        clusters=(
            Cluster(
                name="Big",
                cores=64,
                clock_mhz=9000.0,
                fp32_au_per_core=99.0,
                architecture="cortex-a76",
            ),
        )
    )

    assert groups_of(slow) == groups_of(fast)


@pytest.mark.parametrize(
    ("family", "least"),
    [(Family.NPU, 1.0), (Family.FPGA, 1.0), (Family.ASIC, 1.0), (Family.MOBILE_CPU, np.exp(-1.9))],
)
def test_an_accelerator_multiplies_no_faster_than_it_states(family: Family, least: float) -> None:
    """What a class is taken to save on starts and bytes stays."""
    quick = efficiencies({"all": {"all": -2.0}}, {})

    (factors,) = quick.of([target(family)])

    assert factors[:, TERMS.index("arithmetic")] == pytest.approx(np.full(len(KINDS), least))
    assert factors[:, TERMS.index("memory")] == pytest.approx(np.full(len(KINDS), np.exp(-1.9)))
