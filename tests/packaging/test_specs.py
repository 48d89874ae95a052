"""The PyInstaller specs, executed with records in place of PyInstaller's classes."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import contents
import icons
import pytest

from predictor import __version__

ROOT = Path(__file__).resolve().parents[2]
SPECS = sorted((ROOT / "packaging").glob("*.spec"))


@dataclass
class Step:
    """A call of one of PyInstaller's classes."""

    name: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    scripts: tuple[object, ...] = ()
    pure: tuple[object, ...] = ()
    binaries: list[tuple[str, str, str]] = field(default_factory=list)
    datas: list[tuple[str, str, str]] = field(default_factory=list)


@pytest.fixture
def steps_of(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that executes a spec and returns its calls, without ``copy_metadata``."""
    hooks = ModuleType("PyInstaller.utils.hooks")
    hooks.copy_metadata = lambda name: []  # type: ignore[attr-defined]  # noqa: ARG005
    for name in ("PyInstaller", "PyInstaller.utils"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, hooks.__name__, hooks)

    def execute(spec: Path) -> list[Step]:
        steps: list[Step] = []

        def recorder(name: str) -> Any:
            def call(*arguments: Any, **options: Any) -> Step:
                steps.append(Step(name, arguments, options))
                steps[-1].binaries = [("libgtk-3.so.0", "", ""), ("libQt6Gui.so.6", "", "")]
                return steps[-1]

            return call

        names = ("Analysis", "PYZ", "EXE", "COLLECT", "BUNDLE")
        names_of_spec = {name: recorder(name) for name in names}
        code = compile(spec.read_text(encoding="utf-8"), str(spec), "exec")
        exec(code, {**names_of_spec, "SPECPATH": str(spec.parent)})  # noqa: S102 - of our own
        return steps

    return execute


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.stem)
def test_a_spec_names_files_and_modules_that_are_there(steps_of: Any, spec: Path) -> None:
    analysis, _, *programs = steps_of(spec)

    assert analysis.options == contents.analysis_arguments()  # one list for all systems
    scripts = [*analysis.options["scripts"], *analysis.options["runtime_hooks"]]
    sources = [source for source, _ in analysis.options["datas"]]
    assert all(Path(path).exists() for path in [*scripts, *sources])
    for module in analysis.options["hiddenimports"]:
        assert importlib.util.find_spec(module) is not None, module
    assert [entry[0] for entry in analysis.binaries] == ["libQt6Gui.so.6"]
    names = [step.options["name"] for step in programs if step.name == "EXE"]
    assert names == list(contents.PROGRAMS)
    assert programs[len(names)].options["name"] == contents.NAME


@pytest.mark.parametrize(
    ("system", "suffix", "holder"),
    [("windows", ".ico", "EXE"), ("macos", ".icns", "BUNDLE")],
)
def test_icons_are_those_that_the_build_draws(
    steps_of: Any, monkeypatch: pytest.MonkeyPatch, system: str, suffix: str, holder: str
) -> None:
    steps = steps_of(ROOT / "packaging" / f"closertome-{system}.spec")
    used = {Path(step.options["icon"]) for step in steps if step.name == holder}

    assert used == {contents.WORK / "icons" / f"closertome{suffix}"}
    assert f'"closertome{suffix}"' in Path(icons.__file__).read_text(encoding="utf-8")


def test_only_ctm_has_a_console_where_programs_are_of_two_kinds(steps_of: Any) -> None:
    for system in ("windows", "macos"):
        steps = steps_of(ROOT / "packaging" / f"closertome-{system}.spec")
        consoles = {s.options["name"]: s.options["console"] for s in steps if s.name == "EXE"}

        assert consoles == {"ctm": True, "ctm-gui": False}


def test_the_bundle_of_macos_has_id_version_program_and_file_type(steps_of: Any) -> None:
    bundle = steps_of(ROOT / "packaging" / "closertome-macos.spec")[-1]
    description = ROOT / "packaging" / "linux" / "closertome.metainfo.xml.in"
    plist = bundle.options["info_plist"]

    assert bundle.options["version"] == __version__
    assert f"<id>{bundle.options['bundle_identifier']}</id>" in description.read_text("utf-8")
    assert plist["CFBundleExecutable"] in contents.PROGRAMS
    assert plist["CFBundleDocumentTypes"][0]["CFBundleTypeExtensions"] == ["onnx"]
