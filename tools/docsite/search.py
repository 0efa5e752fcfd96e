"""The search index: the text of every section, which the browser searches."""

import json
from collections.abc import Iterator

from docsite.pages import Page, Site, headings, plain_text

# Levels of headings that can be found separately.
DEPTH = 3


def index(site: Site) -> str:
    """A script, not JSON: a page that was opened as a file cannot fetch another file."""
    pages = [[f"{page.name}.html", page.title, _label(site, page)] for page in site.order]
    entries = [
        [number, anchor, title, text]
        for number, page in enumerate(site.order)
        for anchor, title, text in sections(page)
    ]
    content = json.dumps([pages, entries], ensure_ascii=False, separators=(",", ":"))
    return f"window.searchIndex = {content}\n"


def _label(site: Site, page: Page) -> str:
    indexes = {section.index.section: section.index.title for section in site.sections}
    return indexes.get(page.section, "")


def sections(page: Page) -> Iterator[tuple[str, str, str]]:
    """Anchor, heading and text of the parts of a page."""
    titles = headings(page.tokens)
    anchor, title, texts = "", page.title, list[str]()
    is_heading = False
    for token in page.tokens:
        if token.type == "heading_open":
            level, next_anchor, next_title = next(titles)
            is_heading = level <= DEPTH
            if 1 < level <= DEPTH:
                yield anchor, title, " ".join(texts)
                anchor, title, texts = next_anchor, next_title, []
        elif token.type == "heading_close":
            is_heading = False
        elif token.type == "inline" and not is_heading:
            texts.append(plain_text(token))
        elif token.type == "fence":
            texts.append(" ".join(token.content.split()))
    yield anchor, title, " ".join(texts)
