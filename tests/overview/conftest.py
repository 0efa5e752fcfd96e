"""The same server that the contract tests talk to."""

from contract.serving import ada, eve, runtime, settings, uma, vic, world

__all__ = ["ada", "eve", "runtime", "settings", "uma", "vic", "world"]
