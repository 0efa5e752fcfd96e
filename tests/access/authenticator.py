"""An authenticator app: it has the secret and the time, and computes codes."""

from dataclasses import dataclass

from belvedere.access import Actor, Keyring
from belvedere.access.crypto import totp
from belvedere.access.signin import second_factors
from belvedere.base.clock import SECOND
from belvedere.db import Database
from manual_clock import ManualClock


@dataclass
class Authenticator:
    secret: str
    clock: ManualClock

    def code(self) -> str:
        """A code that was not used yet: it moves the time to the next step."""
        self.clock.move(totp.STEP / SECOND)
        return self.now()

    def now(self) -> str:
        return totp.code_at(self.secret, self.clock() // totp.STEP)

    def wrong(self) -> str:
        """A code that is not valid in any step around now."""
        near = range(self.clock() // totp.STEP - 2, self.clock() // totp.STEP + 3)
        codes = {totp.code_at(self.secret, step) for step in near}
        return next(code for n in range(10) if (code := f"{n:06}") not in codes)


def enable_second_factor(
    db: Database, keys: Keyring, clock: ManualClock, actor: Actor
) -> tuple[Authenticator, list[str]]:
    """A second factor that is on, and its recovery codes."""
    app = Authenticator(db.write_blocking(second_factors.begin, keys, actor.user_id), clock)
    codes = db.write_blocking(second_factors.confirm, keys, actor.user_id, app.code())
    assert codes is not None
    return app, codes
