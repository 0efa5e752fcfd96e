"""A monitor kind is named in several places; docs/contributing/add-a-monitor-kind.md lists them."""

import pkgutil
import re
from pathlib import Path

from belvedere.agent.checks import kinds as agent_kinds
from belvedere.cli.monitoring.monitor import TYPES as COMMAND_LINE_KINDS
from belvedere.monitors.config.kinds import MONITOR_KINDS
from belvedere.monitors.model import MonitorType

ROOT = Path(__file__).parents[2]
KINDS = set(MonitorType)


def _in_console(path: str, pattern: str) -> set[str]:
    return set(re.findall(pattern, (ROOT / "web" / "src" / path).read_text(), re.MULTILINE))


def test_every_kind_is_configured_and_validated() -> None:
    assert set(MONITOR_KINDS) == KINDS


def test_agents_have_a_check_for_every_kind_that_they_run() -> None:
    checks = {module.name for module in pkgutil.iter_modules(agent_kinds.__path__)}
    # Scripts run in the keeper; a file monitor with a stored file has a check of its own.
    expected = {kind.value for kind in KINDS if kind.is_run_by_agent} - {"script"}
    assert expected | {"maintained_file"} == checks


def test_the_command_line_creates_every_kind_but_hosts() -> None:
    assert set(COMMAND_LINE_KINDS) == KINDS - {"host"}


def test_the_console_has_a_form_and_a_label_for_every_kind() -> None:
    assert _in_console("pages/monitors/form/kinds.ts", r"^  (\w+): \[") >= KINDS
    # A sentence and a name, in two languages.
    for path, indent in (("pages/monitors/form/kinds.ts", 4), ("ui/monitoring/text.ts", 6)):
        text = (ROOT / "web" / "src" / path).read_text()
        for kind in KINDS:
            assert len(re.findall(rf"^ {{{indent}}}{kind}: '", text, re.MULTILINE)) == 2, path


def test_the_reference_describes_every_kind() -> None:
    text = (ROOT / "docs" / "reference" / "monitors.md").read_text()
    assert [kind for kind in sorted(KINDS) if f"\n| `{kind}` |" not in text] == []
