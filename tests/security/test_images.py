"""Container images: each is a full version, and the operator can pin it by its digest."""

import re
from pathlib import Path

import pytest

DEPLOY = Path(__file__).parents[2] / "deploy"
# How many numbers the full version of an image has: PostgreSQL counts major.minor.
NUMBERS = {"python": 3, "postgres": 2}
IMAGE = re.compile(
    r"(?P<name>[a-z0-9./-]+)(:(?P<version>[0-9.]+)(-[a-z0-9.-]+)?)?(@sha256:[0-9a-f]{64})?"
)
SETTING = re.compile(r"\$\{([A-Z]+_IMAGE):-([^}]+)\}")


def is_full(image: str) -> bool:
    """Whether it is a digest, or a tag that names one release."""
    match = IMAGE.fullmatch(image)
    if match is None:
        return False
    numbers = (match["version"] or "").split(".")
    return "@sha256:" in image or len(numbers) == NUMBERS.get(match["name"], 3)


def lines(name: str, start: str) -> list[str]:
    texts = (DEPLOY / name).read_text().splitlines()
    return [line.strip().removeprefix(start) for line in texts if line.strip().startswith(start)]


def test_tags_that_move_are_found() -> None:
    assert is_full("python:3.11.13-slim-bookworm") and is_full("postgres:17.6")
    assert is_full(f"python@sha256:{'0' * 64}") and is_full(f"python:3.11@sha256:{'0' * 64}")
    for floating in ("python", "python:latest", "python:3.11-slim", "postgres:17", "redis:7.2"):
        assert not is_full(floating), floating


def test_the_image_of_the_server_is_built_from_a_full_version() -> None:
    names = {line.split()[0] for line in lines("Dockerfile", "FROM ")}
    assert names == {"${PYTHON_IMAGE}"}, "images come from an ARG, which can hold a digest"
    for argument in lines("Dockerfile", "ARG "):
        assert is_full(argument.partition("=")[2]), argument


@pytest.mark.parametrize(
    ("name", "count"), [("compose.yaml", 2), ("compose-three-servers.yaml", 3)]
)
def test_images_of_the_compose_files_are_full_versions(name: str, count: int) -> None:
    settings = [*lines(name, "image: "), *lines(name, "PYTHON_IMAGE: ")]
    assert len(settings) == count
    for text in settings:
        setting = SETTING.fullmatch(text)
        assert setting is not None, f"{text}: name it by a variable, which can hold a digest"
        assert is_full(setting[2]), text
