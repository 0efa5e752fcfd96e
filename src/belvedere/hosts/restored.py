"""What a host's journal proves after the database has lost its last commits, as in a failover to
another PostgreSQL."""

from belvedere.db import Tx, installation
from belvedere.hosts.presence import highest_fence
from belvedere.protocol import Hello

# The lost commits may have opened sessions; their numbers must not fit a later session.
SESSION_GAP = 1_000
_TIMELINE = "timeline"


def record_timeline(tx: Tx, timeline: str) -> bool:
    """Store PostgreSQL's timeline; whether it was another one until now. Then no number of a lost
    attempt is given out again, and no agent gets a job before its journal was compared. The first
    server that notices the failover does it for all of them."""
    stored = installation.lock(tx, _TIMELINE)
    if stored == timeline:
        return False
    installation.write(tx, _TIMELINE, timeline)
    if stored is None:
        return False
    mark_all(tx, installation.raise_epoch(tx))
    return True


def mark_all(tx: Tx, fence: int) -> None:
    """The database may have forgotten attempts below this fence. All sessions are void: each agent
    connects again, and its journal is compared before it gets a job."""
    tx.run(
        "update hosts set restored_fence = ?, session = session + ? where deleted_at is null",
        fence,
        SESSION_GAP,
    )


def forgotten_up_to(tx: Tx, host_id: str, hello: Hello) -> int:
    """The fence up to which the agent may have ended and forgotten attempts whose end the database
    has lost; 0 where it never lost anything."""
    restored_fence = tx.value("select restored_fence from hosts where id = ?", host_id)
    return min(highest_fence(hello), restored_fence or 0)
