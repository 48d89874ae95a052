"""The form of a device on a real store; the store's work is done at once instead of on a thread."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtGui import QUndoStack

from ctm_gui.devices.form import DeviceForm
from ctm_gui.devices.library import DeviceLibrary
from ctm_gui.devices.tables import DeviceComparisonGrid
from predictor.core.errors import CtmError
from predictor.core.metrics import Family
from predictor.core.records import (
    Cluster,
    Configuration,
    Device,
    MeasuredRate,
    OperatingPoint,
    Precision,
)
from predictor.devices.consistency import CLUSTERS, MEASURED, OPERATING_POINTS
from predictor.devices.form import ClusterFields, MeasuredFields, PointFields, check_form, fields_of
from predictor.devices.inference import stated_part
from predictor.devices.schema import DeviceFile
from predictor.services.devices.catalogue import Catalogue, load_catalogue
from predictor.services.history.history import History, open_history

T = TypeVar("T")

GPU = Device(
    id="gpu",
    name="Shipped GPU",
    vendor="Acme",
    family=Family.GPU,
    # 1500 MHz x 10 x 64 x 2 = 1.92 TFLOP/s
    metrics={
        "boost_clock_mhz": 1500.0,
        "core_count": 10.0,
        "fp32_au_per_core": 64.0,
        "fp32_tflops": 1.92,
        "dram_bw_gbps": 100.0,
    },
    sources=dict.fromkeys(
        ("boost_clock_mhz", "core_count", "fp32_au_per_core", "fp32_tflops", "dram_bw_gbps"), "book"
    ),
    configurations=(Configuration("pytorch"), Configuration("tensorrt", Precision.FP16)),
)


class Bench:
    """A library on a store, its form, and what both said."""

    def __init__(self, history: History, shipped: Catalogue) -> None:
        self.history = history
        self.stack = QUndoStack()
        self.library = DeviceLibrary(shipped, self.run, self.stack)
        self.form = DeviceForm(self.library, self.stack)
        self.errors: list[str] = []
        self.done: list[str] = []
        self.catalogues: list[Catalogue] = []
        self.made: list[str] = []
        self.library.failed.connect(lambda error: self.errors.append(str(error)))
        self.library.done.connect(self.done.append)
        self.library.catalogue_changed.connect(self.catalogues.append)
        self.library.made.connect(self.made.append)

    def run(
        self,
        work: Callable[[History], T],
        *,
        on_result: Callable[[T], None],
        on_error: Callable[[CtmError], None],
    ) -> None:
        try:
            result = work(self.history)
        except CtmError as error:
            on_error(error)
        else:
            on_result(result)

    def duplicate(self, key: str = "gpu") -> str:
        """Duplicate a device, show the copy, return its key."""
        self.library.duplicate(key)
        self.form.show(self.made[-1])
        return self.made[-1]

    def stored(self) -> dict[str, Device]:
        return {entry.device.id: entry.device for entry in self.history.devices.all()}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with open_history(tmp_path / "store.db") as history:
        yield Bench(history, Catalogue([GPU]))


def test_a_shipped_device_cannot_be_changed(bench: Bench) -> None:
    bench.form.show("gpu")
    bench.form.set_value("core_count", "20")
    bench.form.set_text("name", "Mine")
    assert bench.form.fields == fields_of(DeviceFile(GPU))
    assert not bench.form.modified
    assert bench.stack.count() == 0


def test_a_duplicate_is_stored_and_a_target_at_once(bench: Bench) -> None:
    bench.duplicate()
    assert bench.stored()["gpu-copy"] == replace(GPU, id="gpu-copy", name="Shipped GPU (copy)")
    assert bench.catalogues[-1].by_id["gpu-copy"].metrics == GPU.metrics
    assert bench.form.editable


def test_edits_are_stored_by_save_alone(bench: Bench) -> None:
    bench.duplicate()
    bench.form.set_value("core_count", "20")
    assert bench.form.modified
    assert bench.stored()["gpu-copy"].metric("core_count") == 10
    bench.form.save()
    assert bench.stored()["gpu-copy"].metric("core_count") == 20
    assert bench.catalogues[-1].by_id["gpu-copy"].metric("core_count") == 20
    assert not bench.form.modified


def test_a_cleared_metric_is_absent_and_undo_brings_it_back(bench: Bench) -> None:
    bench.duplicate()
    bench.form.set_value("dram_bw_gbps", "")
    bench.form.save()
    assert "dram_bw_gbps" not in bench.stored()["gpu-copy"].metrics
    assert "dram_bw_gbps" not in bench.stored()["gpu-copy"].sources
    bench.stack.undo()
    bench.form.save()
    assert bench.stored()["gpu-copy"].metric("dram_bw_gbps") == 100


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("many", 'SMs or compute units is "many" where a number was expected.'),
        ("1,5", "SMs or compute units has a comma: write 1234.5, with a point"),
        ("nan", 'SMs or compute units is "nan" where a number was expected.'),
        ("1e400", "SMs or compute units is not a finite number."),
        ("-3", "SMs or compute units is -3, outside of 1 to 1000000."),
        ("1e9", "SMs or compute units is 1000000000, outside of 1 to 1000000."),
        ("\u202e12", "where a number was expected."),
    ],
)
def test_a_wrong_value_says_so_and_cannot_be_saved(bench: Bench, text: str, sentence: str) -> None:
    bench.duplicate()
    bench.form.set_value("core_count", text)
    assert sentence in bench.form.problems["core_count"]
    assert not bench.form.can_save
    bench.form.save()
    assert bench.stored()["gpu-copy"].metric("core_count") == 10


def test_every_wrong_field_is_told_at_once(bench: Bench) -> None:
    bench.duplicate()
    bench.form.set_text("name", " ")
    bench.form.set_text("id", "My Board")
    bench.form.set_value("core_count", "x")
    bench.form.set_source("dram_bw_gbps", "a\nb")
    assert set(bench.form.problems) == {"name", "id", "core_count", "sources.dram_bw_gbps"}
    assert bench.form.problems["name"] == "Name is empty."
    assert '"My Board", which is not a slug' in bench.form.problems["id"]


def test_contradictions_stand_beside_their_fields_in_words(bench: Bench) -> None:
    bench.duplicate()
    bench.form.set_value("fp32_tflops", "19.2")
    (warning,) = bench.form.warnings_of("fp32_tflops")
    assert warning == (
        "FP32 peak (19.2 TFLOP/s) and clock x cores x lanes x 2 (1.92 TFLOP/s) differ by a factor "
        "of 10."
    )
    assert bench.form.warnings_of("core_count") == []
    assert bench.form.can_save, "a contradiction is a warning"


def test_what_has_no_source_is_told(bench: Bench) -> None:
    bench.duplicate()
    bench.form.set_source("core_count", "")
    assert bench.form.unsourced_line() == "Without a source: SMs or compute units."


def test_the_wording_follows_the_family(bench: Bench) -> None:
    bench.duplicate()
    bench.form.set_value("core_count", "x")
    bench.form.set_family(Family.CPU)
    assert bench.form.problems["core_count"].startswith("Cores is")
    bench.form.set_family(Family.FPGA)
    assert bench.form.problems["core_count"].startswith("PEs of the overlay is")


class TestUndo:
    def test_typing_in_one_field_is_one_step(self, bench: Bench) -> None:
        bench.duplicate()
        for text in ("1", "12", "120"):
            bench.form.set_value("core_count", text)
        bench.form.set_source("core_count", "manual")
        assert bench.stack.count() == 3  # the duplicate, the value, the source
        bench.stack.undo()
        assert bench.form.fields.sources["core_count"] == "book"
        bench.stack.undo()
        assert bench.form.fields.values["core_count"] == "10"
        assert not bench.form.modified
        bench.stack.redo()
        assert bench.form.fields.values["core_count"] == "120"

    def test_it_says_what_it_undoes(self, bench: Bench) -> None:
        bench.duplicate()
        bench.form.set_value("core_count", "12")
        assert bench.stack.undoText() == "Edit SMs or compute units of Shipped GPU (copy)"

    def test_it_shows_the_device_that_it_changes(self, bench: Bench) -> None:
        key = bench.duplicate()
        bench.form.set_value("core_count", "12")
        bench.form.show("gpu")
        bench.stack.undo()
        assert bench.form.key == key
        assert bench.form.fields.values["core_count"] == "10"

    def test_revert_can_be_undone(self, bench: Bench) -> None:
        bench.duplicate()
        bench.form.set_value("core_count", "12")
        bench.form.revert()
        assert bench.form.fields.values["core_count"] == "10"
        assert not bench.form.modified
        bench.stack.undo()
        assert bench.form.fields.values["core_count"] == "12"

    def test_a_deleted_device_comes_back_as_it_was(self, bench: Bench) -> None:
        key = bench.duplicate()
        before = bench.stored()["gpu-copy"]
        bench.library.delete(key)
        assert bench.stored() == {}
        assert "gpu-copy" not in bench.catalogues[-1].by_id
        assert bench.form.key == ""
        bench.stack.undo()
        assert bench.stored() == {"gpu-copy": before}
        assert bench.library.entry(key) is not None

    def test_a_shipped_device_is_not_deleted(self, bench: Bench) -> None:
        bench.library.delete("gpu")
        assert bench.library.entry("gpu") is not None
        assert bench.stack.count() == 0


def test_what_was_typed_stays_while_another_device_is_looked_at(bench: Bench) -> None:
    key = bench.duplicate()
    bench.form.set_value("core_count", "x")
    bench.form.show("gpu")
    assert bench.form.is_modified(key)
    bench.form.show(key)
    assert bench.form.fields.values["core_count"] == "x"


class TestIds:
    def test_a_taken_id_is_refused(self, bench: Bench) -> None:
        bench.duplicate()
        for taken in ("gpu", "this"):
            bench.form.set_text("id", taken)
            assert bench.form.problems["id"] == f"Id {taken} is taken by another device."
            assert not bench.form.can_save

    def test_a_new_id_moves_the_device(self, bench: Bench) -> None:
        renamed: list[tuple[str, str]] = []
        bench.library.renamed.connect(lambda old, new: renamed.append((old, new)))
        bench.duplicate()
        bench.form.set_text("id", "board")
        bench.form.save()
        assert list(bench.stored()) == ["board"]
        assert renamed == [("gpu-copy", "board")]

    def test_a_second_duplicate_gets_a_number(self, bench: Bench) -> None:
        bench.duplicate()
        bench.duplicate()
        assert sorted(bench.stored()) == ["gpu-copy", "gpu-copy-2"]

    def test_a_device_that_is_shipped_by_now_moves_on(self, tmp_path: Path) -> None:
        with open_history(tmp_path / "store.db") as history:
            history.devices.save(DeviceFile(replace(GPU, name="Mine")))
            bench = Bench(history, Catalogue([GPU]))
            bench.library.load()
            assert list(bench.stored()) == ["gpu-2"]
            assert {d.name for d in bench.catalogues[-1].devices} == {"Mine", "Shipped GPU"}


class TestFiles:
    def test_ours_and_neusights_are_imported(self, bench: Bench, tmp_path: Path) -> None:
        own = tmp_path / "gpu.json"
        bench.library.export("gpu", str(own))
        foreign = tmp_path / "neusight.json"
        foreign.write_text(json.dumps({"Device": "T4", "Num_Sm": 40, "Mem_Bw": 320}))
        bench.library.import_files([str(own), str(foreign)])
        assert sorted(bench.stored()) == ["gpu-2", "t4"]
        assert bench.errors == []

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            (b"", "is not JSON"),
            (b"\x00\xff\xfe", "is not text in UTF-8"),
            (b"[1]", "holds a list where a JSON object was expected"),
            (b'{"a": 1}', "is not a device file"),
            (b"[" * 100_000, "nested too deeply"),
            (b" " * 1_000_001, "more than the 1,000,000 allowed"),
            (b'{"schema": "ctm-hcv/9"}', "which this version cannot read"),
            (b'{"schema": "ctm-hcv/1", "schema": "x"}', "twice"),
            (b'{"schema": "ctm-hcv/1", "id": NaN}', "holds NaN"),
        ],
    )
    def test_a_wrong_file_is_one_sentence_and_nothing_is_stored(
        self, bench: Bench, tmp_path: Path, content: bytes, reason: str
    ) -> None:
        path = tmp_path / "wrong.json"
        path.write_bytes(content)
        bench.library.import_files([str(path)])
        (error,) = bench.errors
        assert reason in error
        assert "\n" not in error
        assert bench.stored() == {}
        assert bench.stack.count() == 0

    def test_a_folder_and_a_missing_file_are_told(self, bench: Bench, tmp_path: Path) -> None:
        bench.library.import_files([str(tmp_path), str(tmp_path / "missing.json")])
        assert "is a folder, not a file" in bench.errors[0]
        assert "there is no such file" in bench.errors[1]


def test_the_form_of_each_shipped_device_gives_that_device() -> None:
    for device in load_catalogue().devices:
        check = check_form(fields_of(DeviceFile(device)))
        assert check.problems == {}
        assert check.entry is not None
        assert stated_part(check.entry.device) == device
        assert check.findings == ()


def test_clusters_are_checked_row_by_row(bench: Bench) -> None:
    bench.duplicate()
    bench.form.set_family(Family.MOBILE_CPU)
    rows = (
        ClusterFields(name="A76", cores="4", clock_mhz="2400", fp32_au_per_core="8"),
        ClusterFields(name="A55", cores="4.5", clock_mhz="", fp32_au_per_core="x"),
    )
    bench.form.set_rows(CLUSTERS, rows)
    assert {key for key in bench.form.problems if key.startswith("clusters")} == {
        "clusters.1.cores",
        "clusters.1.clock_mhz",
        "clusters.1.fp32_au_per_core",
    }
    bench.form.set_rows(
        CLUSTERS,
        (rows[0], ClusterFields(name="A55", cores="6", clock_mhz="1400", fp32_au_per_core="")),
    )
    assert bench.form.can_save
    bench.form.save()
    assert bench.stored()["gpu-copy"].clusters == (
        Cluster(
            name="A76",
            cores=4,
            clock_mhz=2400.0,
            fp32_au_per_core=8.0,
            architecture="cortex-a76",
        ),
        Cluster(
            name="A55",
            cores=6,
            clock_mhz=1400.0,
            fp32_au_per_core=4.0,
            architecture="cortex-a55",
        ),
    )
    assert "a cluster runs at 2400 MHz" in bench.form.warnings_of("clusters")[0].lower().replace(
        "mhz", "MHz"
    )


def test_configurations_are_checked(bench: Bench) -> None:
    bench.duplicate()
    bench.form.set_configurations(())
    assert "at least one" in bench.form.problems["configurations"].lower()
    bench.form.set_configurations((Configuration("ncnn"), Configuration("ncnn")))
    assert "listed twice" in bench.form.problems["configurations"]


def test_the_design_is_typed_checked_and_undone(bench: Bench) -> None:
    bench.duplicate()
    form = bench.form
    for name, text in (("chip", "ga102"), ("architecture", "ampere-ga10x")):
        form.set_text(name, text)
    form.set_text("instruction_sets", "neon, FP16")
    assert form.check.entry is not None
    device = form.check.entry.device
    assert (device.chip, device.architecture) == ("ga102", "ampere-ga10x")
    assert device.instruction_sets == ("neon", "fp16")
    assert form.warnings_of("architecture") == [
        "FP32 lanes per SM is 64, but NVIDIA Ampere GA10x has 128."
    ]
    form.set_text("architecture", "Ampere 2")
    form.set_text("instruction_sets", "mmx")
    assert form.problems["architecture"] == 'Architecture is "Ampere 2", which is not a slug.'
    assert form.problems["instruction_sets"] == 'Instruction sets 1 is "mmx".'
    while bench.stack.canUndo() and form.fields.chip:
        bench.stack.undo()
    assert fields_of(bench.form.entry.file) == form.fields


def test_measured_rates_are_rows_beside_the_stated_ones(bench: Bench) -> None:
    bench.duplicate()
    form = bench.form
    assert form.stated_text("dram_bw_gbps") == "100"
    assert form.stated_text("launch_us") == "—"
    row = MeasuredFields("dram_bw_gbps", "106", "gpu-benches")
    form.set_rows(MEASURED, (row,))
    assert form.warnings_of("dram_bw_gbps") == [
        "Memory bandwidth is measured as 106 GB/s, above the stated 100 GB/s."
    ]
    form.set_rows(MEASURED, (row, row, MeasuredFields("launch_us", "no", "")))
    assert form.problem_lines() == [
        "Measured rates, row 2: Memory bandwidth is listed twice.",
        'Measured rates, row 3: Value is "no" where a number was expected.',
        "Measured rates, row 3: Source is empty.",
    ]
    form.set_rows(MEASURED, (MeasuredFields("dram_bw_gbps", "91.5", "gpu-benches"),))
    form.save()
    assert dict(bench.stored()["gpu-copy"].measured) == {
        "dram_bw_gbps": MeasuredRate(91.5, "gpu-benches")
    }


def test_operating_points_are_rows_and_an_empty_number_is_not_known(bench: Bench) -> None:
    bench.duplicate()
    form = bench.form
    form.set_rows(
        OPERATING_POINTS, (PointFields(name="15W", power_w="15", gpu_mhz="x", source="nvpmodel"),)
    )
    assert form.problems == {
        "operating_points.0.gpu_mhz": 'GPU clock is "x" where a number was expected.'
    }
    form.set_rows(
        OPERATING_POINTS, (PointFields(name="15W", power_w="15", gpu_mhz="625", source="nvpmodel"),)
    )
    form.save()
    assert bench.stored()["gpu-copy"].operating_points == (
        OperatingPoint(name="15W", source="nvpmodel", power_w=15.0, gpu_mhz=625.0),
    )


def test_letters_typed_into_one_cell_are_one_step_of_undo(bench: Bench) -> None:
    bench.duplicate()
    before = bench.stack.count()
    for text in ("S", "ST", "STREAM"):
        row = MeasuredFields(source=text)
        bench.form.set_rows(MEASURED, (row,), typed="0.source")
    assert bench.stack.count() == before + 1
    bench.stack.undo()
    assert bench.form.fields.measured == ()


def test_two_devices_are_compared_by_design_and_measured_rates_too() -> None:
    rates = {"dram_bw_gbps": MeasuredRate(90.0, "x"), "launch_us": MeasuredRate(4.0, "x")}
    left = replace(GPU, architecture="ampere-ga10x", measured=rates)
    points = (OperatingPoint(name="15W", source="x"), OperatingPoint(name="30W", source="x"))
    right = replace(
        GPU, chip="ga102", measured={"launch_us": MeasuredRate(2.0, "x")}, operating_points=points
    )
    grid = DeviceComparisonGrid(left, right)
    rows = {
        grid.columns[0].text(row): [column.text(row) for column in grid.columns[1:]]
        for row in range(grid.count)
    }
    assert list(rows)[:2] == ["Chip", "Architecture"]
    assert rows["Chip"] == ["—", "ga102", "—"]
    assert rows["Architecture"][0].startswith("NVIDIA Ampere GA10x")
    assert rows["Memory bandwidth (GB/s)"] == ["100", "100", "× 1"]
    assert rows["Memory bandwidth, measured (GB/s)"] == ["90", "—", "—"]
    assert rows["Launch, measured (µs)"] == ["4", "2", "× 0.5"]
    assert rows["Operating points"] == ["—", "15W, 30W", "—"]
    long = replace(
        GPU, operating_points=(OperatingPoint(name="a point with a long name " * 2, source="x"),)
    )
    wide = DeviceComparisonGrid(GPU, long)
    assert wide.columns[2].text(wide.count - 1) == "a point with a long n…"
    assert "long name a point with" in wide.details(wide.count - 1)
    copied = grid.as_csv(range(grid.count))
    assert "Chip,,ga102," in copied
    assert '"Launch, measured (µs)",4,2,0.5' in copied
