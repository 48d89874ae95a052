import pytest

from predictor.core.metrics import Family
from predictor.core.records import Cluster, Device, MeasuredRate, OperatingPoint
from predictor.devices.consistency import consistency_warnings
from predictor.devices.peaks import derived_fp32_tflops


def device(
    metrics: dict[str, float], *, family: Family = Family.GPU, clusters: tuple[Cluster, ...] = ()
) -> Device:
    sources = dict.fromkeys(metrics, "datasheet")
    return Device(
        id="d",
        name="D",
        vendor="V",
        family=family,
        metrics=metrics,
        sources=sources,
        clusters=clusters,
    )


# RTX 3090: 82 SMs x 128 lanes x 2 x 1.695 GHz = 35.58 TFLOP/s.
RTX3090 = {
    "clock_mhz": 1395,
    "boost_clock_mhz": 1695,
    "core_count": 82,
    "fp32_au_per_core": 128,
    "fp32_tflops": 35.58,
}


def test_the_fp32_rate_follows_from_boost_clock_cores_and_lanes():
    assert derived_fp32_tflops(device(RTX3090)) == pytest.approx(35.58, rel=1e-3)


def test_without_a_boost_clock_the_clock_counts():
    metrics = {"clock_mhz": 1000, "core_count": 10, "fp32_au_per_core": 100}
    assert derived_fp32_tflops(device(metrics)) == pytest.approx(2.0)


def test_without_one_part_there_is_no_derived_rate():
    for name in ("core_count", "fp32_au_per_core"):
        assert derived_fp32_tflops(device({k: v for k, v in RTX3090.items() if k != name})) is None


def test_clusters_count_each_with_its_own_clock_and_lanes():
    # 2 x 2.0 GHz x 8 lanes x 2 = 64 GFLOP/s and 4 x 1.5 GHz x 4 x 2 = 48 GFLOP/s.
    clusters = (
        Cluster(name="big", cores=2, clock_mhz=2000, fp32_au_per_core=8),
        Cluster(name="little", cores=4, clock_mhz=1500, fp32_au_per_core=4),
    )
    assert derived_fp32_tflops(device({}, clusters=clusters)) == pytest.approx(0.112)


def test_a_cluster_of_unknown_lanes_leaves_the_rate_unknown():
    clusters = (
        Cluster(name="big", cores=2, clock_mhz=2000, fp32_au_per_core=8),
        Cluster(name="little", cores=4, clock_mhz=1500),
    )
    assert derived_fp32_tflops(device({}, clusters=clusters)) is None


def test_consistent_facts_give_no_warning():
    assert consistency_warnings(device(RTX3090)) == ()


@pytest.mark.parametrize("factor", [1.59, 1 / 1.59])
def test_a_difference_within_a_factor_of_1_6_is_accepted(factor: float):
    metrics = {**RTX3090, "fp32_tflops": derived_fp32_tflops(device(RTX3090)) * factor}
    assert consistency_warnings(device(metrics)) == ()


@pytest.mark.parametrize("factor", [1.61, 1 / 1.61, 1000])
def test_a_larger_difference_is_warned_about_with_both_rates(factor: float):
    metrics = {**RTX3090, "fp32_tflops": derived_fp32_tflops(device(RTX3090)) * factor}
    (warning,) = consistency_warnings(device(metrics))
    assert "35.58 TFLOP/s" in warning
    assert "differ by a factor of" in warning


CONTRADICTIONS = {
    "boost under base": (
        {"clock_mhz": 2000, "boost_clock_mhz": 1500},
        "boost_clock_mhz (1500 MHz) is under clock_mhz (2000 MHz)",
    ),
    "TF32 under FP32": (
        {"fp32_tflops": 20, "tf32_tflops": 10},
        "tf32_tflops (10 TFLOP/s) is under fp32_tflops (20)",
    ),
    "INT4 under INT8": ({"int8_tops": 20, "int4_tops": 10}, "int4_tops (10 TOP/s) is under"),
    "cache slower than memory": (
        {"l2_bw_gbps": 100, "dram_bw_gbps": 200},
        "l2_bw_gbps (100 GB/s) is under dram_bw_gbps (200)",
    ),
    "GFLOP/s in place of TFLOP/s": (
        {"fp32_tflops": 5700, "dram_bw_gbps": 192},
        "check the units",
    ),
    "DSPs on a GPU": ({"dsp_count": 900}, "the family is gpu, not fpga"),
}


