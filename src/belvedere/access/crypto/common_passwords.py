"""Passwords that are tried first: a packaged list, read from disk at each look-up."""

import gzip
from collections.abc import Iterable
from importlib import resources

# Source and licence are in the NOTICE beside it.
_FILE = "common_passwords.txt.gz"


def holds(texts: Iterable[str]) -> bool:
    """Whether one of these, in lower case, is in the list. The list is read line by line and not
    kept: passwords are chosen rarely, on a thread."""
    sought = {text.encode() for text in texts if text}
    with resources.files("belvedere.access").joinpath(_FILE).open("rb") as file:
        return any(line.rstrip(b"\n") in sought for line in gzip.open(file))
