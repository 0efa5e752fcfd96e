"""Argument values as they are typed, for tasks that want a file among them."""

import mimetypes
from base64 import b64encode
from pathlib import Path
from typing import Any
from urllib.parse import quote

from belvedere.cli.framework.command import Stop


def sent(definitions: list[dict[str, Any]], given: list[str]) -> list[str]:
    """The values as they are sent: where the task wants a file, the word typed is its path."""
    free = [one for one in definitions if one.get("type") != "fixed"]
    wanted = definitions if len(given) == len(definitions) else free
    if len(given) != len(wanted):
        # The server says best what is missing.
        return given
    return [
        data_url(word) if one.get("type") == "file" and not word.startswith("data:") else word
        for one, word in zip(wanted, given, strict=True)
    ]


def data_url(path: str) -> str:
    try:
        content = Path(path).read_bytes()
    except OSError as fault:
        raise Stop(f"{path} cannot be read ({fault.strerror}).") from None
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    return f"data:{kind};name={quote(Path(path).name)};base64,{b64encode(content).decode()}"
