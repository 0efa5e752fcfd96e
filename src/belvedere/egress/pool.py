"""The server's couriers: started when there is something to carry, gone when there is not."""

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
from belvedere.egress.lanes import Kind, LaneUsage
from belvedere.egress.messages import MAX_LINE, Outcome, Parcel

# A receiver that takes longer is given up, and the courier with it.
LIMIT_S = 30.0
IDLE_S = 60.0
# A courier answers to nobody's environment, but must find the machine's certificates.
PASSED_ON = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")


@dataclass(slots=True, eq=False)
class Courier:
    """One process: a line in, a line out."""

    process: asyncio.subprocess.Process
    leaves: asyncio.TimerHandle | None = None

    async def carry(self, parcel: Parcel) -> Outcome:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(msgspec.json.encode(parcel) + b"\n")
        line = await self.process.stdout.readline()
        if not line:
            raise ConnectionResetError
        return msgspec.json.decode(line, type=Outcome)

    async def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        if self.process.stdin is not None:
            self.process.stdin.close()
        await self.process.wait()


@dataclass(slots=True)
class EgressPool:
    """A few at most; each carries one message at a time. `networks` are inner ones that may be
    called, `mail` is the address of the operator's mail server. Each lane has its own."""

    networks: str = ""
    mail: str = ""
    limit_s: float = LIMIT_S
    _idle: list[Courier] = field(default_factory=list)
    out: set[Courier] = field(default_factory=set)
    _lanes: dict[Kind, Lane] = field(default_factory=lambda: {kind: Lane(kind) for kind in Kind})
    # Messages on their way, held so that nobody else ends them.
    tasks: "set[asyncio.Task[None]]" = field(default_factory=set)
    # The messages of the outbox among them, by lane and organization.
    usage: dict[Kind, LaneUsage] = field(
        default_factory=lambda: {kind: LaneUsage(kind) for kind in (Kind.MAIL, Kind.CHANNEL)}
    )
    claiming: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        try:
            networks.parse_networks(self.networks)
        except ValueError as fault:
            raise Invalid(f"BELVEDERE_INNER_NETWORKS: {fault}.") from None
        if self.mail and not self.mail.startswith(("mailto://", "mailtos://")):
            raise Invalid("BELVEDERE_MAIL takes an address such as mailtos://user:password@host.")

    def of(self, customer_id: str) -> "Outgoing":
        """The same, on behalf of one organization."""
        return Outgoing(self, customer_id)

    async def carry(self, parcel: Parcel) -> Outcome:
        """Send it, or say why not. Waiting for a place and sending have a deadline each."""
        parcel.networks = self.networks
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self.limit_s):
                    place = self._lanes[_kind(parcel)].place(parcel.customer_id)
                    await stack.enter_async_context(place)
                return await self._carry(parcel)
        except (LaneFull, TimeoutError):
            return Outcome("Too many calls of this organization are under way; try again later.")

    async def _carry(self, parcel: Parcel) -> Outcome:
        courier = await self._take()
        self.out.add(courier)
        try:
            async with asyncio.timeout(self.limit_s):
                outcome = await courier.carry(parcel)
        except TimeoutError:
            await courier.end()
            return Outcome(f"The receiver took longer than {self.limit_s:g} s.")
        except OSError:
            await courier.end()
            return Outcome("The courier died on its way.")
        except BaseException:
            # A parcel that was left half-way must not be taken for the next one's.
            await courier.end()
            raise
        finally:
            self.out.discard(courier)
        self._rest(courier)
        return outcome

    async def close(self) -> None:
        for task in tuple(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        while self._idle:
            courier = self._idle.pop()
            if courier.leaves is not None:
                courier.leaves.cancel()
            await courier.end()

    async def _take(self) -> Courier:
        while self._idle:
            courier = self._idle.pop()
            if courier.leaves is not None:
                courier.leaves.cancel()
            if courier.process.returncode is None:
                return courier
        return Courier(await _start())

    def _rest(self, courier: Courier) -> None:
        if courier.process.returncode is not None:
            return
        self._idle.append(courier)
        loop = asyncio.get_running_loop()
        courier.leaves = loop.call_later(IDLE_S, self._dismiss, courier)

    def _dismiss(self, courier: Courier) -> None:
        if courier in self._idle:
            self._idle.remove(courier)
            # It goes when its input ends, as it does when the server dies.
            assert courier.process.stdin is not None
            courier.process.stdin.close()


@dataclass(slots=True)
class Outgoing:
    """The couriers, on behalf of one organization."""

    couriers: EgressPool
    customer_id: str

    async def carry(self, parcel: Parcel) -> Outcome:
        parcel.customer_id = self.customer_id
        return await self.couriers.carry(parcel)

    async def check(self, url: str) -> Outcome:
        """Whether a channel can have this address, and what it is."""
        return await self.carry(Parcel(url=url, only_check=True))


def _kind(parcel: Parcel) -> Kind:
    if parcel.only_check:
        return Kind.CHECK
    if parcel.method:
        # Questions to providers: somebody waits for them to sign in.
        return Kind.SIGN_IN
    if parcel.is_test:
        return Kind.TEST
    return Kind.MAIL if parcel.is_operators else Kind.CHANNEL


async def _start() -> asyncio.subprocess.Process:
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return await asyncio.create_subprocess_exec(
        # Isolated, and writing no compiled code: it may read its own files and nothing else.
        *(sys.executable, "-I", "-B", "-m", "belvedere.egress.worker"),
        env={"LANG": "C.UTF-8", "HOME": os.devnull, **environment},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=MAX_LINE,
    )
