"""The documentation says what the code does: nothing missing, nothing stale, no dead link."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import belvedere
import reference
from belvedere.cli.completion import pages
from belvedere.events.kinds import KINDS
from belvedere.server.routes import ROUTES
from belvedere.settings import TABLE
from pages import differences
from pages.errors import raised

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not {".venv", ".git", ".hypothesis", "build", "node_modules", "src"}
    & set(path.relative_to(ROOT).parts)
)
REFERENCE = ROOT / "docs" / "reference"


def _read(name: str) -> str:
    return (REFERENCE / name).read_text()


# For the page of errors, all of the source is parsed.
@pytest.mark.limit(240)
@pytest.mark.parametrize("name", reference.PAGES)
def test_the_generated_reference_is_up_to_date(name: str) -> None:
    assert _read(name) == reference.PAGES[name](), "run: make reference"


def test_the_migration_page_has_every_deviation() -> None:
    text = reference.MIGRATION.read_text()
    assert text == reference.migration_page(), "run: make reference"
    rows = differences.rows(_read("deviations.md"))
    assert len(rows) > 20
    assert [row for row in rows if row.partition(" | ")[0] not in text] == []


def test_every_route_is_described() -> None:
    text = _read("routes.md")
    assert ROUTES
    assert [r for r in ROUTES if f"| {r.method} | `{r.path}` | {r.level} |" not in text] == []


def test_every_route_says_what_it_does() -> None:
    assert [f"{route.method} {route.path}" for route in ROUTES if not route.summary] == []


def test_every_setting_is_described() -> None:
    text = _read("settings.md")
    assert [env for _, env, _, _ in TABLE if f"`{env}`" not in text] == []


def test_every_variable_in_the_code_is_described() -> None:
    source = "".join(path.read_text() for path in Path(belvedere.__file__).parent.rglob("*.py"))
    text = "".join(path.read_text() for path in REFERENCE.glob("*.md"))
    words = set(re.findall(r"\b(?:BELVEDERE|THEEYE)_[A-Z_]*[A-Z]\b", source))
    assert words - set(re.findall(r"`((?:BELVEDERE|THEEYE)_[A-Z_]+)", text)) == set()


def test_the_layout_page_has_every_package() -> None:
    text = (ROOT / "docs" / "contributing" / "layout.md").read_text()
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    assert "\n".join(["```", *rules["contracts"][0]["layers"], "```"]) in text
    packages = [path.parent.name for path in Path(belvedere.__file__).parent.glob("*/__init__.py")]
    assert [name for name in packages if f"\n  {name}/ " not in text] == []


def test_the_layout_page_has_the_layers_of_every_package() -> None:
    text = (ROOT / "docs" / "contributing" / "layout.md").read_text()
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    inner = [rule for rule in rules["contracts"] if rule.get("containers", ["belvedere"])[1:] == []]
    rows = [_layer_row(rule) for rule in inner if rule["name"].startswith("Inside ")]
    assert {"access", "agent", "indicators", "jobs", "monitors", "server"} <= {
        rule["containers"][0].removeprefix("belvedere.") for rule in inner if "containers" in rule
    }
    assert [row for row in rows if f"\n{row}\n" not in text] == []


def test_the_contract_of_a_package_has_every_module() -> None:
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]
    inner = [
        rule
        for rule in rules
        if rule["name"].startswith("Inside ") and "a feature" not in rule["name"]
    ]
    assert [rule["name"] for rule in inner if not rule.get("exhaustive")] == []
    [transport] = [rule for rule in rules if "uvicorn" in rule["name"]]
    server = Path(belvedere.__file__).parent / "server"
    modules = {f"belvedere.server.{path.stem}" for path in server.iterdir() if _is_module(path)}
    assert modules - set(transport["source_modules"]) == {"belvedere.server.transport"}


def _is_module(path: Path) -> bool:
    return (path / "__init__.py").exists() or path.suffix == ".py" and path.stem != "__init__"


def test_a_job_is_read_in_few_files() -> None:
    text = (ROOT / "docs" / "explanation" / "story-of-a-job.md").read_text()
    files = re.findall(r"^\| \[([a-z_/]+\.py)\]", text, re.MULTILINE)
    on_host = [file for file in files if file.startswith("agent/")]
    assert len(set(files)) == len(files)
    assert (len(files) - len(on_host), len(on_host)) == (25, 12)


def _layer_row(rule: dict[str, Any]) -> str:
    layers = [
        layer.translate({40: None, 41: None}).replace(" | ", ", ") for layer in rule["layers"]
    ]
    return f"| `{rule['containers'][0].removeprefix('belvedere.')}` | {' > '.join(layers)} |"


def test_every_error_code_is_described() -> None:
    text = _read("errors.md")
    codes = {item.code for item in raised()} | {word for route in ROUTES for word in route.codes}
    assert {word for word in codes if f"| `{word}` |" not in text} == set()


def test_every_event_kind_is_described() -> None:
    text = _read("events.md")
    assert [kind for kind in KINDS if f"| `{kind}` |" not in text] == []


def test_every_command_is_described() -> None:
    text = _read("cli.md")
    assert [page.path for page in pages() if f"\n## {page.path}\n" not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        value = (page.parent / path).resolve() if path else page
        assert value.exists(), f"{target} leads nowhere"
        assert not anchor or anchor in _anchors(value), f"{target}: no such heading"


INDEX_INSTALL = re.compile(r"\b(?:pipx?|pip3|uv tool) install(?: -\S+)* [\"']?belvedere(?![\w./-])")
TEXTS = [
    *PAGES,
    *(path for folder in ("src", "deploy", "tools") for path in (ROOT / folder).rglob("*.*")),
    *(ROOT / "web" / "src").rglob("*.ts*"),
]


def test_nothing_installs_belvedere_from_a_package_index() -> None:
    """It is not on PyPI: somebody else could register the name."""
    assert INDEX_INSTALL.search("bin/pip install -q belvedere") is not None
    assert INDEX_INSTALL.search("pip install belvedere-0.1.0-py3-none-any.whl") is None
    names = [path for path in TEXTS if path.suffix in (".md", ".py", ".sh", ".ts", ".tsx", ".yaml")]
    assert [path for path in names if INDEX_INSTALL.search(path.read_text())] == []


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}
