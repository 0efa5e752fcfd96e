"""Values that are more than a line: charts are validated, HTML is sanitized."""

from html.parser import HTMLParser

import msgspec
import pytest

from belvedere.base.errors import Invalid
from belvedere.indicators.values import chart, html
from belvedere.indicators.values.chart import Chart, ChartSeries

PICTURE = "data:image/png;base64,iVBORw0KGgo="
# Each tries to run, load, send or cover something.
HOSTILE = [
    "<script>canary()</script>",
    "<SCRIPT SRC=//evil.test/x></SCRIPT>",
    "<img src=x onerror=canary()>",
    "<img src=//evil.test/x.png>",
    "<img src=https://evil.test/x.png>",
    "<img src='data:image/svg+xml;base64,PHN2Zz4='>",
    "<svg><script>canary()</script></svg>",
    "<svg onload=canary()><a xlink:href='javascript:canary()'>x</a></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=canary()>",
    "<a href='javascript:canary()'>x</a>",
    "<a href='jAvA\tscript:canary()'>x</a>",
    "<a href='&#106;avascript:canary()'>x</a>",
    "<a href='data:text/html,<script>canary()</script>'>x</a>",
    "<a href='/api/auth/logout'>x</a>",
    "<a href='//evil.test'>x</a>",
    "<a href='vbscript:canary()'>x</a>",
    "<iframe src=//evil.test></iframe>",
    "<iframe srcdoc='<script>canary()</script>'></iframe>",
    "<object data=//evil.test></object><embed src=//evil.test>",
    "<form action=//evil.test><input name=password><button>canary</button></form>",
    "<meta http-equiv=refresh content='0;url=//evil.test'><base href=//evil.test>",
    "<link rel=stylesheet href=//evil.test><style>@import '//evil.test'</style>",
    "<p style='position:fixed;inset:0;background:url(//evil.test)'>x</p>",
    "<p style='width:expression(canary())' onclick=canary() id=app class=tile>x</p>",
    "<video src=//evil.test autoplay onplay=canary()></video><audio src=//evil.test></audio>",
    '<noscript><p title="</noscript><img src=x onerror=canary()>">',
    "<!--><img src=x onerror=canary()>-->",
    "<template><img src=x onerror=canary()></template>",
    "<details open ontoggle=canary()>x</details>",
    "<textarea><img src=x onerror=canary()></textarea>",
    "<xmp><img src=x onerror=canary()></xmp>",
    "<plaintext><img src=x onerror=canary()>",
    "<img alt='`><img src=x onerror=canary()>'>",
]