@pytest.mark.parametrize(
    ("metrics", "sentence"), CONTRADICTIONS.values(), ids=CONTRADICTIONS.keys()
)
def test_a_contradiction_is_one_sentence(metrics: dict[str, float], sentence: str):
    (warning,) = consistency_warnings(device(metrics))
    assert sentence in warning


def test_clusters_are_compared_with_the_whole():
    clusters = (
        Cluster(name="little", cores=4, clock_mhz=1500, fp32_au_per_core=4),
        Cluster(name="big", cores=2, clock_mhz=2000, fp32_au_per_core=8),
    )
    metrics = {"core_count": 8, "boost_clock_mhz": 1800}
    warnings = consistency_warnings(device(metrics, clusters=clusters, family=Family.CPU))
    assert warnings == (
        "core_count is 8, but the clusters have 6 cores",
        "a cluster runs at 2000 MHz, above the device's clock of 1800 MHz",
        "the clusters are not listed fastest first",
    )


def test_a_metric_without_a_source_and_a_source_without_a_metric_are_told():
    odd = Device(
        id="d",
        name="D",
        vendor="V",
        family=Family.GPU,
        metrics={"core_count": 1},
        sources={"tdp_w": "datasheet"},
    )
    assert consistency_warnings(odd) == (
        "core_count has no source",
        "a source is given for tdp_w, which has no value",
    )
    assert consistency_warnings(odd, {"tdp_w": 1.0}) == ("core_count has no source",)


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"architecture": "z80"}, "architecture z80 is not in the table of this version"),
        ({"architecture": "zen-4"}, "fp32_au_per_core is 8, but AMD Zen 4 has 16"),
        (
            {"architecture": "skylake-server"},
            "fp32_au_per_core is 8, but Intel Skylake, server has 32",
        ),
        (
            {"measured": {"dram_bw_gbps": MeasuredRate(10.6, "STREAM")}},
            "dram_bw_gbps is measured as 10.6 GB/s, above the stated 10 GB/s",
        ),
        (
            {"operating_points": (OperatingPoint(name="turbo", source="x", cpu_mhz=3003.5),)},
            "operating point turbo runs at 3003.5 MHz, above the device's clock of 3000 MHz",
        ),
        ({"architecture": "cortex-a76"}, ""),
        ({"host_architecture": "carmel"}, ""),
        ({"host_architecture": "z80"}, "host_architecture z80 is not in the table of this version"),
        ({"host_architecture": "hailo-8"}, "host_architecture hailo-8 is no design of a processor"),
        ({"measured": {"dram_bw_gbps": MeasuredRate(10.4, "STREAM")}}, ""),
        ({"measured": {"launch_us": MeasuredRate(10.0, "an empty operator")}}, ""),
        ({"operating_points": (OperatingPoint(name="usual", source="x", cpu_mhz=3000),)}, ""),
        (
            {"operating_points": (OperatingPoint(name="gpu", source="x", gpu_mhz=5000, cores=4),)},
            "",
        ),
    ],
)
def test_facts_of_the_design_are_compared_with_the_metrics(facts, sentence):
    metrics = {"boost_clock_mhz": 3000.0, "fp32_au_per_core": 8.0, "dram_bw_gbps": 10.0}
    sources = dict.fromkeys(metrics, "datasheet")
    made = Device(
        id="d", name="D", vendor="V", family=Family.CPU, metrics=metrics, sources=sources, **facts
    )
    assert consistency_warnings(made) == ((sentence,) if sentence else ())


def test_a_design_sold_with_one_or_two_units_fits_either():
    for lanes in (16.0, 32.0):
        metrics = {"fp32_au_per_core": lanes}
        sources = {"fp32_au_per_core": "datasheet"}
        made = Device(
            id="d",
            name="D",
            vendor="V",
            family=Family.CPU,
            metrics=metrics,
            sources=sources,
            architecture="skylake-server",
        )
        assert consistency_warnings(made) == ()


def test_each_cluster_is_compared_with_its_own_architecture():
    clusters = (
        Cluster(name="big", cores=2, clock_mhz=2000, fp32_au_per_core=8, architecture="cortex-a76"),
        Cluster(
            name="little", cores=2, clock_mhz=1500, fp32_au_per_core=8, architecture="cortex-a55"
        ),
    )
    assert consistency_warnings(device({}, family=Family.MOBILE_CPU, clusters=clusters)) == (
        "cluster little: fp32_au_per_core is 8, but Arm Cortex-A55 has 4",
    )
