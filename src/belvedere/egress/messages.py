"""Messages between server and egress worker: one line of JSON each way."""

import msgspec

MAX_LINE = 1 << 20


class EgressRequest(msgspec.Struct, omit_defaults=True):
    """A message for one receiver, or a check whether a URL can be a receiver."""

    url: str
    # The organization that sends it: each has a share of the concurrent calls.
    customer_id: str = ""
    title: str = ""
    body: str = ""
    severity: str = "LOW"
    # A mail of the installation goes to this address.
    to: str = ""
    # Outgoing webhooks: the JSON to post, its id, the secret that signs it, and the time.
    message_id: str = ""
    payload: str = ""
    secret: str = ""
    at_s: int = 0
    # Internal networks that may be called; `is_operators`: an address of the operator, no
    # restriction.
    networks: str = ""
    is_operators: bool = False
    only_check: bool = False
    # A test of a channel; a user waits for the result.
    is_test: bool = False
    # A request that needs the response: GET, or POST with the payload; and its headers.
    method: str = ""
    headers: dict[str, str] = {}


class EgressResult(msgspec.Struct, omit_defaults=True):
    """The result. With `for_good` the call is not repeated."""

    fault: str = ""
    for_good: bool = False
    # In a check: the kind of receiver, and the scheme of its URL.
    service: str = ""
    scheme: str = ""
    # After a request with a method: the response.
    status: int = 0
    text: str = ""

    @property
    def is_done(self) -> bool:
        return not self.fault
