"""The packages of the console: exact versions with their digests, from any registry."""

import json
import re
from typing import Any

from console.hook import ROOT

EXACT = re.compile(r"\d+\.\d+\.\d+")


def read(name: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((ROOT / "web" / name).read_text())
    return record


def test_the_lock_belongs_to_the_package() -> None:
    """The lock matches the package; otherwise `npm ci` would refuse both."""
    package, lock = read("package.json"), read("package-lock.json")
    for kind in ("dependencies", "devDependencies"):
        assert package[kind] == lock["packages"][""][kind]


def test_versions_are_exact() -> None:
    package = read("package.json")
    expected = {**package["dependencies"], **package["devDependencies"]}
    assert [name for name, version in expected.items() if not EXACT.fullmatch(version)] == []


def test_the_lock_names_no_registry() -> None:
    packages = read("package-lock.json")["packages"]
    inner = {name: package for name, package in packages.items() if name}
    assert len(inner) > 100
    assert [name for name, package in inner.items() if "resolved" in package] == []
    assert [name for name, package in inner.items() if "integrity" not in package] == []
