from __future__ import annotations

from pathlib import Path

import pytest

from ctm_gui import settings as table
from ctm_gui.settings import TABLE, Settings, settings_path
from predictor.core.errors import HostError


def test_the_file_is_where_the_variable_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTM_SETTINGS", "/somewhere/window.ini")
    assert settings_path() == Path("/somewhere/window.ini")
    monkeypatch.delenv("CTM_SETTINGS")
    assert settings_path().name == "window.ini"


def test_values_survive_a_restart_with_their_types(tmp_path: Path) -> None:
    path = tmp_path / "window.ini"
    settings = Settings(path)
    settings.set(table.BUDGET_MS, 12.5)
    settings.set(table.MAX_RECENT, 7)
    settings.set(table.TARGETS_CHOSEN, True)
    settings.set(table.TARGETS, ["rpi5"])
    settings.set(table.RECENT, ["/a, b.onnx", "/größe.onnx"])
    settings.set(table.GEOMETRY, b"\x00\x01")
    settings.sync()
    again = Settings(path)
    assert again.get(table.BUDGET_MS) == 12.5
    assert again.get(table.MAX_RECENT) == 7
    assert again.get(table.TARGETS_CHOSEN) is True
    assert again.get(table.TARGETS) == ["rpi5"]
    assert again.get(table.RECENT) == ["/a, b.onnx", "/größe.onnx"]
    assert again.get(table.GEOMETRY) == b"\x00\x01"


def test_an_empty_list_is_not_the_default(tmp_path: Path) -> None:
    path = tmp_path / "window.ini"
    settings = Settings(path)
    settings.set(table.TARGETS, [])
    settings.sync()
    assert Settings(path).get(table.TARGETS) == []


def test_nonsense_in_the_file_reads_as_the_default(tmp_path: Path) -> None:
    path = tmp_path / "window.ini"
    path.write_text(
        "[compare]\nbudget_ms=fast\n[files]\nmost_recent=left\n[window]\ngeometry=oops\n"
    )
    settings = Settings(path)
    assert settings.get(table.BUDGET_MS) == 0.0
    assert settings.get(table.MAX_RECENT) == 10
    assert settings.get(table.GEOMETRY) == b""


def test_recent_files_are_newest_first_without_doubles(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "window.ini")
    settings.add_recent(["/a", "/b"])
    settings.add_recent(["/a"])
    assert settings.get(table.RECENT) == ["/a", "/b"]
    settings.add_recent([f"/{number}" for number in range(30)])
    assert settings.get(table.RECENT) == [f"/{number}" for number in range(29, 19, -1)]


def test_a_file_that_cannot_be_written_is_an_error_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "folder.ini").mkdir()
    settings = Settings(tmp_path / "folder.ini")
    with pytest.raises(HostError, match=r"folder\.ini"):
        settings.check_writable()
    settings.set(table.MAX_RECENT, 7)
    with pytest.raises(HostError, match=r"folder\.ini"):
        settings.sync()
    Settings(tmp_path / "new" / "window.ini").check_writable()


def test_keys_are_unique_and_explained() -> None:
    assert len({setting.key for setting in TABLE}) == len(TABLE)
    assert len({setting.label for setting in TABLE}) == len(TABLE)
    assert all(setting.label and setting.help.endswith(".") for setting in TABLE)
