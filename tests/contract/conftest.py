"""The server that the tests of this folder talk to."""

from contract.serving import *  # noqa: F403
