"""The old name of `belvedere.agent.workdir.artifact_masking`: a keeper that was started before the
files moved and is still running imports it when a script with secrets leaves files. Delete it with
the next release."""

from belvedere.agent.workdir.artifact_masking import TooMany, blot

__all__ = ["TooMany", "blot"]
