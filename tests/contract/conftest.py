"""The server that the tests of this folder use."""

from contract.serving import *  # noqa: F403
