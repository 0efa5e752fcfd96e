"""Texts that combine values of earlier steps: `Hello {{lookup.output[0].name}}`.

A placeholder names a value and nothing else: there are no expressions, no functions and no code.
"""

import re

from belvedere.workflow_specs.model import ArgumentSource, StepPart

MAX_TEMPLATE = 4_000
MAX_PLACEHOLDERS = 20
_PLACEHOLDER = re.compile(r"\{\{([^{}]{1,600})\}\}")
_PATH = re.compile(
    r"\s*(?P<node>[^\s].{0,255}?)\.(?P<part>output|input)\[(?P<index>\d{1,3})\]"
    r"(?P<keys>(?:\.[^.\[\]{}]{1,256}?|\[\d{1,3}\]){0,16})\s*"
)
_KEY = re.compile(r"\.([^.\[\]{}]+)|\[(\d+)\]")


def parse(template: str) -> list[str | ArgumentSource]:
    """Texts and the values between them; raises ValueError with what is wrong."""
    if len(template) > MAX_TEMPLATE:
        raise ValueError(f"A template has at most {MAX_TEMPLATE} characters.")
    texts = _PLACEHOLDER.split(template)
    if len(texts) // 2 > MAX_PLACEHOLDERS:
        raise ValueError(f"A template has at most {MAX_PLACEHOLDERS} placeholders.")
    if any("{{" in text for text in texts[::2]):
        raise ValueError("A placeholder that begins with {{ must end with }}.")
    return [_source(text) if n % 2 else text for n, text in enumerate(texts)]


def _source(path: str) -> ArgumentSource:
    match = _PATH.fullmatch(path)
    if match is None:
        raise ValueError(
            f"{{{{{path[:64]}}}}} is not a value of a step. Use for example"
            " {{lookup.output[0].name}} or {{lookup.input[0]}}."
        )
    keys = [name.strip() or number for name, number in _KEY.findall(match["keys"])]
    part = StepPart(match["part"])
    return ArgumentSource(match["node"], part, int(match["index"]), keys)


def sources_in(source: ArgumentSource) -> list[ArgumentSource]:
    """The values that an argument uses: those of its template, or itself. A stored template was
    validated."""
    if not source.template:
        return [source]
    return [part for part in parse(source.template) if isinstance(part, ArgumentSource)]
