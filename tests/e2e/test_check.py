"""``ctm check`` in a real git repository: the action's script, the hook, what it writes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from predictor import __version__

Run = Callable[..., subprocess.CompletedProcess[str]]
PARTS = Path(__file__).resolve().parents[2] / "packaging" / "repository"
BUDGET = """\
[[check]]
models = "models/*.onnx"
targets = ["rpi5/ncnn/fp32/t4", "jetson-orin-nano-gpu"]
max_ms = 100
max_growth_percent = 5
"""


@pytest.fixture
def repository(tmp_path: Path, mobilenet: Path) -> Path:
    """A repository with a model and its budget, committed; its scripts find ``ctm``."""
    folder = tmp_path / "repository"
    (folder / "models").mkdir(parents=True)
    shutil.copy(mobilenet, folder / "models" / "net.onnx")
    (folder / "ctm-budget.toml").write_text(BUDGET, encoding="utf-8")
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "ctm"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m predictor.cli "$@"\n', "utf-8")
    program.chmod(0o755)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "A model and its budget")
    return folder


def environment(folder: Path) -> dict[str, str]:
    root = PARTS.parents[1]
    names = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
             "GIT_COMMITTER_EMAIL": "a@b", "GIT_CONFIG_GLOBAL": os.devnull}  # fmt: skip
    path = f"{folder.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    # A hook of our own repository would lead git to it.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | names | {"PATH": path, "PYTHONPATH": str(root), "HOME": str(folder.parent)}


def run(folder: Path, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=environment(folder) | more, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip


def git(folder: Path, *arguments: str) -> str:
    done = run(folder, "git", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
def test_the_action_holds_a_pull_request_against_its_base(
    repository: Path, distilbert: Path
) -> None:
    base = git(repository, "rev-parse", "HEAD")
    action = (PARTS / "action.yml").read_text(encoding="utf-8")
    assert 'run: sh "$GITHUB_ACTION_PATH/check.sh"' in action
    assert not re.search(r"run:.*\$\{\{", action), "inputs reach scripts by the environment alone"
    settings = {"GITHUB_STEP_SUMMARY": str(repository.parent / "summary.md"), "CTM_BASE": base,
                "CTM_BUDGET": "ctm-budget.toml", "CTM_JUNIT": "ctm-check.xml"}  # fmt: skip

    same = run(repository, "sh", str(PARTS / "check.sh"), **settings)
    assert same.returncode == 0, same.stderr
    assert same.stdout.startswith("2 checks passed.")

    # The pull request exchanges the model for one that takes far longer.
    shutil.copy(distilbert, repository / "models" / "net.onnx")
    grown = run(repository, "sh", str(PARTS / "check.sh"), **settings)
    assert grown.returncode == 1, grown.stderr
    summary = Path(settings["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8")
    assert summary.count("## Latency budgets") == 2, "one run after the other"
    assert re.search(r"\*\*over\*\* \| models/net.onnx .* it grew by", summary)
    suite = ET.parse(repository / "ctm-check.xml").getroot()  # noqa: S314 - of our own
    assert int(suite.get("failures", "0")) >= 1
    assert git(repository, "worktree", "list").count("\n") == 0, "the base's checkout is gone"


# In place of GitHub's: writes its calls down, and the body; the comments are those of a file.
GH = """#!/bin/sh
echo "$*" >>calls
for word; do
    case $word in body=@*) cat "${word#body=@}" >body ;; esac
