"""Capturing the output of a script: totals, digest, last line, the beginning.

Secrets are masked before anything else: only masked output is counted, stored, spooled and sent.
Memory is bounded whatever the script writes: a short output stays in memory, a longer one is
spooled.
"""

from __future__ import annotations

from belvedere.agent.output import spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from belvedere.agent.output.memory_buffer import MemoryBudget
    from belvedere.base.text.masking import Masker

# The longest last line that a report carries.
MAX_LAST_LINE = 256 * 1024
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


# From this size on, OpenSSL's SHA-256 is worth the 4 MB of memory that it needs.
FAST_DIGEST_FROM = 1024 * 1024
PIECE = 64 * 1024


# The type of hash objects has no public name.
def _light_sha256() -> Any:
    """Python's own SHA-256: a tenth of OpenSSL's speed, but already loaded."""
    try:
        from _sha256 import sha256  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        from hashlib import sha256
    return sha256()


def text(data: bytes) -> str:
    """The text for a report: invalid bytes and NUL become the replacement character."""
    return data.decode("utf-8", "replace").replace("\0", "\ufffd")


class OutputCapture:
    __slots__ = (
        "_hash",
        "_buffer",
        "_inline",
        "_has_fast_digest",
        "_last",
        "_newlines",
        "_partial",
        "_budget",
        "masker",
        "spool",
        "received_total",
        "total",
    )

    def __init__(
        self, inline: int, masks: list[str] | None = None, budget: MemoryBudget | None = None
    ) -> None:
        self._inline = inline
        self._budget = budget
        self.masker: Masker | None = None
        if masks:
            # Only scripts with secrets need this module.
            from belvedere.base.text.masking import Masker

            self.masker = Masker(masks)
        # Bytes that the script wrote.
        self.received_total = 0
        self._buffer = bytearray()
        # One of two implementations of SHA-256; hash objects have no public type.
        self._hash: Any = None
        self._has_fast_digest = False
        self._last = b""
        self._partial = bytearray()
        self._newlines = 0
        self.total = 0
        self.spool: spool.Spool | None = None

    def feed(self, data: bytes, root: str, fence: int) -> None:
        self.received_total += len(data)
        self._add(data if self.masker is None else self.masker.feed(data), root, fence)

    def finish(self, root: str, fence: int) -> None:
        """End of output: what was held back as the possible start of a secret is plain output."""
        if self.masker is not None:
            self._add(self.masker.finish(), root, fence)

    def _add(self, data: bytes, root: str, fence: int) -> None:
        line = self._newlines
        self.total += len(data)
        self._newlines += data.count(b"\n")
        self._follow_lines(data)
        if self.spool is None and self.total > self._inline:
            self.spill(root, fence)
        if self.spool is None:
            self._buffer += data
            return
        self._hash.update(data)
        self.spool.write(data, line)
        if self.total > FAST_DIGEST_FROM and not self._has_fast_digest:
            self._use_fast_digest(root, fence)

    def spill(self, root: str, fence: int) -> None:
        """From now on write everything to disk, where the agent reads it; if that fails, a limited
        amount stays in memory."""
        self._hash = _light_sha256()
        self._hash.update(self._buffer)
        self.spool = spool.Spool(root, fence, budget=self._budget)
        self.spool.write(bytes(self._buffer), 0)
        self._buffer = bytearray()

    def _use_fast_digest(self, root: str, fence: int) -> None:
        """Continue with the faster digest, read again from disk; if that fails, with the slower."""
        from hashlib import sha256

        self._has_fast_digest = True
        quick, position = sha256(), spool.SpoolPosition(0, 0)
        while data := spool.read(root, fence, position, self.total, PIECE):
            quick.update(data)
            position.offset += len(data)
        if quick.digest() == self._hash.digest():
            self._hash = quick

    def _follow_lines(self, data: bytes) -> None:
        cut = data.rfind(b"\n")
        if cut < 0:
            self._partial += data[: MAX_LAST_LINE - len(self._partial)]
            return
        complete_lines = data[:cut].rstrip()
        start = complete_lines.rfind(b"\n") + 1
        if start == 0:
            # The last line that is not empty began in an earlier piece.
            line = bytes(self._partial) + complete_lines[: MAX_LAST_LINE - len(self._partial)]
        else:
            line = complete_lines[start : start + MAX_LAST_LINE]
        if line.strip():
            self._last = line
        self._partial = bytearray(data[cut + 1 : cut + 1 + MAX_LAST_LINE])

    def _last_line(self) -> str:
        return text(bytes(self._partial).strip() or self._last.strip())

    def summary(self) -> dict[str, Any]:
        """The fields of a report that the output decides."""
        if self.total == 0:
            return {"log": "", "sha256": EMPTY}
        fields: dict[str, Any] = {
            "lastline": self._last_line(),
            "bytes_total": self.total,
            "lines_total": self._newlines + bool(self._partial),
        }
        if self.spool is None:
            digest = _light_sha256()
            digest.update(self._buffer)
            fields["log"] = text(bytes(self._buffer))
        else:
            digest = self._hash
            self.spool.close()
        fields["sha256"] = digest.hexdigest()
        return fields


class LastLineCapture(OutputCapture):
    """Only the last line of a check is used: nothing else is stored in memory or on disk."""

    __slots__ = ()

    def _add(self, data: bytes, root: str, fence: int) -> None:
        self.total += len(data)
        self._follow_lines(data)

    def summary(self) -> dict[str, Any]:
        return {"lastline": self._last_line()}
