"""secret.key: the key of look-up hashes, and the sealing keys, oldest first.

A new file is a single line of 64 hex digits, from which both are derived. Once a key was added, it
has a line `hash`, a line `first` (the derived sealing key) and lines `seal`, with a key in each.
The secret from which the first keys were derived is not stored then: when the first key is removed,
nothing of it is left.
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
# The name of the key from before keys had names.
FIRST_KEY = ""


class KeyFile(msgspec.Struct):
    """Content of the file, or of the setting."""

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
    """From the setting, else from the folder's file, which is created if it does not exist."""
    path = folder / SECRET_FILE
    if setting.strip():
        text, where = setting, "The secret key setting"
    else:
        if not path.exists():
            load_secret(folder)
        if path.stat().st_mode & 0o077:
            raise Unavailable(
                f"Other users can read {path}. Run chmod 600 on it.", code="open_secret_key"
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
        raise Unavailable(f"{where} does not contain 64 hex digits.", code="bad_secret_key")
    key_file = KeyFile(bytes.fromhex(keys[0]), {})
    for kind, word in zip(kinds[1:], keys[1:], strict=True):
        key = bytes.fromhex(word)
        key_file.seals[FIRST_KEY if kind == "first" else key_name(key)] = key
    return key_file


def key_name(key: bytes) -> str:
    """Identifies the key without revealing anything about it."""
    return hashlib.sha256(b"name of " + key).hexdigest()[:12]


def with_new_key(key_file: KeyFile) -> KeyFile:
    key = secrets.token_bytes(32)
    return KeyFile(key_file.hash, {**key_file.seals, key_name(key): key})


def merge(older: KeyFile, newer: KeyFile) -> KeyFile:
    """All sealing keys of two files of one installation."""
    return KeyFile(newer.hash, {**older.seals, **newer.seals})


def write(folder: Path, new: KeyFile) -> None:
    """Replace the file atomically; it is on disk before anything is sealed with a new key."""
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
