"""Modules that a keeper imports late. A keeper that was started before an upgrade has to find them
under the names it knows: without them it would crash together with its scripts."""

import importlib

import pytest

OLD_NAMES = (
    ("belvedere.base.masking", "Masker"),
    ("belvedere.agent.blotting", "blot"),
    ("belvedere.agent.blotting", "TooMany"),
    ("belvedere.agent.boot", "command"),
    ("belvedere.agent.keeper", "main"),
    ("belvedere.base.text.masking", "Masker"),
    ("belvedere.agent.workdir.artifact_masking", "blot"),
)


@pytest.mark.parametrize(("module", "name"), OLD_NAMES)
def test_a_running_keeper_finds_what_it_imports_late(module: str, name: str) -> None:
    assert callable(getattr(importlib.import_module(module), name))
