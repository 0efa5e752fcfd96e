"""The documentation site: every page is reachable, and every link, anchor and file exists."""

import posixpath
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from docsite import pages, render, search
from docsite.build import build, pack

ROOT = Path(__file__).parents[2]
SITE = pages.read(ROOT)


class _Reader(HTMLParser):
    """The links and ids of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.attributes |= set(values)
        for name in ("href", "src", "data-index"):
            if values.get(name):
                self.links.append(str(values[name]))
        if values.get("id"):
            self.ids.append(str(values["id"]))


@pytest.fixture(scope="module")
def site_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(tmp_path_factory)


def _build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    fonts = tmp_path_factory.mktemp("console") / "assets"
    fonts.mkdir()
    for name in ("inter-latin-wght", "jetbrains-mono-latin-wght"):
        (fonts / f"{name}-normal-1.woff2").write_bytes(b"wOF2")
    build(ROOT, fonts.parent, folder)
    return folder


@pytest.fixture(scope="module")
def read(site_folder: Path) -> dict[str, _Reader]:
    return {
        path.relative_to(site_folder).as_posix(): _Reader(path.read_text())
        for path in site_folder.rglob("*.html")
    }


def test_the_site_has_all_pages(read: dict[str, _Reader]) -> None:
    assert {"index.html", "quickstart.html", "howto/index.html", "404.html"} <= set(read)
    assert len(read) > 80


def test_every_page_is_in_the_navigation() -> None:
    missing = {page.name for page in SITE.pages.values()} - {page.name for page in SITE.order}
    assert missing == set(), "link these pages from the index of their folder"


def test_every_link_and_anchor_resolves(site_folder: Path, read: dict[str, _Reader]) -> None:
    dead = [
        f"{name}: {link}"
        for name in read
        for link in read[name].links
        if _is_dead(site_folder, read, name, link)
    ]
    assert dead == []


def _is_dead(out: Path, read: dict[str, _Reader], name: str, link: str) -> bool:
    if re.match(r"[a-z]+:", link):
        return False
    path, _, anchor = link.partition("#")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
    if not (out / target).is_file():
        return True
    return bool(anchor) and anchor not in read[target].ids


def test_links_of_the_markdown_sources_resolve(site_folder: Path) -> None:
    for path in site_folder.rglob("*.md"):
        text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
        for link in re.findall(r"\]\((?!https?:)([^)\s#]+\.md)", text):
            assert (path.parent / link).exists() or "src/" in link, f"{path}: {link}"


def test_ids_are_unique(read: dict[str, _Reader]) -> None:
    for name, page in read.items():
        assert len(page.ids) == len(set(page.ids)), name


def test_no_page_needs_another_host_or_an_inline_script(
    site_folder: Path, read: dict[str, _Reader]
) -> None:
    for name, page in read.items():
        assert not {"style", "onclick", "onload"} & page.attributes, name
        text = (site_folder / name).read_text()
        assert not re.search(r"<script(?![^>]* src=)|<style|<!--", text), name
        assert not re.search(r'(?:src|data-index)="(?:[a-z]+:|//)', text), name


def test_a_page_has_its_markdown_without_marks_of_the_tests(site_folder: Path) -> None:
    for page in SITE.order:
        text = (site_folder / f"{page.name}.md").read_text()
        assert f"# {page.title.split('`')[0]}"[:10] in text, page.name
        assert "<!-- " not in text, page.name


def test_llms_txt_names_every_page_once(site_folder: Path) -> None:
    names = re.findall(
        r"^- \[.+\]\((.+)\.md\): ", (site_folder / "llms.txt").read_text(), re.MULTILINE
    )
    indexes = {"index", *(section.index.name for section in SITE.sections)}
    assert sorted(names) == sorted({page.name for page in SITE.order} - indexes)


def test_the_search_index_has_every_section() -> None:
    page = SITE.named("howto/watch-a-website")
    parts = list(search.sections(page))
    assert parts[0][:2] == ("", page.title)
    entries = [part for other in SITE.order for part in search.sections(other)]
    assert all(title for _, title, _ in entries) and len(entries) > 500


def test_the_copied_text_of_a_session_has_only_its_commands() -> None:
    session = "$ cat > x <<END\none\nEND\n$ run \\\n  x\noutput & more\n"
    block = render.code_block("console", session)
    assert 'data-copy="cat &gt; x &lt;&lt;END\none\nEND\nrun \\\n  x"' in block
    assert '<span class="output">output &amp; more</span>' in block
    assert "data-copy" not in render.code_block("sh", "belvedere up\n")


def test_images_exist_in_both_themes(site_folder: Path) -> None:
    text = (site_folder / "reference" / "console.html").read_text()
    assert 'class="light"' in text and 'class="dark"' in text


def test_two_builds_are_equal(
    site_folder: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Also packed: neither the time nor the order of the files of a folder changes a byte."""
    other = _build(tmp_path_factory)
    assert _files(other) == _files(site_folder)
    copy = shutil.copytree(site_folder, tmp_path / "copy")
    pack(copy)
    pack(other)
    assert _files(copy) == _files(other)
    assert any(other.rglob("*.html.gz"))


def _files(folder: Path) -> dict[str, bytes]:
    """The content of every file below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_packed_text_is_small(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "page.html").write_text("text " * 1000)
    (tmp_path / "small.txt").write_text("text")
    pack(tmp_path)
    (packed,) = (tmp_path / "a").iterdir()
    assert packed.name == "page.html.gz" and packed.stat().st_size < 100
    assert (tmp_path / "small.txt").exists()


def test_every_picture_is_on_a_page_in_both_themes(
    site_folder: Path, read: dict[str, _Reader]
) -> None:
    links = {posixpath.basename(link) for page in read.values() for link in page.links}
    pictures = {path.name for path in (ROOT / "docs" / "img").glob("console-*.png")}
    assert pictures and pictures <= links
