"""Why a connection of an agent ends, and what no agent may say."""

# Larger than any fence, size or duration; still fits the columns of both engines.
WIDEST = 2**62


class Goodbye(Exception):
    """The link must end; the code and words go to the agent."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def check_numbers(*numbers: int) -> None:
    """What no agent of ours can mean must not reach the database, where it would be an error that
    looks like ours and brings the agent back for ever."""
    if numbers and not 0 <= min(numbers) <= max(numbers) < WIDEST:
        raise Goodbye(4400, "A number is out of range.")
