"""Run jobs and checks of a server on this host, or install that as a system service (install).

The agent only makes outgoing connections."""

import argparse
import os

from belvedere.agent.setup import settings
from belvedere.cli.framework.command import Args, CommandError

EXAMPLE = "belvedere agent --server https://belvedere.example.org --token-file enrolment.txt"


def register(parser: argparse.ArgumentParser) -> None:
    settings.add_options(parser)


def run(args: Args) -> int:
    from belvedere.agent import main

    try:
        agent_settings = settings.read(args, os.environ)
    except ValueError as fault:
        raise CommandError(str(fault), 2) from None
    return main.perform(agent_settings)
