"""Writes the site into a folder: pages, their Markdown, images, shared files, llms.txt."""

import gzip
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from docsite import pages, render, search, template
from docsite.pages import Page, Site
from docsite.template import Files

WEB = Path("web")
# The files of the typefaces in the built console.
FONTS = {
    "Inter Variable": "inter-latin-wght",
    "JetBrains Mono Variable": "jetbrains-mono-latin-wght",
}
# Below this size a compressed file takes as many packets.
SMALL = 1024
COMPRESSED = (".html", ".md", ".txt", ".css", ".js", ".svg")


def build(root: Path, console: Path, out: Path, console_address: str = "") -> None:
    site = pages.read(root.resolve())
    files = _shared(root, console, out, site, console_address)
    for page in site.order:
        _write(out / f"{page.name}.html", _page(site, page, files))
        _write(out / f"{page.name}.md", markdown(site, page))
        for path in _images(site, page):
            _copy(path, out / path.relative_to(site.root / "docs"))
    _write(out / "404.html", _missing(site, files))
    _write(out / "llms.txt", llms(site))


def _page(site: Site, page: Page, files: Files) -> str:
    return template.page_html(site, page, render.body(site, page), files)


def _missing(site: Site, files: Files) -> str:
    return _page(site, Page(site.root / WEB / "docs" / "404.md", "404"), files)


def markdown(site: Site, page: Page) -> str:
    """The source without the comments for the tests, and with links that work here."""
    text = re.sub(r"^ *<!--.*?-->\n", "", page.text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"(\]\()([^)\s]+)(\))", lambda match: _moved(site, page, match), text)


def _moved(site: Site, page: Page, match: re.Match[str]) -> str:
    path, hash_sign, anchor = match[2].partition("#")
    target = site.target(page, path) if path else None
    if target is None:
        return match[0]
    return f"{match[1]}{page.link(target.name + '.md')}{hash_sign}{anchor}{match[3]}"


def llms(site: Site) -> str:
    """An overview for language models: https://llmstxt.org."""
    first = site.named("index")
    lines = [f"# {first.title}", "", f"> {first.summary}", "", "## Start", ""]
    lines += [_llms_line(page) for page in site.first[1:]]
    for section in site.sections:
        title = "Optional" if section.index.section == "contributing" else section.index.title
        entries = dict.fromkeys(page for group in section.groups for page in group.pages)
        lines += ["", f"## {title}", "", *map(_llms_line, entries)]
    lines += [_llms_line(page) for page in site.last]
    return "\n".join(lines) + "\n"


def _llms_line(page: Page) -> str:
    return f"- [{page.title}]({page.name}.md): {page.summary}"


def _images(site: Site, page: Page) -> Iterator[Path]:
    for token in page.tokens:
        for child in token.children or []:
            if child.type == "image":
                yield from render.images(site, page, child)


def _shared(root: Path, console: Path, out: Path, site: Site, console_address: str) -> Files:
    web = root / WEB
    fonts = {family: _font(console, out, name) for family, name in FONTS.items()}
    style = "\n".join(
        [
            *(_font_face(family, Path(name).name) for family, name in fonts.items()),
            (web / "src" / "tokens.css").read_text(),
            (web / "docs" / "site.css").read_text(),
        ]
    )
    return Files(
        style=_asset(out, "site.css", style.encode()),
        theme=_asset(out, "theme.js", (web / "public" / "theme.js").read_bytes()),
        script=_asset(out, "site.js", (web / "docs" / "site.js").read_bytes()),
        search=_asset(out, "search.js", search.index(site).encode()),
        icon=_asset(out, "icon.svg", (web / "public" / "favicon.svg").read_bytes()),
        font=fonts["Inter Variable"],
        console=console_address,
        version=_version(root),
    )


def _font(console: Path, out: Path, name: str) -> str:
    (path,) = (console / "assets").glob(f"{name}-normal-*.woff2")
    return _asset(out, f"{name}.woff2", path.read_bytes())


def _font_face(family: str, file: str) -> str:
    return (
        f'@font-face {{ font-family: "{family}"; src: url("{file}") format("woff2");'
        " font-weight: 100 900; font-display: swap; }"
    )


def _asset(out: Path, name: str, data: bytes) -> str:
    """The name contains the digest of the content, so that it can be cached permanently."""
    stem, _, suffix = name.rpartition(".")
    path = f"assets/{stem}-{hashlib.sha256(data).hexdigest()[:10]}.{suffix}"
    (out / "assets").mkdir(parents=True, exist_ok=True)
    (out / path).write_bytes(data)
    return path


def _version(root: Path) -> str:
    text = (root / "src" / "belvedere" / "__init__.py").read_text()
    version = re.search(r'__version__ = "([^"]+)"', text)
    assert version is not None, "src/belvedere/__init__.py has no version"
    return version[1]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _copy(source: Path, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(source.read_bytes())


def pack(out: Path) -> None:
    """Replace text files by compressed ones, as the server reads them."""
    for path in sorted(out.rglob("*")):
        if path.suffix in COMPRESSED and path.stat().st_size >= SMALL:
            # Without a time, so that two builds are equal.
            path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
            path.unlink()
