"""The frame around a page: header with search, navigation, contents of the page, footer."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from docsite.pages import Group, Page, Section, Site, headings

# Levels of the headings in "On this page".
CONTENTS = (2, 3)
# With more entries it would not be an overview.
MAX_CONTENTS = 40


@dataclass(frozen=True)
class Files:
    """Names of the shared files, and the address of the console, if the server has one."""

    style: str
    theme: str
    script: str
    search: str
    icon: str
    font: str
    console: str
    version: str


def page_html(site: Site, page: Page, body: str, files: Files) -> str:
    contents = _contents(page)
    return (
        _head(page, f"{page.title} - Belvedere" if page.name != "index" else page.title, files)
        + _header(page, files)
        + '<div class="frame">'
        + _navigation(site, page)
        + f'<main id="site-main" tabindex="-1"><article>{body}</article>'
        + f"{_footer(site, page, files)}</main>"
        + contents
        + "</div></body></html>\n"
    )


def _head(page: Page, title: str, files: Files) -> str:
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n"
        f'<meta name="description" content="{escape(page.summary)}">\n'
        f'<link rel="icon" type="image/svg+xml" href="{page.link(files.icon)}">\n'
        f'<link rel="preload" as="font" type="font/woff2" href="{page.link(files.font)}"'
        " crossorigin>\n"
        f'<link rel="stylesheet" href="{page.link(files.style)}">\n'
        f'<script src="{page.link(files.theme)}"></script>\n'
        f'<script src="{page.link(files.script)}" defer></script>\n'
        "</head>\n<body>\n"
    )


def _header(page: Page, files: Files) -> str:
    console = ""
    if files.console:
        console = f'<a class="to-console" href="{page.link(files.console)}/">Console</a>'
    return (
        '<a class="skip" href="#site-main">Skip to content</a>\n<header class="top">'
        '<button type="button" class="menu" aria-controls="site-navigation" aria-expanded="false"'
        ' aria-label="Menu" hidden>☰</button>'
        f'<a class="brand" href="{page.link("index.html")}">'
        f'<img src="{page.link(files.icon)}" alt="" width="22" height="22">Belvedere'
        "<small>Documentation</small></a>"
        f'<form class="search" role="search" data-index="{page.link(files.search)}"'
        f' data-root="{page.link(".")}/" hidden>'
        '<input type="search" role="combobox" aria-label="Search the documentation"'
        ' placeholder="Search" autocomplete="off" spellcheck="false" aria-expanded="false"'
        ' aria-controls="site-results" aria-autocomplete="list"><kbd aria-hidden="true">/</kbd>'
        '<div id="site-results" class="results" role="listbox" aria-label="Search results" hidden>'
        '</div><p role="status"></p></form>'
        f'{console}<button type="button" class="scheme" aria-label="Switch between light and dark"'
        " hidden></button></header>\n"
    )


def _navigation(site: Site, page: Page) -> str:
    index, *others = site.first
    first = _entry(page, index, "Overview") + "".join(_entry(page, target) for target in others)
    sections = "".join(_section(page, section) for section in site.sections)
    last = "".join(_entry(page, target) for target in site.last)
    return (
        '<nav class="side" id="site-navigation" aria-label="Documentation">'
        f"<ul>{first}</ul>{sections}<ul>{last}</ul></nav>\n"
    )


def _section(page: Page, section: Section) -> str:
    is_open = " open" if page.section == section.index.section else ""
    return (
        f"<details{is_open}><summary>{escape(section.index.title)}</summary>"
        f"<ul>{_entry(page, section.index, 'Overview')}</ul>"
        f"{''.join(_group(page, group) for group in section.groups)}</details>"
    )


def _group(page: Page, group: Group) -> str:
    title = f'<p class="group">{escape(group.title)}</p>' if group.title else ""
    return f"{title}<ul>{''.join(_entry(page, target) for target in group.pages)}</ul>"


def _entry(page: Page, target: Page, title: str = "") -> str:
    current = ' aria-current="page"' if target is page else ""
    address = page.link(f"{target.name}.html")
    return f'<li><a href="{address}"{current}>{escape(title or target.title)}</a></li>'


def _contents(page: Page) -> str:
    entries = [
        f'<li class="level-{level}"><a href="#{escape(anchor)}">{escape(title)}</a></li>'
        for level, anchor, title in headings(page.tokens)
        if level in CONTENTS
    ]
    if not 1 < len(entries) <= MAX_CONTENTS:
        entries = [entry for entry in entries if 'class="level-2"' in entry]
    if not 1 < len(entries) <= MAX_CONTENTS:
        return ""
    return (
        '<aside class="contents" aria-labelledby="site-contents">'
        f"<p id='site-contents'>On this page</p><ul>{''.join(entries)}</ul></aside>\n"
    )


def _footer(site: Site, page: Page, files: Files) -> str:
    version = f"Belvedere {escape(files.version)}"
    if page not in site.order:
        return f"<footer><p>{version}</p></footer>"
    return (
        f'<footer><nav class="neighbours" aria-label="Previous and next page">'
        f"{''.join(_neighbours(site, page))}</nav>"
        f'<p>{version} · <a href="{page.link(page.name + ".md")}">'
        f'This page as Markdown</a> · <a href="{page.link("llms.txt")}">llms.txt</a></p></footer>'
    )


def _neighbours(site: Site, page: Page) -> Iterator[str]:
    position = site.order.index(page)
    for word, at in (("Previous", position - 1), ("Next", position + 1)):
        if 0 <= at < len(site.order):
            target = site.order[at]
            yield (
                f'<a class="{word.lower()}" href="{page.link(target.name + ".html")}">'
                f"<small>{word}</small>{escape(target.title)}</a>"
            )
