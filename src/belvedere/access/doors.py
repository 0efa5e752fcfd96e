"""What the doors of this room have in common: the organization is the one of whoever asks."""

from functools import partial

from belvedere.rest.route import Route

plain = partial(Route, style="plain")
