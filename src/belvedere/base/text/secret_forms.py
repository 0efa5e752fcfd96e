"""The forms in which a secret turns up in output: as it is, and as programs like to write it.

Plain bytes and builtins only: the agent's keeper reads this, and it has to stay small.
"""

from __future__ import annotations

from binascii import b2a_base64
from json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Shorter values occur in any text by chance; hiding them would hide everything else.
SHORTEST = 4
# Of one line of a value with several.
SHORTEST_LINE = 8
# Lines of a value with several that are hidden in every form; further ones only as they are.
MAX_LINES = 256
# Forms of one text, without base64 and hex: the tables below make no more.
MAX_FORMS = 64
_PLAIN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"


def _quoting(spared: bytes, form: str) -> dict[int, str]:
    return {byte: form % byte for byte in range(256) if byte not in _PLAIN + spared}


# What quoting functions leave alone beyond that: nothing, a path's slash, what browsers do.
_QUOTINGS = [
    _quoting(spared, form)
    for spared in (b"", b"/", b"!'()*", b"!'()*/")
    for form in ("%%%02X", "%%%02x")
]
_WRAPPED = (64, 76)


def _escaping(letters: str) -> dict[int, str]:
    return str.maketrans({letter: f"\\{letter}" for letter in letters})


_CONTROL = {chr(n): f"\\{n:03o}" for n in (*range(32), 127)} | dict(
    zip("\a\b\t\n\v\f\r\x1b", ("\\a", "\\b", "\\t", "\\n", "\\v", "\\f", "\\r", "\\E"), strict=True)
)
# Letters that a program writes in another way, by program.
_SHELL = (
    # `set -x` of bash; `shlex.quote` and busybox; SQL, YAML and PowerShell; CSV.
    str.maketrans({"'": "'\\''"}),
    str.maketrans({"'": "'\"'\"'"}),
    str.maketrans({"'": "''"}),
    str.maketrans({'"': '""'}),
    # `printf %q` of bash; `declare -p`; `quotemeta` of Perl.
    _escaping("\t !\"$&'()*,;<>?[\\]^`{|}"),
    _escaping('\\"$`'),
    _escaping("".join(chr(n) for n in range(32, 127) if not (chr(n).isalnum() or n == ord("_")))),
    # `$'…'` of bash.
    str.maketrans({**_CONTROL, "\\": "\\\\", "'": "\\'"}),
    # PHP, and what else escapes only its own quotes.
    _escaping("\\'"),
)
_HTML = tuple(
    str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': double, "'": single})
    for double in ('"', "&quot;", "&#34;")
    for single in ("'", "&#39;", "&#x27;", "&#039;", "&apos;")
)
# JSON as Go and Rails write it, and Gson.
_JSON: tuple[dict[int, str], ...] = (
    {},
    str.maketrans({"&": "\\u0026", "<": "\\u003c", ">": "\\u003e"}),
    str.maketrans({"&": "\\u0026", "<": "\\u003c", ">": "\\u003e", "'": "\\u0027", "=": "\\u003d"}),
)
_MARKUP = frozenset(map(ord, "&<>\"'"))
# What changes a literal: quotes, backslashes, and what cannot be printed.
_QUOTES = frozenset(map(ord, "\"'\\")) | frozenset((*range(32), 127))
# Only where one of these is used, JSON differs from the text.
_IN_JSON = _MARKUP | _QUOTES | {ord("/"), ord("=")}


def disguises(value: str) -> set[bytes]:
    """Every form of a value that must not be seen."""
    # Blanks around it tell nothing, and get lost on every way through a shell.
    value = value.strip()
    raw = value.encode("utf-8", "surrogatepass")
    if len(raw) < SHORTEST:
        return set()
    found = {*_written(value, raw), *_base64(raw), raw.hex().encode(), raw.hex().upper().encode()}
    lines = value.splitlines()
    for n, line in enumerate(lines if len(lines) > 1 else ()):
        line = line.strip()
        raw = line.encode("utf-8", "surrogatepass")
        # The frame of a key is no secret.
        if len(raw) >= SHORTEST_LINE and not raw.startswith(b"-----"):
            found.update(_written(line, raw) if n < MAX_LINES else (raw,))
    return {form for form in found if len(form) >= SHORTEST}


def _written(text: str, raw: bytes) -> set[bytes]:
    """As it is, and as it stands in JSON, in an address, in a shell, in source code and in HTML."""
    found = {raw}
    if not raw.translate(None, _PLAIN):
        # The same everywhere.
        return found
    # A table works on letters: one for each byte.
    letters = raw.decode("latin-1")
    used = _used(letters, "%")
    for quoting in _QUOTINGS:
        quoted = _swapped(letters, quoting, used).encode()
        found.update((quoted, quoted.replace(b"%20", b"+")))
    for form in (*_json(text), *_code(text)):
        found.add(form.encode("utf-8", "surrogatepass"))
    return found


def _used(text: str, first: str) -> list[int]:
    """The letters of a text. First those that stand in what replaces others."""
    return sorted(set(map(ord, text)), key=lambda letter: -1 - first[::-1].find(chr(letter)))


def _swapped(text: str, table: dict[int, str], used: list[int]) -> str:
    """As `text.translate`, and much faster where few letters of a long text are replaced."""
    for letter in used:
        if letter in table:
            text = text.replace(chr(letter), table[letter])
    return text


def _json(text: str) -> Iterator[str]:
    if text.isascii() and _IN_JSON.isdisjoint(map(ord, text)):
        return
    for ascii_only in (True, False):
        escaped = dumps(text, ensure_ascii=ascii_only)[1:-1]
        used = _used(escaped, "")
        for more in _JSON:
            form = _swapped(escaped, more, used)
            yield form
            yield form.replace("/", "\\/")
        # A text of JSON inside another.
        yield dumps(escaped, ensure_ascii=ascii_only)[1:-1]


def _code(text: str) -> Iterator[str]:
    used = _used(text, "\\&")
    for letters in _SHELL:
        yield _swapped(text, letters, used)
    if not text.isascii() or not _QUOTES.isdisjoint(used):
        yield from _literals(text)
    if not _MARKUP.isdisjoint(used):
        for letters in _HTML:
            yield _swapped(text, letters, used)


def _literals(text: str) -> Iterator[str]:
    """In source code. Beside other text the quotes may be others."""
    for shown in (repr(text)[1:-1], ascii(text)[1:-1]):
        bare = shown.replace("\\'", "'")
        yield from (shown, bare, bare.replace("'", "\\'"))
    yield repr(text.encode("utf-8", "surrogatepass"))[2:-1]


def _base64(raw: bytes) -> set[bytes]:
    """Wherever it begins within a longer text: the letters that its neighbours cannot change."""
    found = set()
    for ahead, first in ((0, 0), (1, 2), (2, 3)):
        letters = b2a_base64(bytes(ahead) + raw, newline=False)
        found.add(letters[first : (ahead + len(raw)) * 8 // 6])
    for alone in (raw, raw + b"\n"):
        letters = b2a_base64(alone, newline=False).rstrip(b"=")
        found.add(letters)
        found.update(_lines(letters))
    return found | {form.replace(b"+", b"-").replace(b"/", b"_") for form in found}


def _lines(letters: bytes) -> set[bytes]:
    """What tools that wrap make of a long one."""
    return {
        line
        for width in _WRAPPED
        if len(letters) > width
        for at in range(0, len(letters), width)
        if len(line := letters[at : at + width]) >= SHORTEST
    }
