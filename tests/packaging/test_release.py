"""What a release has beside the program: manuals, licences, the site, the container."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path

import check_licences
import make_manuals
import make_site
import pytest

from predictor import __version__

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def manuals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the command writes."""
    folder = tmp_path_factory.mktemp("manuals")
    make_manuals.write_manuals(folder)
    return folder


def test_the_man_page_has_every_command_and_option(manuals: Path) -> None:
    page = (manuals / "ctm.1").read_text(encoding="utf-8").replace("\\-", "-")

    assert f"CloserToMe {__version__}" in page
    for title in ("ctm predict", "ctm probe run", "ctm devices show", "ctm store info"):
        assert f'.SS "{title}"' in page
    for words, parser in make_manuals.commands():
        for names, _, _ in make_manuals.options_of(parser):
            assert all(name in page for name in names), words


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash completes")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ctm pre", "predict"),
        ("ctm predict --budget", "--budget-ms"),
        ("ctm probe fle", "fleet"),
        ("ctm devices show --js", "--json"),
    ],
)
def test_bash_completes_commands_and_options(manuals: Path, line: str, expected: str) -> None:
    words = line.split()
    script = (
        f'source "{manuals / "ctm.bash"}"; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; '
        '_ctm; echo "${COMPREPLY[@]}"'
    )

    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.split() == [expected]


def test_completions_of_other_shells_name_the_commands(manuals: Path) -> None:
    assert (manuals / "_ctm").read_text(encoding="utf-8").startswith("#compdef ctm\n")
    assert "-l budget-ms" in (manuals / "ctm.fish").read_text(encoding="utf-8")


def test_every_bundled_file_has_its_licence() -> None:
    assert list(check_licences.problems(check_licences.rows())) == []


def test_a_file_without_a_licence_is_named() -> None:
    table = [row for row in check_licences.rows() if row["pattern"] != "resources/*"]

    missing = list(check_licences.problems(table))

    assert any(line.startswith("resources/deployments.json has no licence") for line in missing)


def test_no_link_of_the_documentation_is_dead() -> None:
    assert len(make_site.pages()) > 80
    assert make_site.dead_links() == []


def test_a_dead_link_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page.md").write_text("# One `two`\n[a](#one-two) [b](#three) [c](gone.md)")
    monkeypatch.setattr(make_site, "ROOT", tmp_path)
    monkeypatch.setattr(make_site, "pages", lambda: [Path("page.md")])

    assert make_site.dead_links() == ["page.md: #three", "page.md: gone.md"]


def test_the_container_leaves_out_what_the_window_needs_alone() -> None:
    text = (ROOT / "packaging" / "Containerfile").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    (line,) = [line for line in text.splitlines() if "pip uninstall" in line]
    names = {"pyside6-essentials", "pyqtgraph"}
    assert names <= set(line.split())
    assert all(any(need.startswith(name) for need in project["dependencies"]) for name in names)
