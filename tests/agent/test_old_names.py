"""Modules that a keeper imports late. A keeper that was started before an upgrade has to find them
under their old names: otherwise it would crash together with its scripts."""

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
    ("belvedere.agent.workdir.artifact_masking", "TooMany"),
    ("belvedere.agent.workdir.removal", "main"),
    ("belvedere.agent.removal", "main"),
    ("belvedere.agent.checks.program", "main"),
    ("belvedere.agent.keeper.program", "main"),
    ("belvedere.agent.monitoring.checker_main", "main"),
)


@pytest.mark.parametrize(("module", "name"), OLD_NAMES)
def test_a_running_keeper_finds_modules_that_it_imports_late(module: str, name: str) -> None:
    assert callable(getattr(importlib.import_module(module), name))


def test_a_running_keeper_can_use_the_masker_that_it_loads_late() -> None:
    """Its own modules call these, also on a masker of the new version."""
    masker = importlib.import_module("belvedere.base.text.masking").Masker(["secret-value"])
    assert masker.feed(b"a secret-value b") + masker.finish() == b"a *** b"
    assert masker.places(b"a secret-value b") == [(2, 14)] and masker.longest >= 12


def test_kinds_of_checks_import_names_that_a_running_checker_has() -> None:
    """It loads a kind for the first monitor of that kind, perhaps after an upgrade."""
    outcome = importlib.import_module("belvedere.agent.checks.outcome")
    assert all(hasattr(outcome, name) for name in ("Outcome", "explain", "masked"))
    assert callable(importlib.import_module("belvedere.agent.isolation").aside)
