"""Versions of the product: their order, and which agents a server supports."""

import re
from enum import Enum

# Releases such as 0.2.0. What follows them (rc1, .dev3, +local) does not change their order.
_VERSION = re.compile(r"(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?(?![\d])")

Version = tuple[int, int, int]


def parse(text: str) -> Version | None:
    """None if the text is not a version."""
    match = _VERSION.match(text)
    if match is None:
        return None
    return int(match[1]), int(match[2]), int(match[3] or 0)


class AgentAge(Enum):
    """The version of an agent, compared with that of its server."""

    SUPPORTED = "supported"
    # Older than the release before the server's.
    TOO_OLD = "too old"
    NEWER = "newer"
    UNKNOWN = "unknown"


def compare_agent(agent: str, server: str) -> AgentAge:
    """A server supports agents of its own and the previous release: 0.4 and 0.3. The
    release before 1.0 is any 0.x."""
    agent_version, server_version = parse(agent), parse(server)
    if agent_version is None or server_version is None:
        return AgentAge.UNKNOWN
    if agent_version > server_version:
        return AgentAge.NEWER
    if agent_version[0] == server_version[0]:
        is_supported = server_version[1] - agent_version[1] <= 1
    else:
        is_supported = server_version[1] == 0 and server_version[0] - agent_version[0] == 1
    return AgentAge.SUPPORTED if is_supported else AgentAge.TOO_OLD
