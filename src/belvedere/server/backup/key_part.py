"""The installation's key in a backup, encrypted with a passphrase: scrypt and AES-256-GCM."""

import os

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from belvedere.base.errors import Invalid

NAME = "secret.key.sealed"
MIN_PASSPHRASE = 12
# 64 MB of memory for each guess.
COST, BLOCK_SIZE = 2**16, 8
# A changed file must not use up the memory.
MAX_COST = 2**20
MAX_SIZE = 64 * 1024
CONTEXT = b"belvedere backup secret.key"


class SealedKey(msgspec.Struct):
    salt: bytes
    nonce: bytes
    data: bytes
    cost: int = COST
    block_size: int = BLOCK_SIZE
    cipher: str = "scrypt+aes-256-gcm"


def check_passphrase(passphrase: str) -> None:
    if len(passphrase) < MIN_PASSPHRASE:
        raise Invalid(f"The passphrase needs at least {MIN_PASSPHRASE} characters.")


def seal(text: str, passphrase: str) -> bytes:
    check_passphrase(passphrase)
    box = SealedKey(os.urandom(16), os.urandom(12), b"")
    box.data = AESGCM(_derive(passphrase, box)).encrypt(box.nonce, text.encode(), CONTEXT)
    return msgspec.json.encode(box)


def unseal(data: bytes, passphrase: str) -> str:
    try:
        box = msgspec.json.decode(data, type=SealedKey)
        if box.cost > MAX_COST or box.block_size != BLOCK_SIZE:
            raise ValueError("cost")
        key = _derive(passphrase, box)
        return AESGCM(key).decrypt(box.nonce, box.data, CONTEXT).decode()
    except InvalidTag:
        raise Invalid("The passphrase is wrong.") from None
    except (ValueError, msgspec.DecodeError) as fault:
        raise Invalid(f"The key in the backup cannot be read: {fault}.") from fault


def _derive(passphrase: str, box: SealedKey) -> bytes:
    return Scrypt(box.salt, 32, box.cost, box.block_size, 1).derive(passphrase.encode())
