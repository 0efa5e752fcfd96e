"""The server of the contract tests, with two organizations."""

from contract.serving import *  # noqa: F403
