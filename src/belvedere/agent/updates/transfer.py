"""One offer of the server on one connection: check, download, store, restart."""

import asyncio
import hashlib
import logging
import re
from collections.abc import Callable
from pathlib import Path

from belvedere import __version__
from belvedere.agent.isolation import run_detached
from belvedere.agent.setup.enrolment import save_update_key
from belvedere.agent.state_folder import StateFolder
from belvedere.agent.updates import signature
from belvedere.agent.updates.programs import Programs, UpdateFailed
from belvedere.base.text.versions import parse
from belvedere.protocol import BlobRequest, UpdateOffer, unpack_blob

log = logging.getLogger("belvedere.agent")
MAX_SIZE = 32 * 1024 * 1024
_SHA256 = re.compile(r"[0-9a-f]{64}")


class UpdateReady(Exception):
    """The new program is stored: this process has to be replaced by it."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.path = path


class AgentUpdates:
    """What the agent says about updates in its hello, and its transfers."""

    def __init__(self, folder: StateFolder, host_id: str, programs: Programs) -> None:
        self._folder = folder
        self.host_id = host_id
        self.programs = programs

    @property
    def readiness(self) -> str:
        """For the hello: empty if no version is accepted."""
        if self.programs.archive is None or self.programs.is_paused:
            return ""
        try:
            return "pinned" if self.key else "unpinned"
        except OSError as fault:
            log.error("update key is unreadable; updates are refused error=%s", fault)
            return ""

    @property
    def error(self) -> str:
        return self.programs.error

    @property
    def key(self) -> str:
        return signature.load_key(self._folder)

    def check(self, offer: UpdateOffer, session: int) -> None:
        """UpdateFailed if this version must not be installed."""
        key = self.key or offer.key
        if not key or not signature.is_valid(key, self.host_id, session, offer):
            raise UpdateFailed("The signature of the offered version is not valid.")
        if not _SHA256.fullmatch(offer.sha256) or not 0 < offer.size <= MAX_SIZE:
            raise UpdateFailed("The offer of the server is not valid.")
        offered, own = parse(offer.version), parse(__version__)
        if offered is None or own is None or offered == own:
            raise UpdateFailed(f"The offered version {offer.version!r} is invalid or already runs.")
        if offered < own and not offer.downgrade:
            raise UpdateFailed(f"Version {offer.version} is older than {__version__}.")
        if not self.key:
            save_update_key(self._folder, offer.key)


class UpdateTransfer:
    def __init__(
        self, updates: AgentUpdates, session: int, send: Callable[[BlobRequest], None]
    ) -> None:
        self._updates = updates
        self._session = session
        self._send = send
        self._offer: UpdateOffer | None = None
        self._content = bytearray()
        self._complete: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def take(self, offer: UpdateOffer) -> None:
        """The first offer of a connection; others are ignored."""
        if self._offer is not None:
            return
        self._offer = offer
        try:
            self._updates.check(offer, self._session)
            log.info("downloading update version=%s", offer.version)
            self._send(BlobRequest(offer.sha256))
        except (UpdateFailed, OSError) as fault:
            self._fail(str(fault))

    def _fail(self, message: str) -> None:
        if not self._complete.done():
            self._complete.set_exception(UpdateFailed(message))

    def _is_expected(self, sha256: str) -> bool:
        is_open = self._offer is not None and not self._complete.done()
        return is_open and self._offer is not None and self._offer.sha256 == sha256

    def feed(self, frame: bytes) -> bool:
        """Whether the frame is a part of the offered program."""
        sha256, data, is_last = unpack_blob(frame)
        if not self._is_expected(sha256):
            return False
        assert self._offer is not None
        self._content += data
        if len(self._content) > self._offer.size:
            self._fail("The download is larger than the offered program.")
        elif is_last and hashlib.sha256(self._content).hexdigest() != sha256:
            self._fail("The download is truncated or damaged.")
        elif is_last:
            self._complete.set_result(bytes(self._content))
        return True

    def miss(self, sha256: str) -> None:
        if self._is_expected(sha256):
            self._fail("The server does not have the offered program.")

    async def run(self) -> None:
        """UpdateReady when the new program is stored. After a failure the agent connects again, and
        its hello says why."""
        try:
            content = await self._complete
            assert self._offer is not None
            path = await run_detached(self._updates.programs.install, self._offer, content)
        except UpdateFailed as fault:
            self._updates.programs.fail(str(fault))
            log.error("update failed reason=%s", fault)
            raise OSError("the update failed; connecting again to report it") from None
        raise UpdateReady(path)
