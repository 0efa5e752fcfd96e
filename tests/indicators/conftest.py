"""Indicators of acme."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from belvedere.db import Database
from belvedere.indicators import service
from belvedere.indicators.bodies import IndicatorBody
from belvedere.indicators.model import IndicatorRow
from people import Actors

Make = Callable[..., IndicatorRow]


def body(**fields: Any) -> IndicatorBody:
    """A body as the server hands it over."""
    return msgspec.convert(fields, IndicatorBody, strict=False)


@pytest.fixture
def make(db: Database, actors: Actors) -> Make:
    def create(title: str = "Queue", type: str = "counter", **more: Any) -> IndicatorRow:
        indicator = body(title=title, type=type, **more)
        return db.write_blocking(service.create, actors.ada, indicator).row

    return create
