"""Clients of the servers: they create, retry, cancel, resolve and restart."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from belvedere.base.errors import Conflict, Refused
from belvedere.jobs.idempotency import IdempotencyKey
from belvedere.jobs.lifecycle import actions
from belvedere.jobs.lifecycle.create import CreatedJob, JobRequest
from belvedere.server.runtime import ServerRuntime
from sim.initial_state import LONG, SPECS, InitialState
from sim.invariants import Invariants, Request
from sim.scripts import Behaviour, draw
from sim.world import MS, SECOND, World

if TYPE_CHECKING:
    from sim.scenario import Scenario

LASTS = 1_500 * SECOND
Work = Callable[[ServerRuntime], Awaitable[Any]]


class People:
    def __init__(self, story: "Scenario", setting: InitialState) -> None:
        self._story = story
        self._setting = setting
        self.world: World = story.world
        self.truth: Invariants = story.truth
        self.job_ids: list[str] = []

    def call(self, work: Work, answered: Callable[[Any], None]) -> None:
        """One request over a network that may lose it, or its response."""
        world = self.world
        server = self._story.a_server()
        if server is None or world.chance(self._story.swarm.loss):
            return

        def deliver(answer: Any) -> None:
            if not world.chance(self._story.swarm.loss):
                world.after(world.long_tail(MS, 100 * MS), answered, answer)

        world.after(world.long_tail(MS, 50 * MS), server.request, work, deliver, of=server)

    # Creating

    def create(self, temper: str = "") -> None:
        world = self.world
        host = world.random.choice(self._story.hosts)
        temper = temper or world.random.choice([name for name in SPECS if name != LONG])
        token = f"t{len(self.truth.requests)}"
        host.behaviours[token] = Behaviour(LASTS) if temper == LONG else draw(world.random)
        key = f"k{token}" if world.chance(0.6) else None
        request = Request(token, temper, key)
        self.truth.requests.append(request)
        self._send(request, self._setting.tasks[host.name, temper])

    def _send(self, request: Request, task_id: str) -> None:
        once = IdempotencyKey("POST /job", request.key, request.token) if request.key else None
        expected = JobRequest(self._setting.ada, task_id, [request.token], idempotency_key=once)
        is_answered = False
        request.sent += 1

        def receive_answer(answer: Any) -> None:
            nonlocal is_answered
            if isinstance(answer, CreatedJob):
                is_answered = True
                self.world.note("created", answer.job.id, request.token, request.temper)
                request.job_ids.add(answer.job.id)
                self.job_ids.append(answer.job.id)
                if request.temper == LONG:
                    self.world.after(self.world.between(0, 60 * SECOND), self._stop, answer.job.id)
            else:
                self.world.accuse(f"a create was refused: {answer!r}")

        def again() -> None:
            # Only with a key: without one a second request would create a second job.
            if not is_answered and request.key is not None:
                self._send(request, task_id)

        self.call(
            lambda runtime: runtime.db.write_batched(runtime.agents.create, expected),
            receive_answer,
        )
        self.world.after(self.world.between(5 * SECOND, 20 * SECOND), again)

    # Changing

    def cancel(self) -> None:
        if self.job_ids:
            job_id = self.world.random.choice(self.job_ids[-4:])
            self.truth.cancelled.add(job_id)
            self.world.note("cancel", job_id)
            self.change(lambda runtime: runtime.db.write(actions.cancel, self._setting.ada, job_id))

    def create_to_cancel(self) -> None:
        """A script that would run for half an hour, and a person who cancels it."""
        self.create(LONG)

    def _stop(self, job_id: str) -> None:
        self.truth.cancelled.add(job_id)
        ada = self._setting.ada

        def receive_answer(answer: Any) -> None:
            if isinstance(answer, Conflict):
                self._resolve(job_id)
            else:
                self.truth.stopped.setdefault(job_id, self.world.now)

        self._repeat(lambda runtime: runtime.db.write(actions.cancel, ada, job_id), receive_answer)

    def _resolve(self, job_id: str) -> None:
        """A lost job cannot be canceled; setting its result stops the script if it still runs."""
        self.truth.resolved.add(job_id)
        ada = self._setting.ada

        def receive_answer(answer: Any) -> None:
            self.truth.stopped.setdefault(job_id, self.world.now)

        self._repeat(
            lambda runtime: runtime.db.write(actions.resolve, ada, job_id, "failure", ""),
            receive_answer,
        )

    def _repeat(self, work: Work, receive: Callable[[Any], None]) -> None:
        """Repeat the request until there is a response."""
        is_answered = False

        def receive_first(answer: Any) -> None:
            nonlocal is_answered
            if not is_answered:
                is_answered = True
                receive(answer)

        def again() -> None:
            if not is_answered:
                self.call(work, receive_first)
                self.world.after(10 * SECOND, again)

        again()

    def resolve(self) -> None:
        if self.job_ids:
            job_id = self.world.random.choice(self.job_ids)
            outcome = self.world.random.choice(("normal", "failure"))
            self.truth.resolved.add(job_id)
            ada = self._setting.ada
            self.change(lambda runtime: runtime.db.write(actions.resolve, ada, job_id, outcome, ""))

    def restart(self) -> None:
        if self.job_ids:
            job_id = self.world.random.choice(self.job_ids)
            self.change(lambda runtime: self._restart(runtime, job_id))

    async def _restart(self, runtime: ServerRuntime, job_id: str) -> Any:
        expected = await runtime.db.read(actions.restart, self._setting.ada, job_id, None, None)
        return await runtime.db.write_batched(runtime.agents.create, expected)

    def change(self, work: Work) -> None:
        def receive_answer(answer: Any) -> None:
            if isinstance(answer, Exception) and not isinstance(answer, Refused):
                self.world.accuse(f"a change failed: {answer!r}")
            if isinstance(answer, CreatedJob):
                self.job_ids.append(answer.job.id)

        self.call(work, receive_answer)
