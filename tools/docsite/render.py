"""One page as HTML: links, anchors, code blocks, tables and images as the site needs them."""

import posixpath
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from docsite.pages import PARSER, Page, Site, headings

RENDERER = RendererHTML()
HEREDOC = re.compile(r"<<'?(\w+)'?")
_SCHEME = re.compile(r"^[a-z]+:")
_ALIGNED = re.compile(r"text-align:(\w+)")


def body(site: Site, page: Page) -> str:
    anchors = iter(list(headings(page.tokens)))
    tokens = [
        token for token in page.tokens if token.type != "html_block" or _is_shown(token.content)
    ]
    parts: list[str] = []
    for position, token in enumerate(tokens):
        if token.type == "heading_open":
            level, anchor, title = next(anchors)
            parts.append(_heading_open(level, anchor))
        elif token.type == "heading_close":
            parts.append(_heading_close(int(token.tag[1]), anchor, title))
        elif token.type == "inline":
            parts.append(_inline(site, page, token))
        elif token.type == "fence":
            parts.append(code_block(token.info.partition(" ")[0], token.content))
        else:
            parts.append(_block(tokens, position))
    return "".join(parts)


def _is_shown(html: str) -> bool:
    """Comments mark what the tests execute."""
    return not html.lstrip().startswith("<!--")


def _heading_open(level: int, anchor: str) -> str:
    return f'<h{level} id="{escape(anchor)}">'


def _heading_close(level: int, anchor: str, title: str) -> str:
    if level == 1:
        return "</h1>\n"
    label = escape(f"Link to {title}")
    return f'<a class="anchor" href="#{escape(anchor)}" aria-label="{label}">#</a></h{level}>\n'


def _block(tokens: list[Token], position: int) -> str:
    token = tokens[position]
    if token.type == "table_open":
        return '<div class="table"><table>\n'
    if token.type == "table_close":
        return "</table></div>\n"
    # The policy allows no inline style.
    aligned = _ALIGNED.search(str(token.attrs.pop("style", "")))
    if aligned is not None:
        token.attrs["class"] = aligned[1]
    return RENDERER.render([token], PARSER.options, {})


def _inline(site: Site, page: Page, inline: Token) -> str:
    parts: list[str] = []
    closings: list[str] = []
    for child in inline.children or []:
        if child.type == "link_open":
            opening, closing = _link(site, page, str(child.attrs["href"]))
            parts.append(opening)
            closings.append(closing)
        elif child.type == "link_close":
            parts.append(closings.pop())
        elif child.type == "image":
            parts.append(_image(site, page, child))
        else:
            parts.append(_text(child))
    return "".join(parts)


def _text(child: Token) -> str:
    return RENDERER.renderInline([child], PARSER.options, {})


def _link(site: Site, page: Page, href: str) -> tuple[str, str]:
    if _SCHEME.match(href):
        return f'<a href="{escape(href)}" rel="noreferrer">', "</a>"
    path, _, anchor = href.partition("#")
    target = site.target(page, path) if path else page
    if target is None:
        # Source code is not part of the site.
        place = posixpath.normpath((page.source.parent / path).relative_to(site.root).as_posix())
        return f'<span class="source" title="{escape(place)}">', "</span>"
    address = page.link(f"{target.name}.html") if path else ""
    return f'<a href="{escape(address)}{"#" + escape(anchor) if anchor else ""}">', "</a>"


def images(site: Site, page: Page, token: Token) -> Iterator[Path]:
    """The file of an image, and its variant for the dark theme, if there is one."""
    path = (page.source.parent / str(token.attrs["src"])).resolve()
    yield path
    dark = path.with_name(f"{path.stem}-dark{path.suffix}")
    if dark.exists():
        yield dark


def _image(site: Site, page: Page, token: Token) -> str:
    names = [path.relative_to(site.root / "docs").as_posix() for path in images(site, page, token)]
    classes = ["light", "dark"] if len(names) > 1 else [""]
    return "".join(
        f"<img{_attributes(src=page.link(name), alt=token.content, loading='lazy', **of_theme)}>"
        for name, of_theme in zip(names, ({"class": c} if c else {} for c in classes), strict=True)
    )


def _attributes(**values: Any) -> str:
    return "".join(f' {name}="{escape(str(value))}"' for name, value in values.items())


def code_block(language: str, text: str) -> str:
    """With `$ ` before the commands, the copy button copies only those."""
    lines = text.rstrip("\n").split("\n")
    is_session = any(line.startswith("$ ") for line in lines)
    commands = list(_commands(lines)) if is_session else []
    copied = "\n".join(line.removeprefix("$ ") for _, line in commands)
    rows = {position for position, _ in commands}
    shown = (_line(line, at in rows) for at, line in enumerate(lines))
    attribute = f' data-copy="{escape(copied)}"' if copied else ""
    label = f' data-language="{escape(language)}"' if language else ""
    return (
        f'<div class="code"{attribute}{label}><pre><code>'
        + ("\n".join(shown) if is_session else escape(text.rstrip("\n"), quote=False))
        + "</code></pre></div>\n"
    )


def _commands(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The lines of commands: after a prompt, a backslash or a pipe, and of a here-document."""
    end, goes_on = "", False
    for position, line in enumerate(lines):
        if end:
            yield position, line
            end = "" if line == end else end
        elif line.startswith("$ ") or goes_on:
            yield position, line
            heredoc = HEREDOC.search(line)
            end = heredoc[1] if heredoc else ""
            goes_on = line.endswith(("\\", "|"))


def _line(line: str, is_command: bool) -> str:
    if not is_command:
        return f'<span class="output">{escape(line, quote=False)}</span>' if line else ""
    prompt = '<span class="prompt">$ </span>' if line.startswith("$ ") else ""
    return prompt + escape(line.removeprefix("$ "), quote=False)
