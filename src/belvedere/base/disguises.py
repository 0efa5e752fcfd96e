"""The forms in which a secret turns up in output: as it is, and as programs like to write it.

Plain bytes and builtins only: the agent's keeper reads this, and it has to stay small.
"""

from __future__ import annotations

from binascii import b2a_base64
from json import dumps

# Shorter values occur in any text by chance; hiding them would hide everything else.
SHORTEST = 4
# Of one line of a value with several.
SHORTEST_LINE = 8
_PLAIN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"


def _quoting(spared: bytes, form: str) -> list[bytes]:
    plain = _PLAIN + spared
    return [bytes((byte,)) if byte in plain else (form % byte).encode() for byte in range(256)]


# What quoting functions leave alone beyond that: nothing, a path's slash, what browsers do.
_QUOTINGS = [
    _quoting(spared, form)
    for spared in (b"", b"/", b"!'()*", b"!'()*/")
    for form in ("%%%02X", "%%%02x")
]
_WRAPPED = (64, 76)


def disguises(value: str) -> set[bytes]:
    """Every form of a value that must not be seen."""
    # Blanks around it tell nothing, and get lost on every way through a shell.
    value = value.strip()
    raw = value.encode("utf-8", "surrogatepass")
    if len(raw) < SHORTEST:
        return set()
    found = {*_written(value, raw), *_base64(raw), raw.hex().encode(), raw.hex().upper().encode()}
    lines = value.splitlines()
    for line in lines if len(lines) > 1 else ():
        raw = line.strip().encode("utf-8", "surrogatepass")
        # The frame of a key is no secret.
        if len(raw) >= SHORTEST_LINE and not raw.startswith(b"-----"):
            found.update(_written(line.strip(), raw))
    return {form for form in found if len(form) >= SHORTEST}


def _written(text: str, raw: bytes) -> set[bytes]:
    """As it is, in JSON and in an address."""
    found = {raw}
    if not raw.translate(None, _PLAIN):
        # The same everywhere.
        return found
    for ascii_only in (True, False):
        escaped = dumps(text, ensure_ascii=ascii_only)[1:-1]
        for form in (escaped, escaped.replace("/", "\\/")):
            found.add(form.encode("utf-8", "surrogatepass"))
    for quoting in _QUOTINGS:
        quoted = b"".join([quoting[byte] for byte in raw])
        found.update((quoted, quoted.replace(b"%20", b"+")))
    return found


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
