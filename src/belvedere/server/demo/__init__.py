"""The demo of a first start: objects of each kind, created once and removed by one command."""

from belvedere.server.demo.create import create_demo

__all__ = ["create_demo"]
