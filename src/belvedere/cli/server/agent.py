"""Let this host take work from a server, or make that a service of the machine (install).

Only outgoing connections are made."""

import argparse
import os

from belvedere.agent.setup import settings
from belvedere.base import log_format
from belvedere.cli.framework.command import Args, Stop

EXAMPLE = "belvedere agent --server https://belvedere.example.org --token-file enrolment.txt"


def register(parser: argparse.ArgumentParser) -> None:
    settings.add_options(parser)


def run(args: Args) -> int:
    from belvedere.agent import main

    try:
        told = settings.read(args, os.environ)
    except ValueError as fault:
        raise Stop(str(fault), 2) from None
    log_format.configure(form=log_format.SHORT)
    return main.do(told)
