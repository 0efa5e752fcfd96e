"""The text format of Prometheus, version 0.0.4."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal

from belvedere.base.counters import Histogram

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# Characters of a label's value; a host may have a longer name.
MAX_LABEL = 200
Labels = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Family:
    """One metric: its name, what it is, and a value for each set of labels."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    about: str
    # The names of its labels.
    labels: Labels = ()
    values: Sequence[tuple[Labels, float]] = ()
    histogram: Histogram | None = field(default=None)


def gauge(name: str, about: str, value: float) -> Family:
    return Family(name, "gauge", about, values=[((), value)])


def counter(name: str, about: str, value: float) -> Family:
    return Family(name, "counter", about, values=[((), value)])


def histogram(name: str, about: str, times: Histogram) -> Family:
    return Family(name, "histogram", about, histogram=times)


def label(text: str) -> str:
    """A value of a label from a name that people choose. Two names can become the same value, so
    they are cut before counts are added up: each series may occur only once."""
    return text[:MAX_LABEL]


def render(families: Iterable[Family]) -> str:
    return "".join(f"{line}\n" for family in families for line in _lines(family))


def _lines(family: Family) -> Iterable[str]:
    yield f"# HELP {family.name} {_escape(family.about)}"
    yield f"# TYPE {family.name} {family.kind}"
    if family.histogram is not None:
        yield from _buckets(family.name, family.histogram)
    for labels, value in family.values:
        yield f"{family.name}{_label_text(family.labels, labels)} {_number(value)}"


def _buckets(name: str, times: Histogram) -> Iterable[str]:
    # A copy: the counts may change while they are written.
    counts = list(accumulate(times.counts))
    for bound, count in zip(times.bounds, counts, strict=False):
        yield f'{name}_bucket{{le="{_number(bound)}"}} {count}'
    yield f'{name}_bucket{{le="+Inf"}} {counts[-1]}'
    yield f"{name}_sum {_number(times.sum_s)}"
    yield f"{name}_count {counts[-1]}"


def _label_text(names: Labels, values: Labels) -> str:
    if not names:
        return ""
    pairs = zip(names, values, strict=True)
    return "{" + ",".join(f'{name}="{_quoted(value)}"' for name, value in pairs) + "}"


def _quoted(value: str) -> str:
    return _escape(value).replace('"', '\\"')


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else repr(float(value))
