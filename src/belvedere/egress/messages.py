"""What server and courier say to each other: one line of JSON each way."""

import msgspec

MAX_LINE = 1 << 20


class Parcel(msgspec.Struct, omit_defaults=True):
    """A text for one receiver, or only a question whether its address can be one."""

    url: str
    # On behalf of which organization it is sent: each has its share of what goes out at once.
    customer_id: str = ""
    title: str = ""
    body: str = ""
    severity: str = "LOW"
    # A mail of the installation goes to this address.
    to: str = ""
    # Our own webhooks: the JSON to post, its id, the secret that signs it, and the moment.
    message_id: str = ""
    payload: str = ""
    secret: str = ""
    at_s: int = 0
    # Inner networks that may be called; `is_operators`: the operator's own address, anything may.
    networks: str = ""
    is_operators: bool = False
    only_check: bool = False
    # A test of a channel, for which somebody waits.
    is_test: bool = False
    # A question whose answer is wanted: GET, or POST with the payload; and its headers.
    method: str = ""
    headers: dict[str, str] = {}


class Outcome(msgspec.Struct, omit_defaults=True):
    """What came of it. A fault for good is not tried again."""

    fault: str = ""
    for_good: bool = False
    # Of a check: what kind of receiver it is, and the scheme of its address.
    service: str = ""
    scheme: str = ""
    # Of a question: what was answered.
    status: int = 0
    text: str = ""

    @property
    def is_done(self) -> bool:
        return not self.fault
