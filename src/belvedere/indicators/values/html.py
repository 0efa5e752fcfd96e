"""HTML from outside, made harmless on its way in. What is kept needs no trust any more."""

import re
from collections import Counter
from html import unescape

import nh3

from belvedere.rest import text_fields

MAX_HTML = 32 * 1024
# Deeper is nothing that people look at, and slow to read.
MAX_DEPTH = 256
# Escaping can make a text longer.
MAX_KEPT = 64 * 1024
# What people write texts, lists and tables with; nothing that asks, plays, frames or loads.
_TEXT = {"a", "abbr", "b", "br", "code", "del", "dfn", "em", "i", "img", "ins", "kbd", "mark"}
_MORE = {"q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "u", "var"}
_BLOCKS = {"blockquote", "dd", "div", "dl", "dt", "figcaption", "figure", "hr", "li", "ol", "p"}
_HEADS = {"pre", "ul", "h1", "h2", "h3", "h4", "h5", "h6"}
_TABLES = {"caption", "col", "colgroup", "table", "tbody", "td", "tfoot", "th", "thead", "tr"}
TAGS = _TEXT | _MORE | _BLOCKS | _HEADS | _TABLES
_EVERYWHERE = {"style", "title", "dir", "lang"}
_ATTRIBUTES = {
    "*": _EVERYWHERE,
    "a": {"href"},
    "img": {"src", "alt", "width", "height"},
    "ol": {"start"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
}
# None of them takes an address or moves anything over something else.
_STYLES = {"background-color", "color", "font-size", "font-style", "font-weight", "line-height"}
_SPACES = {"margin", "padding", "text-align", "text-decoration", "vertical-align", "white-space"}
_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*")
_LINK = re.compile(r"(https?|mailto):", re.IGNORECASE)
# They close themselves, or the next of them does.
_UNNESTED = frozenset(["br", "col", "dd", "dt", "hr", "img", "li", "p", "td", "th", "tr", "wbr"])
_OPENS = re.compile(r"<(/?)([a-z][a-z0-9]*)", re.IGNORECASE)


def _attribute(tag: str, name: str, value: str) -> str | None:
    """Pictures stand in the text itself, so that showing one tells nobody; links lead elsewhere."""
    if name == "src":
        return value if _PICTURE.fullmatch(value) else None
    if name == "href":
        return value if _LINK.match(value) else None
    return value


def kept(given: object) -> str:
    """What of it is harmless; scripts, styles, frames and forms are gone with what they hold."""
    if not isinstance(given, str):
        raise text_fields.bad("value", "An html takes a string.")
    text = text_fields.prose("value", given, most=MAX_HTML)
    if _depth(text) > MAX_DEPTH:
        raise text_fields.bad("value", f"The html is nested more than {MAX_DEPTH} deep.")
    clean = nh3.clean(
        text,
        tags=TAGS,
        clean_content_tags={"script", "style", "title", "iframe", "object", "svg", "math"},
        attributes=_ATTRIBUTES,
        attribute_filter=_attribute,
        filter_style_properties=_STYLES | _SPACES | {"width"},
        url_schemes={"http", "https", "mailto", "data"},
        url_relative="deny",
        # Whoever follows a link leaves the tile, not the page around it.
        set_tag_attribute_values={"a": {"target": "_blank"}},
        link_rel="noopener noreferrer",
    )
    if len(clean) > MAX_KEPT:
        raise text_fields.bad("value", f"Give at most {MAX_HTML} characters.")
    return clean


def _depth(text: str) -> int:
    """How deep it can be at most, counted by name: what closes nothing makes nothing shallower."""
    opened: Counter[str] = Counter()
    deepest = 0
    for closes, name in _OPENS.findall(text):
        if name.lower() in _UNNESTED:
            continue
        opened[name.lower()] = max(0, opened[name.lower()] + (-1 if closes else 1))
        deepest = max(deepest, opened.total())
    return deepest


def plain(clean: str) -> str:
    """Its words in one line."""
    spaced = re.sub(r"<(br|/?(p|div|li|tr|td|th|h[1-6]))\b", r" <\1", clean)
    return " ".join(unescape(nh3.clean(spaced, tags=set())).split())
