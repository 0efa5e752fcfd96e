"""The server's database is restored from a backup, while the agents' journals contain what came
after it."""

from typing import TYPE_CHECKING

from belvedere.db.sqlite.transaction import SqliteTx
from belvedere.hosts import restored
from belvedere.jobs.lifecycle import actions
from belvedere.jobs.recovery import hold, restore
from belvedere.server.runtime import ServerRuntime
from sim.backup_commands import pass_through
from sim.world import EPOCH_MS, MS, SECOND, Micros

if TYPE_CHECKING:
    from sim.scenario import Scenario

HELD = "select id, host_id from jobs where lifecycle = 'onhold' and reason = 'restored'"


class Restores:
    def __init__(self, story: "Scenario") -> None:
        self._story = story
        self._world = story.world
        self._backup: tuple[Micros, dict[str, bytes]] | None = None
        self._stores = {"belvedere.db": story.jobs, "logs.db": story.logs}
        # Whether it was restored by `belvedere restore`; otherwise the files were copied back.
        self._is_marked = True
        # What a server does at each start; it stores the epoch.
        restore.hold_after_restore(self._tx())

    def _tx(self) -> SqliteTx:
        now = EPOCH_MS + self._world.now // MS + self._world.off_ms
        return SqliteTx(self._story.jobs.connection, now)

    @property
    def forbid_rollback(self) -> bool:
        """If a host and the server both went back to before a job, nothing shows it."""
        return self._backup is not None

    @property
    def needs_journals(self) -> bool:
        """Only a journal shows that files that were copied back are older."""
        return not self._is_marked

    def back_up(self) -> None:
        story = self._story
        if self._backup is not None or story.is_quiet:
            return
        if any(store.writer is not None for store in self._stores.values()):
            self._world.after(10 * MS, self.back_up)
            return
        self._world.note("backup")
        copies = {name: store.connection.serialize("main") for name, store in self._stores.items()}
        self._backup = self._world.now, copies
        self._world.after(self._world.between(SECOND, 60 * SECOND), self._restore)

    def _restore(self) -> None:
        story = self._story
        if story.is_quiet or self._backup is None:
            return
        made_at, copies = self._backup
        for server in story.servers:
            server.kill()
        before = self._job_ids()
        self._is_marked = self._world.chance(0.5) or self._lacks_evidence(made_at)
        self._world.note("restored", self._is_marked)
        if self._is_marked:
            copies = pass_through(copies)
        for name, store in self._stores.items():
            store.connection.deserialize("main", copies[name])
        self._forget(made_at, before - self._job_ids())
        if not self._is_marked:
            story.truth.unannounced.append((made_at, self._world.now))
        # What the next start of a server does before agents can connect.
        with story.jobs.connection:
            restore.hold_after_restore(self._tx())

    def _job_ids(self) -> set[str]:
        return {job_id for (job_id,) in self._tx().rows("select id from jobs")}

    def _forget(self, made_at: Micros, job_ids: set[str]) -> None:
        """What people did after the backup is lost, as they would expect."""
        truth = self._story.truth
        truth.forgotten |= job_ids
        truth.gaps.append((made_at, self._world.now))
        truth.stopped = {id_: at for id_, at in truth.stopped.items() if at < made_at}
        for host in self._story.hosts:
            host.befell("server_restored")

    def _lacks_evidence(self, since: Micros) -> bool:
        """A journal that was lost after the backup cannot show that the database is older."""
        lost = {"journal_lost", "rolled_back"}
        mishaps = [entry for host in self._story.hosts for entry in host.mishaps]
        return any(at >= since and name in lost for at, name in mishaps)

    # The end

    def decide(self) -> None:
        """An admin checks the hosts: jobs that ran there are resolved, the others are released."""
        tx = self._tx()
        if self._story.jobs.writer is None:
            for job_id, host_id in tx.rows(HELD):
                if not restored.last_hello(tx, host_id).is_due:
                    self._decide(job_id)
        self._world.after(30 * SECOND, self.decide)

    def _decide(self, job_id: str) -> None:
        people, truth = self._story.people, self._story.truth
        ada = self._story.setting.ada

        async def resolve(runtime: ServerRuntime) -> object:
            return await runtime.db.write(actions.resolve, ada, job_id, "normal", "")

        async def release(runtime: ServerRuntime) -> object:
            return await runtime.db.write(hold.release, ada, job_id)

        if truth.has_run(job_id):
            truth.resolved.add(job_id)
            people.change(resolve)
        else:
            people.change(release)
