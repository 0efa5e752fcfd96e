"""secret.key: the key of look-up hashes, and those that seal, oldest first.

A new one is a single line of 64 hex digits, from which both are derived. Once a key was added, it
says `hash`, `first` (the one that was derived) and `seal` with a key behind each. The first never
gets back its common source: when it is dropped, nothing of it is left.
"""

import hashlib
import os
import re
import secrets
from pathlib import Path

import msgspec

from belvedere.access.crypto.keyring import (
    HASH,
    SEAL,
    SECRET_FILE,
    Keyring,
    derive_key,
    load_secret,
)
from belvedere.base.errors import Unavailable

_HEX = re.compile(r"[0-9a-fA-F]{64}")
# The name of the key that was there before keys had names.
FIRST_KEY = ""


class KeyFile(msgspec.Struct):
    """What the file, or the setting, holds."""

    hash: bytes
    # By name, oldest first.
    seals: dict[str, bytes]

    @property
    def newest(self) -> str:
        return list(self.seals)[-1]

    @property
    def keys(self) -> Keyring:
        return Keyring.from_keys(self.hash, self.seals)

    def text(self) -> str:
        lines = [f"hash {self.hash.hex()}"]
        for name, key in self.seals.items():
            lines.append(f"{'first' if name == FIRST_KEY else 'seal'} {key.hex()}")
        return "\n".join(lines) + "\n"


def load(folder: Path, setting: str = "") -> KeyFile:
    """From the setting, else from the folder's file, made if new."""
    path = folder / SECRET_FILE
    if setting.strip():
        text, where = setting, "The secret key setting"
    else:
        if not path.exists():
            load_secret(folder)
        if path.stat().st_mode & 0o077:
            raise Unavailable(
                f"Others can read {path}; run chmod 600 on it.", code="open_secret_key"
            )
        text, where = path.read_text(), str(path)
    return parse(text, where)


def parse(text: str, where: str) -> KeyFile:
    words = text.split()
    if len(words) == 1 and _HEX.fullmatch(words[0]):
        secret = bytes.fromhex(words[0])
        return KeyFile(derive_key(secret, HASH), {FIRST_KEY: derive_key(secret, SEAL)})
    kinds, keys = words[::2], words[1::2]
    is_complete = len(kinds) == len(keys) > 1 and all(_HEX.fullmatch(key) for key in keys)
    if not is_complete or kinds[0] != "hash" or not set(kinds[1:]) <= {"first", "seal"}:
        raise Unavailable(f"{where} does not hold 64 hex digits.", code="bad_secret_key")
    key_file = KeyFile(bytes.fromhex(keys[0]), {})
    for kind, word in zip(kinds[1:], keys[1:], strict=True):
        key = bytes.fromhex(word)
        key_file.seals[FIRST_KEY if kind == "first" else key_name(key)] = key
    return key_file


def key_name(key: bytes) -> str:
    """Says which key it is and nothing about it."""
    return hashlib.sha256(b"name of " + key).hexdigest()[:12]


def with_new_key(key_file: KeyFile) -> KeyFile:
    key = secrets.token_bytes(32)
    return KeyFile(key_file.hash, {**key_file.seals, key_name(key): key})


def write(folder: Path, new: KeyFile) -> None:
    """All of it or nothing, and on disk before anything is sealed with it."""
    path = folder / SECRET_FILE
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(fd, "w") as file:
        file.write(new.text())
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)
    folder_fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(folder_fd)
    finally:
        os.close(folder_fd)
