"""The servers are upgraded: they start again with a newer schema, while agents stay older ones."""

import json
from typing import TYPE_CHECKING, Any

from belvedere.db import migrate
from belvedere.db.sqlite.transaction import SqliteTx
from sim.host import Host
from sim.world import EPOCH_MS, MS, SECOND

if TYPE_CHECKING:
    from sim.scenario import Scenario

NAME = "migrations/9999_simulated"
# A new column that is filled for the rows that exist, as migrations of the product do.
MIGRATION = """
alter table jobs add column simulated_upgrade text not null default 'new';
update jobs set simulated_upgrade = lifecycle;
create index jobs_simulated_upgrade on jobs (simulated_upgrade);
"""
# What an agent of an earlier version does not send.
NEWER_FIELDS = ("keeper_id", "renews", "takes_changes")


class Upgrades:
    def __init__(self, story: "Scenario") -> None:
        self._story = story
        self._world = story.world
        self._is_done = False
        if story.swarm.upgrades:
            for host in story.hosts:
                host.has_old_agent = True

    def upgrade(self) -> None:
        """Once; the supervisors start the servers again."""
        story = self._story
        if story.is_quiet:
            return
        for server in story.servers:
            server.kill()
        self._world.note("upgraded")
        self._is_done = True
        # The first start is killed while it migrates.
        if self._world.chance(0.5):
            self._migrate("rollback")
        for host in story.hosts:
            if host.has_old_agent and self._world.chance(0.7):
                delay = self._world.between(0, 60 * SECOND)
                self._world.after(delay, self._upgrade_agent, host)

    def start_server(self) -> None:
        """Each start migrates, also a database from before the upgrade that was restored after it.
        While another server writes, the schema is the newest already."""
        if self._is_done and self._story.jobs.writer is None:
            self._migrate("commit")

    def _migrate(self, end: str) -> None:
        connection = self._story.jobs.connection
        connection.execute("begin immediate")
        now = EPOCH_MS + self._world.now // MS + self._world.off_ms
        migrate.apply(SqliteTx(connection, now), NAME, MIGRATION)
        connection.execute(end)

    def _upgrade_agent(self, host: Host) -> None:
        """Its scripts continue."""
        host.has_old_agent = False
        self._world.note("agent_upgraded", host.name)
        host.kill_agent()

    def judge(self, tx: SqliteTx) -> None:
        """The newer servers have the newer schema."""
        columns = {row[1] for row in tx.rows("pragma table_info(jobs)")}
        if self._is_done and "simulated_upgrade" not in columns:
            self._world.accuse("the schema is older than the servers")


def list_migrations(engine: str, folder: str = "migrations") -> list[tuple[str, str]]:
    """Replaces that of db/migrate.py, for the backups of a newer version."""
    simulated = [(NAME.removeprefix("migrations/"), MIGRATION)]
    return migrate.migrations(engine, folder) + (simulated if folder == "migrations" else [])


def as_old_agent(frame: str) -> str:
    """The messages as an agent of an earlier version sends them."""
    messages: list[dict[str, Any]] = json.loads(frame)
    for message in messages:
        if message["kind"] == "hello":
            for name in NEWER_FIELDS:
                message.pop(name, None)
    return json.dumps(messages)
