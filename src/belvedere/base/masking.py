"""The old name of `belvedere.base.text.masking`: a keeper that was started before the files moved
and is still running imports it when it starts a script with secrets. Delete it with the next
release."""

from belvedere.base.text.masking import Masker

__all__ = ["Masker"]
