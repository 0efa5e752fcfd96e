"""The samples of a first start: one of everything, made once and taken away by one command."""

from belvedere.server.demo.create import make

__all__ = ["make"]
