"""The egress workers of a server: started on demand, and stopped when they are idle."""

import asyncio
import contextlib
import os
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import msgspec

from belvedere.base import networks
from belvedere.base.errors import Invalid
from belvedere.base.fair_queue import Lane, LaneFull
from belvedere.egress.lanes import LaneKind, LaneUsage
from belvedere.egress.messages import MAX_LINE, EgressRequest, EgressResult

# After this time the worker is killed.
LIMIT_S = 30.0
IDLE_S = 60.0
# The only variables that a worker inherits: it needs the certificates of the machine.
PASSED_ON = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")


@dataclass(slots=True, eq=False)
class EgressWorker:
    """One worker process. It reads and writes one line of JSON per request."""

    process: asyncio.subprocess.Process
    retirement: asyncio.TimerHandle | None = None

    async def send(self, request: EgressRequest) -> EgressResult:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(msgspec.json.encode(request) + b"\n")
        line = await self.process.stdout.readline()
        if not line:
            raise ConnectionResetError
        return msgspec.json.decode(line, type=EgressResult)

    async def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        if self.process.stdin is not None:
            self.process.stdin.close()
        await self.process.wait()


@dataclass(slots=True)
class EgressPool:
    """A few worker processes, each with one request at a time. `networks` are internal networks
    that may be called, `mail` is the URL of the operator's mail server."""

    networks: str = ""
    mail: str = ""
    limit_s: float = LIMIT_S
    _idle: list[EgressWorker] = field(default_factory=list)
    out: set[EgressWorker] = field(default_factory=set)
    _lanes: dict[LaneKind, Lane] = field(
        default_factory=lambda: {kind: Lane(kind) for kind in LaneKind}
    )
    # Tasks that send messages. The reference keeps them from being garbage-collected.
    tasks: "set[asyncio.Task[None]]" = field(default_factory=set)
    # How many messages of the outbox are being sent, by lane and organization.
    usage: dict[LaneKind, LaneUsage] = field(
        default_factory=lambda: {
            kind: LaneUsage(kind) for kind in (LaneKind.MAIL, LaneKind.CHANNEL)
        }
    )
    claiming: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        try:
            networks.parse_networks(self.networks)
        except ValueError as fault:
            raise Invalid(f"BELVEDERE_INNER_NETWORKS: {fault}.") from None
        if self.mail and not self.mail.startswith(("mailto://", "mailtos://")):
            raise Invalid("BELVEDERE_MAIL must be an address such as mailtos://user:password@host.")

    def of(self, customer_id: str) -> "CustomerEgress":
        """The pool, on behalf of one organization."""
        return CustomerEgress(self, customer_id)

    async def send(self, request: EgressRequest) -> EgressResult:
        """Send a request; the result has the error. Waiting for a worker and sending each have a
        timeout."""
        request.networks = self.networks
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self.limit_s):
                    place = self._lanes[_kind(request)].place(request.customer_id)
                    await stack.enter_async_context(place)
                return await self._send(request)
        except (LaneFull, TimeoutError):
            return EgressResult(
                "This organization has too many outgoing calls at the moment; try again later."
            )

    async def _send(self, request: EgressRequest) -> EgressResult:
        worker = await self._take()
        self.out.add(worker)
        try:
            async with asyncio.timeout(self.limit_s):
                result = await worker.send(request)
        except TimeoutError:
            await worker.end()
            return EgressResult(f"The receiver did not respond within {self.limit_s:g} s.")
        except OSError:
            await worker.end()
            return EgressResult("The egress worker crashed before it sent the message.")
        except BaseException:
            # A late response must not be read as the response to the next request.
            await worker.end()
            raise
        finally:
            self.out.discard(worker)
        self._return(worker)
        return result

    async def close(self) -> None:
        for task in tuple(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        while self._idle:
            worker = self._idle.pop()
            if worker.retirement is not None:
                worker.retirement.cancel()
            await worker.end()

    async def _take(self) -> EgressWorker:
        while self._idle:
            worker = self._idle.pop()
            if worker.retirement is not None:
                worker.retirement.cancel()
            if worker.process.returncode is None:
                return worker
        return EgressWorker(await _start())

    def _return(self, worker: EgressWorker) -> None:
        if worker.process.returncode is not None:
            return
        self._idle.append(worker)
        loop = asyncio.get_running_loop()
        worker.retirement = loop.call_later(IDLE_S, self._retire, worker)

    def _retire(self, worker: EgressWorker) -> None:
        if worker in self._idle:
            self._idle.remove(worker)
            # The worker exits when its input is closed, also if the server crashes.
            assert worker.process.stdin is not None
            worker.process.stdin.close()


@dataclass(slots=True)
class CustomerEgress:
    """The pool, on behalf of one organization."""

    pool: EgressPool
    customer_id: str

    async def send(self, request: EgressRequest) -> EgressResult:
        request.customer_id = self.customer_id
        return await self.pool.send(request)

    async def check(self, url: str) -> EgressResult:
        """Whether this can be the URL of a channel, and the kind of receiver."""
        return await self.send(EgressRequest(url=url, only_check=True))


def _kind(request: EgressRequest) -> LaneKind:
    if request.only_check:
        return LaneKind.CHECK
    if request.method:
        # Requests to identity providers: a person waits for the sign-in.
        return LaneKind.SIGN_IN
    if request.is_test:
        return LaneKind.TEST
    return LaneKind.MAIL if request.is_operators else LaneKind.CHANNEL


async def _start() -> asyncio.subprocess.Process:
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return await asyncio.create_subprocess_exec(
        # Isolated and without writing bytecode: the guard lets it read code, but write nothing.
        *(sys.executable, "-I", "-B", "-m", "belvedere.egress.worker"),
        env={"LANG": "C.UTF-8", "HOME": os.devnull, **environment},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=MAX_LINE,
    )
