"""The signature of an offered version, and the key that the agent pins when it enrols.

HMAC-SHA256 with a key that the server derives for each host: the agent runs with the standard
library alone, which has no public-key signatures. A host cannot sign for another one, and who can
only pretend to be the server (another certificate, another address) cannot sign at all.
"""

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
    """Empty if the agent has none yet."""
    try:
        fd = os.open(Path(folder.root) / UPDATE_KEY, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return ""
    with open(fd) as file:
        return file.read(MAX_KEY).strip()
