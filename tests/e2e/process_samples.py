"""What a process uses, counted again and again, and whether that grows."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Sample:
    memory: int
    descriptors: int
    threads: int
    wal: int


def take_sample(pid: int, data: Path) -> Sample:
    process = Path("/proc", str(pid))
    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    return Sample(
        memory=int(status["VmRSS"].split()[0]) * 1024,
        descriptors=len(list((process / "fd").iterdir())),
        threads=int(status["Threads"]),
        wal=sum(path.stat().st_size for path in data.glob("*.db-wal")),
    )


def measure_growth(samples: Sequence[Sample]) -> dict[str, float]:
    """The slope of a straight line through the values (least squares), times the length of the run:
    how much of each was added from the first to the last sample."""
    return {
        field.name: _slope([getattr(sample, field.name) for sample in samples]) * (len(samples) - 1)
        for field in fields(Sample)
    }


def _slope(values: Sequence[float]) -> float:
    middle = (len(values) - 1) / 2
    mean = sum(values) / len(values)
    numerator = sum((at - middle) * (value - mean) for at, value in enumerate(values))
    return numerator / sum((at - middle) ** 2 for at in range(len(values)))
