"""Sanitizing HTML before it is stored, so that stored HTML is safe to show."""

import re
from collections import Counter
from html import unescape

import nh3

from belvedere.rest import text_fields

MAX_HTML = 32 * 1024
# Deeper nesting has no use and is slow to parse.
MAX_DEPTH = 256
# Escaping can make a text longer.
MAX_SANITIZED = 64 * 1024
# Tags for texts, lists and tables; no forms, media, frames or external resources.
_TEXT_TAGS = {"a", "abbr", "b", "br", "code", "del", "dfn", "em", "i", "img", "ins", "kbd", "mark"}
_INLINE_TAGS = {"q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "u", "var"}
_BLOCK_TAGS = {"blockquote", "dd", "div", "dl", "dt", "figcaption", "figure", "hr", "li", "ol", "p"}
_HEADING_TAGS = {"pre", "ul", "h1", "h2", "h3", "h4", "h5", "h6"}
_TABLE_TAGS = {"caption", "col", "colgroup", "table", "tbody", "td", "tfoot", "th", "thead", "tr"}
TAGS = _TEXT_TAGS | _INLINE_TAGS | _BLOCK_TAGS | _HEADING_TAGS | _TABLE_TAGS
_COMMON_ATTRIBUTES = {"style", "title", "dir", "lang"}
_ATTRIBUTES = {
    "*": _COMMON_ATTRIBUTES,
    "a": {"href"},
    "img": {"src", "alt", "width", "height"},
    "ol": {"start"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
}
# No property that takes a URL, or moves an element over another.
_TEXT_STYLES = {
    "background-color",
    "color",
    "font-size",
    "font-style",
    "font-weight",
    "line-height",
}
_LAYOUT_STYLES = {
    "margin",
    "padding",
    "text-align",
    "text-decoration",
    "vertical-align",
    "white-space",
}
_INLINE_IMAGE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*")
_LINK = re.compile(r"(https?|mailto):", re.IGNORECASE)
# Tags that close themselves, or that the next one of them closes.
_UNNESTED = frozenset(["br", "col", "dd", "dt", "hr", "img", "li", "p", "td", "th", "tr", "wbr"])
_TAG = re.compile(r"<(/?)([a-z][a-z0-9]*)", re.IGNORECASE)


def _filter_attribute(tag: str, name: str, value: str) -> str | None:
    """Only inline images, so that showing one sends no request; only absolute links."""
    if name == "src":
        return value if _INLINE_IMAGE.fullmatch(value) else None
    if name == "href":
        return value if _LINK.match(value) else None
    return value


def sanitize(value: object) -> str:
    """The HTML without scripts, styles, frames and forms, including their content."""
    if not isinstance(value, str):
        raise text_fields.invalid_field(
            "value", "Must be a string: the indicator has the type html."
        )
    text = text_fields.prose("value", value, most=MAX_HTML)
    if _depth(text) > MAX_DEPTH:
        raise text_fields.invalid_field(
            "value", f"The HTML is nested more than {MAX_DEPTH} levels deep."
        )
    clean = nh3.clean(
        text,
        tags=TAGS,
        clean_content_tags={"script", "style", "title", "iframe", "object", "svg", "math"},
        attributes=_ATTRIBUTES,
        attribute_filter=_filter_attribute,
        filter_style_properties=_TEXT_STYLES | _LAYOUT_STYLES | {"width"},
        url_schemes={"http", "https", "mailto", "data"},
        url_relative="deny",
        # A link opens a new tab and does not replace the dashboard.
        set_tag_attribute_values={"a": {"target": "_blank"}},
        link_rel="noopener noreferrer",
    )
    if len(clean) > MAX_SANITIZED:
        raise text_fields.invalid_field("value", f"At most {MAX_HTML} characters are allowed.")
    return clean


def _depth(text: str) -> int:
    """The maximum depth, counted per tag name: a closing tag without an opening one is ignored."""
    opened: Counter[str] = Counter()
    deepest = 0
    for closes, name in _TAG.findall(text):
        if name.lower() in _UNNESTED:
            continue
        opened[name.lower()] = max(0, opened[name.lower()] + (-1 if closes else 1))
        deepest = max(deepest, opened.total())
    return deepest


def to_text(clean: str) -> str:
    """The text without tags, in one line."""
    spaced = re.sub(r"<(br|/?(p|div|li|tr|td|th|h[1-6]))\b", r" <\1", clean)
    return " ".join(unescape(nh3.clean(spaced, tags=set())).split())
