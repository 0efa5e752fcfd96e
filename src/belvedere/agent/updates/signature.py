"""The signature of an offered version, and the key that the agent pins when it enrols.

HMAC-SHA256 with a key that the server derives for each host: the agent runs with the standard
library alone, which has no public-key signatures. A host cannot sign for another one, and
somebody who merely impersonates the server (another certificate or address) cannot sign at all.
"""

import errno
import hashlib
import hmac
import os
from pathlib import Path

from belvedere.agent.setup.enrolment import UPDATE_KEY
from belvedere.agent.state_folder import StateFolder
from belvedere.protocol import UpdateOffer

MAX_KEY = 256


def sign(key: str, host_id: str, session: int, offer: UpdateOffer) -> str:
    """With the session: an offer that was recorded is not valid on another connection."""
    fields = (
        *("belvedere agent update 1", host_id, session, offer.version, offer.sha256),
        *(offer.size, int(offer.downgrade)),
    )
    text = "\n".join(map(str, fields))
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


def is_valid(key: str, host_id: str, session: int, offer: UpdateOffer) -> bool:
    expected = sign(key, host_id, session, offer)
    return hmac.compare_digest(expected.encode(), offer.signature.encode())


def load_key(folder: StateFolder) -> str:
    """Empty if the agent has none yet. A key that cannot be read must not be replaced by one that
    the server sends, so that is an OSError."""
    path = Path(folder.root) / UPDATE_KEY
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return ""
    with open(fd) as file:
        key = file.read(MAX_KEY).strip()
    if not key:
        raise OSError(errno.EIO, "The file is empty", str(path))
    return key
