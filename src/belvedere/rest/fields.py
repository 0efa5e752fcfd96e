"""The fields of a query string and of an urlencoded form, which are written alike."""

from collections.abc import Iterator
from urllib.parse import unquote_plus, unquote_to_bytes

MOST = 1_000
# Characters that urllib decodes at once: it needs eighty bytes for each escape.
MAX_PIECE = 16 * 1024


def read(written: str) -> dict[str, list[str]]:
    """The values by name, blank ones too; ValueError when there are too many or one is no UTF-8.

    urllib's `parse_qsl` gives the same and takes ten times the steps for what is not escaped.
    """
    if written.count("&") >= MOST:
        raise ValueError(f"more than {MOST} fields")
    is_escaped = "%" in written or "+" in written
    found: dict[str, list[str]] = {}
    for field in written.split("&"):
        if not field:
            continue
        name, _, value = field.partition("=")
        if is_escaped:
            name, value = (_decoded(part) for part in (name, value))
        if name in found:
            found[name].append(value)
        else:
            found[name] = [value]
    return found


def _decoded(part: str) -> str:
    """A name or a value without its escapes; ValueError when it is no UTF-8."""
    if len(part) <= MAX_PIECE:
        return unquote_plus(part, errors="strict")
    return b"".join(map(unquote_to_bytes, _pieces(part.replace("+", " ")))).decode()


def _pieces(text: str) -> Iterator[str]:
    """Parts of bounded length; an escape stays in one of them."""
    start = 0
    while start < len(text):
        end = start + MAX_PIECE
        cut = text.rfind("%", end - 2, end) if end < len(text) else -1
        end = cut if cut > start else end
        yield text[start:end]
        start = end
