"""The badge of an indicator."""

import xml.dom.minidom

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from belvedere.indicators import model
from belvedere.indicators.api import badge_svg
from belvedere.indicators.model import IndicatorRow

NOW = 1_700_000_000_000


def row(type: str = "text", value: model.IndicatorValue = "fine", **more: object) -> IndicatorRow:
    indicator = model.new_row("0" * 24, "1" * 24, "2" * 24, NOW)
    fields = {"title": "Queue", "type": type, "state": "normal", "severity": "HIGH", **more}
    indicator = msgspec.structs.replace(indicator, **fields)
    model.write_value(indicator, value)
    return indicator


def test_a_badge_shows_title_and_value() -> None:
    text = badge_svg.draw_indicator(row(), NOW)
    assert "Queue: fine" in text and badge_svg.NORMAL in text


@pytest.mark.parametrize(("severity", "colour"), [("HIGH", badge_svg.HIGH), ("LOW", badge_svg.LOW)])
def test_a_failure_shows_its_severity_and_says_so(severity: str, colour: str) -> None:
    text = badge_svg.draw_indicator(row(state="failure", severity=severity), NOW)
    assert colour in text and "fine · failure" in text and badge_svg.NORMAL not in text


def test_a_stale_indicator_is_gray_and_labeled() -> None:
    text = badge_svg.draw_indicator(row(stale_at=NOW), NOW)
    assert "fine · stale" in text and badge_svg.NORMAL not in text


@pytest.mark.parametrize(("value", "part"), [(-20, 0), (0, 0), (25, 0.25), (100, 1), (900, 1)])
def test_the_bar_is_clamped_but_the_value_is_not(value: float, part: float) -> None:
    text = badge_svg.draw_indicator(row("progress", value), NOW)
    right = len(f"{value}%") * badge_svg.LETTER_WIDTH + 2 * badge_svg.PADDING
    assert f"{value}%" in text
    assert f'width="{round(right) * part:.1f}"' in text


@given(st.text(max_size=300), st.text(max_size=300))
def test_every_value_gives_a_valid_image(title: str, value: str) -> None:
    indicator = row()
    indicator.title, indicator.text_value = title, value
    document = xml.dom.minidom.parseString(badge_svg.draw_indicator(indicator, NOW))
    names = {node.tagName for node in document.getElementsByTagName("*")}
    assert names == {"svg", "title", "rect", "g", "text"}