done
[ ! -e refused ] || exit 1
case $* in *--jq*) cat comments ;; esac
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
def test_the_table_becomes_a_comment_of_the_pull_request(repository: Path, tmp_path: Path) -> None:
    table, hub = tmp_path / "comment.md", tmp_path / "bin" / "gh"
    hub.write_text(GH, "utf-8")
    hub.chmod(0o755)
    place = tmp_path / "hub"
    place.mkdir()
    settings = {
        "CTM_BASE": git(repository, "rev-parse", "HEAD"),
        "CTM_COMMENT": str(table),
        "CTM_PULL_REQUEST": "7",
        "GH_REPO": "a/b",
    }

    def comment(before: str) -> tuple[subprocess.CompletedProcess[str], str]:
        (place / "calls").unlink(missing_ok=True)
        (place / "comments").write_text(before, "utf-8")
        done = run(place, "sh", str(PARTS / "comment.sh"), **settings)
        calls = (place / "calls").read_text("utf-8") if (place / "calls").exists() else ""
        return done, calls.partition("\n")[2].partition(" --silent")[0]

    checked = run(repository, "sh", str(PARTS / "check.sh"), **settings)
    assert checked.returncode == 0, checked.stderr
    _, first = comment("")
    _, second = comment("https://api.github.com/c/5\nhttps://api.github.com/c/9\n")
    (place / "refused").touch()
    refused, _ = comment("")
    text = table.read_text("utf-8")
    table.unlink()
    without, no_call = comment("")

    assert "| Growth |" in text
    assert "0 %" in text
    assert (place / "body").read_text("utf-8") == f"<!-- ctm-check -->\n{text}"
    assert first == "api --method POST repos/a/b/issues/7/comments"
    assert second == "api --method PATCH https://api.github.com/c/5"
    # A comment that is refused fails nothing.
    assert (refused.returncode, without.returncode, no_call) == (0, 0, "")
    assert "could not be written" in refused.stderr


def test_what_the_recipes_run_is_there() -> None:
    action = (PARTS / "action.yml").read_text("utf-8")
    gitlab = (PARTS / "gitlab-ci.yml").read_text("utf-8")

    scripts = set(re.findall(r"[a-z]+\.sh\b", action + gitlab))
    assert scripts == {path.name for path in PARTS.glob("*.sh")}
    assert f"closertome-{__version__}-" in gitlab


def test_the_hook_keeps_a_model_over_its_budget_out(repository: Path) -> None:
    hook = repository / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    shutil.copy(PARTS / "pre-commit", hook)
    hook.chmod(0o755)
    (repository / "notes.txt").write_text("no model", encoding="utf-8")
    git(repository, "add", "notes.txt")
    git(repository, "commit", "--quiet", "-m", "Notes")

    budget = repository / "ctm-budget.toml"
    budget.write_text(BUDGET.replace("max_ms = 100", "max_ms = 0.5"), encoding="utf-8")
    git(repository, "add", "ctm-budget.toml")
    refused = run(repository, "git", "commit", "-m", "A tight budget")
    assert refused.returncode == 1
    assert "ms is over 0.5 ms" in refused.stdout + refused.stderr
    config = (PARTS / "pre-commit-config.yaml").read_text(encoding="utf-8")
    assert "entry: ctm --quiet check ctm-budget.toml" in config


def test_the_document_of_one_run_is_the_base_of_another(
    ctm: Run, repository: Path, tmp_path: Path
) -> None:
    budget, saved = repository / "ctm-budget.toml", tmp_path / "base.json"
    first = ctm("check", budget, "--save", saved, "--json")
    assert first.returncode == 0, first.stderr
    assert json.loads(first.stdout) == json.loads(saved.read_text(encoding="utf-8"))
    second = json.loads(ctm("check", budget, "--base", saved, "--json").stdout)
    assert second["schema"] == "ctm-check/1"
    assert second["passed"]
    assert [row["base_ms"] == row["latency_ms"] for row in second["checks"]] == [True, True]
    assert {row["model"] for row in second["checks"]} == {"models/net.onnx"}


def test_what_cannot_be_checked_is_2_and_the_rest_is_done(ctm: Run, repository: Path) -> None:
    (repository / "models" / "broken.onnx").write_bytes(b"no model")
    report = repository / "report.xml"
    done = ctm("check", repository / "ctm-budget.toml", "--junit", report)
    assert done.returncode == 2
    assert "broken.onnx" in done.stderr
    assert done.stdout.startswith("1 without a number of 3 checks.")
    assert ET.parse(report).getroot().get("errors") == "1"  # noqa: S314 - of our own


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("max_ms", "max ms"), "line 4: it is no TOML"),
        (("rpi5/ncnn", "no-such-board/ncnn"), "line 1, targets: no-such-board"),
        (("models/*.onnx", "other/*.onnx"), "no model matches this pattern"),
    ],
)
def test_a_wrong_file_is_one_sentence(
    ctm: Run, repository: Path, change: tuple[str, str], words: str
) -> None:
    budget = repository / "ctm-budget.toml"
    budget.write_text(BUDGET.replace(*change), encoding="utf-8")
    done = ctm("check", budget)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
