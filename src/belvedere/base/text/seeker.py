"""Looking for a pattern in texts, in turns with everybody else: it may take a second, and its
deadline must be able to end it."""

import asyncio
from time import monotonic

from belvedere.base.text.regex import Pattern
from belvedere.base.text.search import Search

# So many letters at a time, and so long without giving way.
PIECE = 32
BREATH_S = 0.005


class Seeker:
    """What it learned from one text helps with the next."""

    def __init__(self, pattern: Pattern) -> None:
        self._literal = pattern.literal
        self._search = Search(pattern)
        self._began = monotonic()

    async def finds(self, text: str) -> bool:
        if self._literal is not None:
            return self._literal in text
        self._search.restart()
        for start in range(0, len(text), PIECE):
            if self._search.feed(text[start : start + PIECE]):
                return True
            if monotonic() - self._began > BREATH_S:
                await asyncio.sleep(0)
                self._began = monotonic()
        return self._search.feed("", last=True)
