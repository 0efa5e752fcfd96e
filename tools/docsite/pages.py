"""The pages of the site, and the navigation, which is read from the index pages."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

PARSER = MarkdownIt("commonmark").enable("table")
SECTIONS = ("howto", "reference", "explanation", "contributing")
# Pages outside of docs/ that its pages link to.
OUTSIDE = {
    "CHANGELOG.md": "changelog",
    "SECURITY.md": "security",
    "CONTRIBUTING.md": "contributing/changes",
    "tests/README.md": "contributing/tests",
}
_NO_WORD = re.compile(r"[^\w\- ]")


@dataclass(frozen=True)
class Page:
    """One page: its source, and its address without the suffix."""

    source: Path
    name: str

    @cached_property
    def text(self) -> str:
        return self.source.read_text()

    @cached_property
    def tokens(self) -> list[Token]:
        return PARSER.parse(self.text)

    @cached_property
    def title(self) -> str:
        return next(title for level, _, title in headings(self.tokens) if level == 1)

    @cached_property
    def summary(self) -> str:
        """The first sentence after the title."""
        texts = (plain_text(token) for token in paragraphs(self.tokens))
        return re.split(r"(?<=[.:]) ", next(texts, ""))[0].replace("\n", " ").rstrip(":")

    @property
    def section(self) -> str:
        return self.name.partition("/")[0] if "/" in self.name else ""

    def link(self, name: str) -> str:
        """The address of another file of the site, relative to this page."""
        return posixpath.relpath(name, posixpath.dirname(self.name) or ".")


@dataclass(frozen=True)
class Group:
    title: str
    pages: list[Page] = field(default_factory=list)


@dataclass(frozen=True)
class Section:
    index: Page
    groups: list[Group]


@dataclass(frozen=True)
class Site:
    root: Path
    pages: dict[Path, Page]

    @cached_property
    def sections(self) -> list[Section]:
        return [self._section(self.named(f"{name}/index")) for name in SECTIONS]

    @cached_property
    def first(self) -> list[Page]:
        """The pages before the sections."""
        return [self.named("index"), self.named("quickstart")]

    @cached_property
    def last(self) -> list[Page]:
        return [self.named("changelog"), self.named("security")]

    @cached_property
    def order(self) -> list[Page]:
        """All pages in the order of the navigation."""
        inner = [
            page
            for section in self.sections
            for page in (section.index, *(page for group in section.groups for page in group.pages))
        ]
        return list(dict.fromkeys([*self.first, *inner, *self.last]))

    def named(self, name: str) -> Page:
        return next(page for page in self.pages.values() if page.name == name)

    def target(self, page: Page, href: str) -> Page | None:
        return self.pages.get((page.source.parent / href).resolve())

    def _section(self, index: Page) -> Section:
        groups = [Group(title, list(pages)) for title, pages in self._lists(index)]
        return Section(index, groups)

    def _lists(self, index: Page) -> Iterator[tuple[str, list[Page]]]:
        """The lists of links of an index page, each with the words above it."""
        title, depth, pages = "", 0, list[Page]()
        for token in index.tokens:
            depth += (token.type == "bullet_list_open") - (token.type == "bullet_list_close")
            if token.type == "inline" and depth:
                pages += self._linked(index, token)
            elif token.type == "inline":
                title = _label(token)
            elif token.type == "bullet_list_close" and not depth:
                yield title, pages
                title, pages = "", []

    def _linked(self, index: Page, token: Token) -> Iterator[Page]:
        for href in links(token):
            page = self.target(index, href.partition("#")[0])
            if page is not None and page.section == index.section:
                yield page
                if page.name.endswith("/index"):
                    yield from self._all_linked(page)

    def _all_linked(self, index: Page) -> Iterator[Page]:
        for token in index.tokens:
            if token.type == "inline":
                yield from self._linked(index, token)


def read(root: Path) -> Site:
    docs = root / "docs"
    sources = {path: path.relative_to(docs).with_suffix("") for path in docs.rglob("*.md")}
    pages = {path.resolve(): Page(path, name.as_posix()) for path, name in sources.items()}
    for name, address in OUTSIDE.items():
        pages[(root / name).resolve()] = Page(root / name, address)
    pages[(root / "README.md").resolve()] = pages[(docs / "index.md").resolve()]
    return Site(root, pages)


def headings(tokens: list[Token]) -> Iterator[tuple[int, str, str]]:
    """Level, anchor and text of every heading; anchors as GitHub makes them."""
    counts: dict[str, int] = {}
    for token, inline in zip(tokens, tokens[1:], strict=False):
        if token.type == "heading_open":
            title = plain_text(inline)
            slug = _NO_WORD.sub("", title.lower()).replace(" ", "-")
            count = counts[slug] = counts.get(slug, -1) + 1
            yield int(token.tag[1]), f"{slug}-{count}" if count else slug, title


def paragraphs(tokens: list[Token]) -> Iterator[Token]:
    for token, inline in zip(tokens, tokens[1:], strict=False):
        if token.type == "paragraph_open" and not token.hidden:
            yield inline


def plain_text(inline: Token) -> str:
    return "".join(
        " " if child.type == "softbreak" else child.content
        for child in inline.children or []
        if child.type in ("text", "code_inline", "softbreak")
    )


def links(inline: Token) -> Iterator[str]:
    for child in inline.children or []:
        if child.type == "link_open":
            yield str(child.attrs["href"])


def _label(inline: Token) -> str:
    """A heading for a list, from the sentence above it."""
    words = plain_text(inline).split(",")[0].rstrip(":")
    return words if len(words) < 30 else ""
