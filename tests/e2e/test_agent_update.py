"""A server updates an agent of an older version that was installed as one file."""

import sys
from pathlib import Path

from agent.test_updates import build
from belvedere import __version__
from e2e.programs import Agent
from e2e.wait_until import until
from e2e.world import World

OLD = "0.0.1"
SCRIPT = '#!/bin/sh\necho before\nuntil test -e "$1"; do sleep 0.05; done\necho after\n'


def old_agent(world: World) -> Agent:
    program = world.folder / "belvedere-agent.pyz"
    program.write_bytes(build(OLD))
    agent = world.agents["web"] = Agent(world.folder / "web", "web")
    agent.command, agent.words = (sys.executable, "-I", str(program)), agent.words[1:]
    agent.start(world.url, BELVEDERE_ENROLMENT_TOKEN=world.enrolment())
    world.wait_connected(agent)
    return agent


def test_an_agent_is_updated_while_a_script_runs(tmp_path: Path) -> None:
    with World(tmp_path) as world:
        world.start(BELVEDERE_AGENT_UPDATES="off")
        agent = old_agent(world)
        assert world.hosts()[0]["agent_version"] == OLD
        end = tmp_path / "end"
        job_id = world.run(world.task(SCRIPT, agent, "end"), str(end))
        world.wait_running(job_id)
        world.server.stop()
        world.start(BELVEDERE_AGENT_UPDATES="all")
        until(
            lambda: world.wait_connected(agent)["agent_version"] == __version__, 60, agent.read_log
        )
        end.touch()
        job = world.wait_ended(job_id)
        assert (job["state"], len(job["attempts"])) == ("normal", 1)
        assert world.log(job_id) == b"before\nafter\n"
        later = world.run(world.task("#!/bin/sh\n", agent))
        assert world.wait_ended(later)["state"] == "normal"
