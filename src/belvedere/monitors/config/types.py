"""What each type of monitor needs to know: one struct per type."""

import msgspec

from belvedere.base.clock import Millis
from belvedere.monitors.model import TIMEOUT, Type


class Nothing(msgspec.Struct):
    """A host needs no more than itself."""


class Scraper(msgspec.Struct):
    """A web address is asked, and its answer compared."""

    url: str = ""
    timeout: Millis = TIMEOUT
    # A regular expression that the whole status must fit; empty: anything below 400.
    status_code: str = ""
    # A regular expression that must be somewhere in the answer.
    pattern: str = ""
    # `$.a.b[0]` in an answer that is JSON, and the value that must be there.
    json_path: str = ""
    json_value: str | None = None
    # Milliseconds after which an answer counts as a miss; 0: only the timeout does.
    max_ms: int = 0
    method: str = "GET"
    headers: dict[str, str] = {}
    body: str = ""
    gzip: bool = False
    json: bool = False
    parser: str = ""


class Limits(msgspec.Struct):
    """Percent."""

    cpu: float = 90
    mem: float = 90
    cache: float = 90
    disk: float = 90


class Dstat(msgspec.Struct):
    limit: Limits = msgspec.field(default_factory=Limits)
    timeout: Millis = TIMEOUT


class Process(msgspec.Struct):
    """Processes whose command line holds a text, or fits a regular expression."""

    raw_search: str = ""
    is_regexp: bool = False
    least: int = 1
    most: int | None = None
    timeout: Millis = TIMEOUT


class File(msgspec.Struct):
    """A file that must be there, with these rights; `changed` when it becomes another one."""

    path: str = ""
    permissions: str = ""
    os_username: str = ""
    os_groupname: str = ""
    timeout: Millis = TIMEOUT


class Script(msgspec.Struct):
    """A stored script; its end and its last line say how it went."""

    script_id: str = ""
    script_arguments: list[str] = []
    script_runas: str = ""
    timeout: Millis = TIMEOUT


class Nested(msgspec.Struct):
    """Good when all of these are."""

    monitors: list[str] = []


class Tcp(msgspec.Struct):
    """A port that takes connections."""

    target: str = ""
    port: int = 0
    timeout: Millis = TIMEOUT


class Ping(msgspec.Struct):
    target: str = ""
    timeout: Millis = TIMEOUT


class Dns(msgspec.Struct):
    """A name that has an address; with `address`, that one."""

    target: str = ""
    record: str = "A"
    address: str = ""
    timeout: Millis = TIMEOUT


class Tls(msgspec.Struct):
    """A certificate that is good, and for how many days it must still be."""

    target: str = ""
    port: int = 443
    days: int = 14
    timeout: Millis = TIMEOUT


class Push(msgspec.Struct):
    """A URL that must be called once per looptime, and so much later at most."""

    grace: Millis = 0


CONFIGS: dict[Type, type[msgspec.Struct]] = {
    Type.SCRAPER: Scraper,
    Type.DSTAT: Dstat,
    Type.HOST: Nothing,
    Type.PROCESS: Process,
    Type.FILE: File,
    Type.SCRIPT: Script,
    Type.NESTED: Nested,
    Type.TCP: Tcp,
    Type.PING: Ping,
    Type.DNS: Dns,
    Type.TLS: Tls,
    Type.PUSH: Push,
}