class TagCollector(HTMLParser):
    """Every tag and attribute of a text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


def test_html_keeps_allowed_markup() -> None:
    text = "<h3>Shifts</h3><table><tr><td style='color:red'>Ada</td></tr></table>"
    actual_text = html.sanitize(text)
    assert actual_text.startswith("<h3>Shifts</h3><table>") and 'style="color:red"' in actual_text
    assert html.sanitize(actual_text) == actual_text
    assert html.to_text(actual_text) == "Shifts Ada"
    assert html.sanitize(f'<img src="{PICTURE}" alt="x">') == f'<img src="{PICTURE}" alt="x">'


@pytest.mark.parametrize("text", HOSTILE)
def test_active_content_is_removed(text: str) -> None:
    actual_text = html.sanitize(f"<p>before</p>{text}")
    tag_collector = TagCollector(actual_text)
    assert tag_collector.tags <= html.TAGS
    for name, value in tag_collector.attributes:
        assert not name.startswith("on") and name not in ("id", "class"), actual_text
        assert "evil.test" not in value and "position" not in value, actual_text
        assert name not in ("href", "src", "action", "data", "srcdoc"), actual_text
    assert "before" in html.to_text(actual_text)
    assert html.sanitize(actual_text) == actual_text or "<a" in actual_text


def test_a_link_opens_outside_and_sends_no_referrer() -> None:
    tag_collector = TagCollector(
        html.sanitize('<a href="https://status.test/?a=1&amp;b=2" target="_top">x</a>')
    )
    assert dict(tag_collector.attributes) == {
        "href": "https://status.test/?a=1&b=2",
        "target": "_blank",
        "rel": "noopener noreferrer",
    }


@pytest.mark.parametrize(
    "text",
    [
        5,
        None,
        "x" * (html.MAX_HTML + 1),
        "a\0b",
        "\ud800",
        "<div>" * 300,
        "<DIV></b>" * 300,
        "&" * html.MAX_HTML,
    ],
)
def test_html_that_cannot_be_stored_is_refused(text: object) -> None:
    with pytest.raises(Invalid):
        html.sanitize(text)


def test_a_long_table_is_not_deep() -> None:
    assert html.sanitize("<table>" + "<tr><td>1" * 3_000).count("<td>") == 3_000


def test_a_chart_is_returned_unchanged() -> None:
    input_chart = Chart(
        [ChartSeries("a", [1, None, 2.5])], "bar", labels=["x", "y", "z"], unit="ms"
    )
    text = chart.encode_chart(input_chart)
    assert chart.decode_chart(text) == input_chart
    # The command line has only texts.
    assert chart.encode_chart(text) == text
    assert chart.last_value(input_chart) == 2.5
    assert (chart.last_value(chart.EMPTY), chart.encode_chart(chart.EMPTY) != "") == ("", True)
    assert chart.last_value(Chart([ChartSeries("a", [7, None])])) == 7


@pytest.mark.parametrize("number", [10**30, -(10**30), 2**64, 2**53 + 1])
def test_a_very_large_number_is_stored_as_the_nearest(number: int) -> None:
    (value,) = (
        chart.decode_chart(chart.encode_chart(Chart([ChartSeries("a", [number])]))).series[0].values
    )
    assert value == float(number)


TIMES = ["2026-01-31T08:00:00Z", "2026-01-31T09:00:00Z"]


@pytest.mark.parametrize(
    "item, field",
    [
        ("{", "value"),
        ("[]", "value"),
        ("half", "value"),
        (5, "value"),
        ('{"series": [], "more": 1}', "value"),
        ('{"series": [{"name": "a", "values": ["x"]}]}', "value"),
        ('{"series": [{"name": "", "values": []}]}', "value.series[0].name"),
        ('{"series": [{"name": "a", "values": [1e400]}]}', "value"),
        ('{"series": [], "kind": "pie"}', "value.kind"),
        ('{"series": [], "unit": "two\\nlines"}', "value.unit"),
        (
            '{"series": [{"name": "a", "values": [1]}], "labels": ["x", "y"]}',
            "value.series[0].values",
        ),
        (Chart([], labels=["x"], times=TIMES[:1]), "value.times"),
        (Chart([], times=TIMES[::-1]), "value.times"),
        (Chart([], times=["noon"]), "value.times"),
        (Chart([ChartSeries("a", [1] * 501)]), "value.series[0].values"),
        (Chart([ChartSeries("a", [])] * 9), "value.series"),
        (Chart([ChartSeries("a", [float("inf")])]), "value.series[0].values"),
        (Chart([ChartSeries("a", [10**400])]), "value.series[0].values"),
        ('{"series": [{"name": "a", "values": [1%s]}]}' % ("0" * 400), "value.series[0].values"),
        ('{"series": [{"name": "\ud800", "values": []}]}', "value"),
        (Chart([], labels=["\ud800"]), "value.labels[0]"),
        (Chart([], times=["\ud800"]), "value.times"),
        (Chart([ChartSeries("a", [-1.2345678901234567e-100] * 500)] * 8), "value"),
    ],
)
def test_a_chart_that_cannot_be_drawn_is_refused(item: object, field: str) -> None:
    with pytest.raises(Invalid) as refused:
        chart.encode_chart(item)
    assert refused.value.faults[0].field == field, msgspec.json.encode(refused.value.faults)
