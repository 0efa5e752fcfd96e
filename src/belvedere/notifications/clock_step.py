"""The clock was set: messages wait as long as before."""

from belvedere.base.clock import Step
from belvedere.db import Tx


def move(tx: Tx, step: Step) -> None:
    """Retries and collected notices wait for a duration; the end of quiet hours is a date."""
    tx.run(
        "update messages set due_at = due_at + ? where state = 'waiting' and (attempts > 0"
        " or rule_id is null or rule_id not in (select id from rules where quiet <> '{}'))",
        step.delta,
    )
    tx.run(
        "update messages set claimed_until = claimed_until + ? where claimed_until is not null",
        step.delta,
    )
