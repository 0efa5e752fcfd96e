"""The forms in which a secret may occur in output: unchanged, and quoted or encoded by programs.

Only builtins are used: the keeper of the agent imports this and has to stay small.
"""

from __future__ import annotations

from binascii import b2a_base64
from json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Shorter values occur in any text by chance; masking them would make output unreadable.
MIN_LENGTH = 4
# The same for one line of a value with several lines.
MIN_LINE_LENGTH = 8
# Lines of a value that are masked in every form; further lines only unchanged.
MAX_LINES = 256
_PLAIN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"


def _quoting(unquoted: bytes, form: str) -> dict[int, str]:
    return {byte: form % byte for byte in range(256) if byte not in _PLAIN + unquoted}


# What quoting functions leave unquoted besides _PLAIN: nothing, slashes, what browsers do.
_QUOTINGS = [
    _quoting(unquoted, form)
    for unquoted in (b"", b"/", b"!'()*", b"!'()*/")
    for form in ("%%%02X", "%%%02x")
]
_LINE_WIDTHS = (64, 76)


def _escaping(letters: str) -> dict[int, str]:
    return str.maketrans({letter: f"\\{letter}" for letter in letters})


_CONTROL = {chr(n): f"\\{n:03o}" for n in (*range(32), 127)} | dict(
    zip("\a\b\t\n\v\f\r\x1b", ("\\a", "\\b", "\\t", "\\n", "\\v", "\\f", "\\r", "\\E"), strict=True)
)
# Letters that programs escape, by program.
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
    # PHP and others that escape only their own quotes.
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
# Letters that are escaped in literals: quotes, backslashes and control characters.
_QUOTES = frozenset(map(ord, "\"'\\")) | frozenset((*range(32), 127))
# JSON differs from the text only if it contains one of these.
_IN_JSON = _MARKUP | _QUOTES | {ord("/"), ord("=")}


def encoded_forms(value: str) -> set[bytes]:
    """Every form of a value that has to be masked."""
    # Blanks around the value are not secret, and shells drop them.
    value = value.strip()
    raw = value.encode("utf-8", "surrogatepass")
    if len(raw) < MIN_LENGTH:
        return set()
    forms = {
        *_quoted_forms(value, raw),
        *_base64(raw),
        raw.hex().encode(),
        raw.hex().upper().encode(),
    }
    lines = value.splitlines()
    for n, line in enumerate(lines if len(lines) > 1 else ()):
        line = line.strip()
        raw = line.encode("utf-8", "surrogatepass")
        # The header and footer of a PEM key are not secret.
        if len(raw) >= MIN_LINE_LENGTH and not raw.startswith(b"-----"):
            forms.update(_quoted_forms(line, raw) if n < MAX_LINES else (raw,))
    return {form for form in forms if len(form) >= MIN_LENGTH}


def _quoted_forms(text: str, raw: bytes) -> set[bytes]:
    """Unchanged, and as quoted in JSON, URLs, shells, source code and HTML."""
    forms = {raw}
    if not raw.translate(None, _PLAIN):
        # No program quotes it.
        return forms
    # Tables work on letters: one for each byte.
    letters = raw.decode("latin-1")
    used = _letters_of(letters, "%")
    for quoting in _QUOTINGS:
        quoted = _translate(letters, quoting, used).encode()
        forms.update((quoted, quoted.replace(b"%20", b"+")))
    for form in (*_json(text), *_code(text)):
        forms.add(form.encode("utf-8", "surrogatepass"))
    return forms


def _letters_of(text: str, first: str) -> list[int]:
    """The letters of a text, first those that occur in the replacements of others."""
    return sorted(set(map(ord, text)), key=lambda letter: -1 - first[::-1].find(chr(letter)))


def _translate(text: str, table: dict[int, str], used: list[int]) -> str:
    """Like `text.translate`, and much faster if few letters of a long text are replaced."""
    for letter in used:
        if letter in table:
            text = text.replace(chr(letter), table[letter])
    return text


def _json(text: str) -> Iterator[str]:
    if text.isascii() and _IN_JSON.isdisjoint(map(ord, text)):
        return
    for ascii_only in (True, False):
        escaped = dumps(text, ensure_ascii=ascii_only)[1:-1]
        used = _letters_of(escaped, "")
        for more in _JSON:
            form = _translate(escaped, more, used)
            yield form
            yield form.replace("/", "\\/")
        # JSON text inside a JSON string.
        yield dumps(escaped, ensure_ascii=ascii_only)[1:-1]


def _code(text: str) -> Iterator[str]:
    used = _letters_of(text, "\\&")
    for letters in _SHELL:
        yield _translate(text, letters, used)
    if not text.isascii() or not _QUOTES.isdisjoint(used):
        yield from _literals(text)
    if not _MARKUP.isdisjoint(used):
        for letters in _HTML:
            yield _translate(text, letters, used)


def _literals(text: str) -> Iterator[str]:
    """In source code. Within other text the quotes may differ."""
    for literal in (repr(text)[1:-1], ascii(text)[1:-1]):
        bare = literal.replace("\\'", "'")
        yield from (literal, bare, bare.replace("'", "\\'"))
    yield repr(text.encode("utf-8", "surrogatepass"))[2:-1]


def _base64(raw: bytes) -> set[bytes]:
    """At any position within a longer text: the letters that do not depend on other bytes."""
    forms = set()
    for ahead, first in ((0, 0), (1, 2), (2, 3)):
        letters = b2a_base64(bytes(ahead) + raw, newline=False)
        forms.add(letters[first : (ahead + len(raw)) * 8 // 6])
    for alone in (raw, raw + b"\n"):
        letters = b2a_base64(alone, newline=False).rstrip(b"=")
        forms.add(letters)
        forms.update(_wrapped_lines(letters))
    return forms | {form.replace(b"+", b"-").replace(b"/", b"_") for form in forms}


def _wrapped_lines(letters: bytes) -> set[bytes]:
    """The lines of tools that wrap long base64 text."""
    return {
        line
        for width in _LINE_WIDTHS
        if len(letters) > width
        for at in range(0, len(letters), width)
        if len(line := letters[at : at + width]) >= MIN_LENGTH
    }
