"""Build the documentation as a site, from the Markdown of the checkout.

    python packaging/make_site.py FOLDER

Needs what packaging/site.txt names. A dead link stops it, as the test of the suite does.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from contents import PACKAGING, ROOT

PAGES = ("docs", "research/docs")
TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "research/README.md")
LINK = re.compile(r"(?<!\!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ +(?P<title>.+?) *$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    """Return all pages, relative to the checkout."""
    folders = [path for folder in PAGES for path in sorted((ROOT / folder).rglob("*.md"))]
    top = [ROOT / name for name in TOP if name.endswith(".md")]
    return [path.relative_to(ROOT) for path in (*top, *folders)]


def dead_links() -> list[str]:
    """Return each link of a page that leads nowhere in the checkout, with its page."""
    dead: list[str] = []
    for page in pages():
        text = FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
        for match in LINK.finditer(text):
            target, _, anchor = match["target"].partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            path = (ROOT / page.parent / target).resolve() if target else ROOT / page
            if not path.exists() or (anchor and anchor not in anchors(path)):
                dead.append(f"{page}: {match['target']}")
    return dead


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page, as GitHub makes them of its headings."""
    if path.suffix != ".md":
        return set()
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    return {slug(match["title"]) for match in HEADING.finditer(text)}


def slug(title: str) -> str:
    """Return the anchor of a heading."""
    plain = LINK.sub(lambda match: match[0][1 : match[0].index("]")], title).replace("`", "")
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def collect(folder: Path) -> None:
    """Copy the pages and what they show into a folder, at the places that their links expect."""
    for name in TOP:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for name in PAGES:
        shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True)


def build(output: Path) -> int:
    """Build the site and return the exit code."""
    dead = dead_links()
    if dead:
        print("\n".join(dead), file=sys.stderr)
        return 2
    if importlib.util.find_spec("mkdocs") is None:
        print("mkdocs is not installed: pip install -r packaging/site.txt", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory(prefix="ctm-site-") as name:
        folder = Path(name)
        collect(folder / "pages")
        configuration = (PACKAGING / "site.yml").read_text(encoding="utf-8")
        configuration += f"docs_dir: pages\nsite_dir: {output.resolve()}\n"
        (folder / "mkdocs.yml").write_text(configuration, encoding="utf-8")
        command = [sys.executable, "-m", "mkdocs", "build", "--quiet"]
        return subprocess.run(command, cwd=folder, check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python packaging/make_site.py FOLDER")
    sys.exit(build(Path(sys.argv[1])))
