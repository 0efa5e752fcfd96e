"""A recording of two terminals as an animated SVG, which plays in an `<img>` without scripts."""

from dataclasses import dataclass, field
from html import escape

WIDTH, LINE, PADDING = 760, 21, 16
# Longer waits are shortened, so that nobody waits for the picture.
MAX_GAP_S = 1.4
# The last picture stays for a while, then the recording starts again.
HOLD_S = 6.0
COLOURS = {"prompt": "#9aa3b0", "command": "#e6e9ee", "output": "#c3c9d2", "note": "#f0bb4e"}


@dataclass(frozen=True)
class Line:
    at_s: float
    terminal: int
    kind: str
    text: str


@dataclass
class Recording:
    titles: tuple[str, ...]
    lines: list[Line] = field(default_factory=list)

    def add(self, at_s: float, terminal: int, kind: str, text: str) -> None:
        self.lines.append(Line(at_s, terminal, kind, text))

    def texts(self) -> list[str]:
        return [line.text for line in self._by_time()]

    def svg(self, label: str) -> str:
        moments = self._moments()
        total = moments[-1] + HOLD_S
        rows = [self._rows(number) for number in range(len(self.titles))]
        tops = [
            PADDING + sum(_height(len(inner)) + PADDING for inner in rows[:number])
            for number in range(len(rows))
        ]
        height = tops[-1] + _height(len(rows[-1])) + PADDING
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
            f' aria-label="{escape(label)}" font-family="ui-monospace, SFMono-Regular, Menlo,'
            ' Consolas, monospace" font-size="14">',
            f"<style>{_style(moments, total)}</style>",
            f'<rect width="{WIDTH}" height="{height}" rx="10" fill="#0e1116"/>',
        ]
        for number, top in enumerate(tops):
            parts += self._terminal(number, top, rows[number])
        return "\n".join([*parts, "</svg>", ""])

    def _by_time(self) -> list[Line]:
        return sorted(self.lines, key=lambda line: line.at_s)

    def _moments(self) -> list[float]:
        """When each line appears, in the order of their times."""
        times = [line.at_s for line in self._by_time()]
        gaps = [
            min(after - before, MAX_GAP_S) for before, after in zip(times, times[1:], strict=False)
        ]
        return [round(0.4 + sum(gaps[:number]), 2) for number in range(len(times))]

    def _rows(self, terminal: int) -> list[tuple[int, Line]]:
        return [
            (number, line)
            for number, line in enumerate(self._by_time())
            if line.terminal == terminal
        ]

    def _terminal(self, number: int, top: int, rows: list[tuple[int, Line]]) -> list[str]:
        width, height = WIDTH - 2 * PADDING, _height(len(rows))
        return [
            f'<rect x="{PADDING}" y="{top}" width="{width}" height="{height}" rx="8"'
            ' fill="#14171c" stroke="#2d343f"/>',
            f'<text x="{2 * PADDING}" y="{top + 22}" fill="{COLOURS["prompt"]}" font-size="12">'
            f"{escape(self.titles[number])}</text>",
            *(
                f'<text class="l{at}" x="{2 * PADDING}" y="{top + 48 + LINE * row}" '
                f'xml:space="preserve" fill="{COLOURS[line.kind]}">{escape(line.text)}</text>'
                for row, (at, line) in enumerate(rows)
            ),
        ]


def _height(lines: int) -> int:
    return 42 + LINE * lines


def _style(moments: list[float], total: float) -> str:
    """Each line is hidden until its moment. Readers who want no motion see the end."""
    rules = []
    for number, moment in enumerate(moments):
        percent = 100 * moment / total
        rules.append(
            f"@keyframes k{number}{{0%,{percent:.2f}%{{opacity:0}}"
            f"{percent + 0.01:.2f}%,100%{{opacity:1}}}}"
            f".l{number}{{animation:k{number} {total:.1f}s infinite}}"
        )
    return "".join(rules) + "@media(prefers-reduced-motion:reduce){text{animation:none!important}}"
