"""The server's secret and everything that is derived from it: look-up hashes and sealed text."""

import base64
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from belvedere.base.errors import Unavailable
from belvedere.db import Tx, installation

INTEGRATION, AGENT, SESSION, ENROLMENT, LINK = "bvt_", "bva_", "bvs_", "bve_", "bvl_"
PUBLIC, TICKET, BROWSER = "bvp_", "bvf_", "bvb_"
SECRET_FILE = "secret.key"
HASH, SEAL = b"belvedere hash 1", b"belvedere seal 1"
# Names of values in the database: the proof of the secret key, and the key in use.
KEY_CHECK, CURRENT_KEY = "key_check", "seal_key"
_NONCE = 12
_HEX = re.compile(r"[0-9a-fA-F]{64}")


def make_token(prefix: str) -> str:
    """256 random bits after a prefix by which a leak scanner recognises the kind."""
    return prefix + secrets.token_urlsafe(32)


class Keyring:
    """The key for hashes, and the keys for sealing: one is in use, others only unseal until a
    rotation has finished.

    A sealed text begins with the name of its key and a dot; one of the first key has neither.
    """

    __slots__ = ("_hash", "_name", "_seals")

    def __init__(self, secret: bytes) -> None:
        """Derive both keys from the same 32 bytes; neither reveals the other."""
        assert len(secret) == 32
        self._hash = derive_key(secret, HASH)
        self._seals = {"": AESGCM(derive_key(secret, SEAL))}
        self._name = ""

    @classmethod
    def from_keys(cls, hash_key: bytes, seals: Mapping[str, bytes]) -> "Keyring":
        """From keys by their names; the oldest is in use until `load_current_key`."""
        keyring = cls(bytes(32))
        keyring._hash = hash_key
        keyring.set_keys(seals)
        keyring._name = next(iter(seals))
        return keyring

    def set_keys(self, seals: Mapping[str, bytes]) -> None:
        """Replace the sealing keys."""
        self._seals = {name: AESGCM(key) for name, key in seals.items()}

    @property
    def key_name(self) -> str:
        """Name of the key that seals."""
        return self._name

    def use_key(self, name: str) -> None:
        """Seal with this key from now on."""
        if name not in self._seals:
            raise Unavailable(
                f"The database is encrypted with a key that is not in this server's {SECRET_FILE}."
                " Copy the file from the server on which the key was added.",
                code="unknown_key",
            )
        self._name = name

    def digest(self, text: str) -> str:
        """The form in which tokens and secrets are stored and looked up."""
        return hmac.new(self._hash, text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    def seal(self, text: str, context: str) -> str:
        """Encrypt; `context` names the record, so that a sealed text cannot be moved to another."""
        nonce = os.urandom(_NONCE)
        sealed = nonce + self._seals[self._name].encrypt(nonce, text.encode(), context.encode())
        written = base64.b64encode(sealed).decode()
        return f"{self._name}.{written}" if self._name else written

    def unseal(self, box: str, context: str) -> str:
        name, _, written = box.rpartition(".")
        try:
            sealed = base64.b64decode(written, validate=True)
            key = self._seals[name]
            return key.decrypt(sealed[:_NONCE], sealed[_NONCE:], context.encode()).decode()
        except (InvalidTag, KeyError, ValueError):
            raise Unavailable(
                "A stored secret cannot be decrypted. It was altered, or encrypted with "
                "another key.",
                code="sealed",
            ) from None

    def verify_database(self, tx: Tx) -> None:
        """Refuse a database that belongs to another secret key; then use the key that it names."""
        key_check = self.digest("key check")
        installation.insert(tx, KEY_CHECK, key_check)
        if not hmac.compare_digest(installation.read(tx, KEY_CHECK) or "", key_check):
            raise Unavailable(
                f"The secret key does not belong to this database. Restore the {SECRET_FILE} that"
                " it was created with.",
                code="wrong_secret_key",
            )
        self.load_current_key(tx)

    def load_current_key(self, tx: Tx) -> None:
        """Seal with the key that the database names, if it names one."""
        name = installation.read(tx, CURRENT_KEY)
        if name is not None:
            self.use_key(name)


def load_secret(folder: Path, setting: str = "") -> bytes:
    """The 32 bytes: from the setting (64 hex digits), else from the folder's file, which is created
    if it does not exist."""
    if setting:
        return _parse(setting, "The secret key setting")
    path = folder / SECRET_FILE
    if not path.exists():
        _create(path)
    if path.stat().st_mode & 0o077:
        raise Unavailable(
            f"Other users can read {path}. Run chmod 600 on it.", code="open_secret_key"
        )
    return _parse(path.read_text(), str(path))


def _create(path: Path) -> None:
    # Written to a draft and linked into place: a crash leaves no incomplete key, and two servers
    # that start at the same time read the same file.
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(fd, "w") as file:
            file.write(secrets.token_hex(32) + "\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            return
    finally:
        draft.unlink()


def _parse(text: str, where: str) -> bytes:
    if not _HEX.fullmatch(text.strip()):
        raise Unavailable(f"{where} does not contain 64 hex digits.", code="bad_secret_key")
    return bytes.fromhex(text.strip())


def derive_key(secret: bytes, purpose: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose).derive(secret)
