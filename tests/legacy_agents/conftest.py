"""The same server that the contract tests use."""

from contract.serving import *  # noqa: F403
