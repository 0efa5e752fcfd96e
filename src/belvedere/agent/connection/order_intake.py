"""Orders and their files: missing files are downloaded before an order goes to the keeper."""

from collections.abc import Callable
from typing import Any

from belvedere.agent.disk_space import DISK_FULL, DiskSpace
from belvedere.agent.file_cache import FileCache
from belvedere.agent.keeper_client import KeeperClient
from belvedere.agent.state_folder import DISK_ERRORS
from belvedere.agent.workdir.staging import basename
from belvedere.base.failpoints import reach
from belvedere.protocol import BlobRequest, Order, unpack_blob


class OrderIntake:
    def __init__(
        self,
        keeper: KeeperClient,
        cache: FileCache,
        send: Callable[[BlobRequest], None],
        scripts_user: str = "",
        space: DiskSpace | None = None,
    ) -> None:
        self._space = space or DiskSpace(())
        self._scripts_user = scripts_user
        self._keeper = keeper
        self._cache = cache
        self._send = send
        self._waiting: dict[int, Order] = {}
        # An older keeper that still has scripts cannot mask secrets.
        self.can_mask = True

    def order(self, order: Order) -> None:
        self._space.check()
        if self._space.message:
            self._refuse_for_disk(order)
        elif order.masks and not self.can_mask:
            text = (
                "The agent was upgraded; scripts with secrets start when the running scripts "
                "have ended."
            )
            self._refuse(order, {"ending": "error", "reason": "keeper_outdated", "message": text})
        elif self._scripts_user and order.os_user not in ("", self._scripts_user):
            text = (
                f"Scripts on this host run only as {self._scripts_user!r}, not {order.os_user!r}."
            )
            self._refuse(
                order, {"ending": "error", "reason": "no_right_to_run_as", "message": text}
            )
        elif not self._pass_to_keeper(order):
            self._waiting[order.fence] = order
            self._fetch(order)

    def _pass_to_keeper(self, order: Order) -> bool:
        """Pass the order to the keeper if all of its files are here."""
        script = self._cache.path(order.sha256, basename(order.filename))
        if script is None:
            return False
        blobs = []
        for blob in order.blobs:
            path = self._cache.path(blob.sha256, "blob")
            if path is None:
                return False
            blobs.append({"index": blob.index, "filename": blob.filename, "path": path})
        reach("agent.script_cached")
        self._keeper.send(
            {
                "do": "order",
                "session": order.session,
                "fence": order.fence,
                "job_id": order.job_id,
                "runas": order.runas,
                "arguments": order.arguments,
                "env": order.env,
                "timeout_ms": order.timeout_ms,
                "grace_ms": order.grace_ms,
                "daemonize": order.daemonize,
                "os_user": self._scripts_user or order.os_user,
                "masks": order.masks,
                "script": script,
                "blobs": blobs,
            }
        )
        return True

    def _fetch(self, order: Order) -> None:
        """Request each missing file once, however many orders wait for it."""
        for digest in _digests(order):
            if self._cache.is_downloading(digest) or self._cache.path(digest, "blob") is not None:
                continue
            try:
                self._cache.expect(digest)
            except OSError as fault:
                self._fail_to_store(digest, fault)
                return
            self._send(BlobRequest(digest))

    def feed(self, frame: bytes) -> None:
        digest, data, last = unpack_blob(frame)
        is_whole = self._cache.feed(digest, data, last=last)
        if is_whole:
            for order in self._waiting_for(digest):
                if self._pass_to_keeper(order):
                    del self._waiting[order.fence]
        elif is_whole is False and self._cache.fault is not None:
            self._fail_to_store(digest, self._cache.fault)
        elif is_whole is False:
            self.fail(digest, "The received file has a wrong digest.")

    def _fail_to_store(self, digest: str, fault: OSError) -> None:
        if fault.errno not in DISK_ERRORS:
            self.fail(digest, f"The file cannot be stored: {fault}.")
            return
        self._space.fail(f"A script cannot be stored: {fault.strerror}.")
        self._cache.abandon(digest)
        for order in self._waiting_for(digest):
            del self._waiting[order.fence]
            self._refuse_for_disk(order)

    def _refuse_for_disk(self, order: Order) -> None:
        """Nothing ran; the server requeues the job and sends it again when there is space."""
        message = self._space.message
        self._refuse(order, {"ending": "error", "reason": DISK_FULL, "message": message})

    def _waiting_for(self, digest: str) -> list[Order]:
        return [order for order in self._waiting.values() if digest in _digests(order)]

    def fail(self, digest: str, reason: str) -> None:
        """This file is not available: refuse all orders that need it."""
        self._cache.abandon(digest)
        for order in self._waiting_for(digest):
            del self._waiting[order.fence]
            text = f"{order.filename or 'The script'} ({digest[:12]}) is not available. {reason}"
            self._refuse(
                order, {"ending": "error", "reason": "script_unavailable", "message": text}
            )

    def cancel(self, fence: int) -> bool:
        """Whether the order was still waiting here; then it never starts."""
        order = self._waiting.pop(fence, None)
        if order is not None:
            self._refuse(order, {"ending": "canceled", "reason": "not_started"})
        return order is not None

    def forget(self, fence: int) -> bool:
        """The same without a report to the server."""
        return self._waiting.pop(fence, None) is not None

    def _refuse(self, order: Order, report: dict[str, Any]) -> None:
        """Through the keeper's journal, like every end: it is sent until it is acknowledged."""
        message = {"do": "refuse", "session": order.session, "fence": order.fence}
        self._keeper.send({**message, "job_id": order.job_id, "report": report})

    def close(self) -> None:
        self._cache.abandon_all()


def _digests(order: Order) -> list[str]:
    return [order.sha256, *(blob.sha256 for blob in order.blobs)]
