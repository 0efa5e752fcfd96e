"""THE table: every door of the server, from the features that keep them."""

from belvedere.access.api import ROUTES as ACCESS
from belvedere.access.model import Level
from belvedere.board.api import ROUTES as BOARD
from belvedere.definitions.api import ROUTES as DEFINITIONS
from belvedere.files.api import ROUTES as FILES
from belvedere.files.api_check import ROUTES as CHECKS
from belvedere.hosts.api import ROUTES as HOSTS
from belvedere.indicators.api import ROUTES as INDICATORS
from belvedere.indicators.api_badge import ROUTES as BADGES
from belvedere.indicators.api_file import ROUTES as INDICATOR_FILES
from belvedere.jobs.api import ROUTES as JOBS
from belvedere.jobs.api_agent import ROUTES as AGENT_JOBS
from belvedere.jobs.api_bulk import ROUTES as MANY_JOBS
from belvedere.jobs.api_exec import ROUTES as COMMANDS
from belvedere.jobs.api_files import ROUTES as JOB_FILES
from belvedere.jobs.api_log import ROUTES as JOB_LOGS
from belvedere.jobs.api_result import ROUTES as JOB_RESULTS
from belvedere.jobs.api_vote import ROUTES as VOTES
from belvedere.monitors.api import ROUTES as MONITORS
from belvedere.monitors.api_nested import ROUTES as NESTED
from belvedere.notifications.api import ROUTES as NOTIFY
from belvedere.notifications.api_inbox import ROUTES as INBOX
from belvedere.providers.api import ROUTES as PROVIDERS
from belvedere.rest.route import Route
from belvedere.schedules.api import ROUTES as SCHEDULES
from belvedere.secrets.api import ROUTES as SECRETS
from belvedere.server.api import ROUTES as OWN
from belvedere.server.api_about import ROUTES as ABOUT
from belvedere.server.api_demo import ROUTES as DEMO
from belvedere.server.api_event import ROUTES as EVENTS
from belvedere.server.api_explain import ROUTES as EXPLAIN
from belvedere.server.api_setup import ROUTES as SETUP
from belvedere.server.api_tag import ROUTES as TAGS
from belvedere.server.api_triggers import ROUTES as TRIGGERS
from belvedere.server.bundle import ROUTES as BUNDLE
from belvedere.server.console.api import ROUTES as CONSOLE
from belvedere.server.original.api import ROUTES as ORIGINAL
from belvedere.server.stream import ROUTES as STREAM
from belvedere.statuspages.api import ROUTES as STATUS_PAGES
from belvedere.tasks.api import ROUTES as TASKS
from belvedere.views.api import ROUTES as VIEWS
from belvedere.webhooks.api import ROUTES as WEBHOOKS
from belvedere.webhooks.api_call import ROUTES as CALLS
from belvedere.workflows.api import ROUTES as WORKFLOWS
from belvedere.workflows.api_import import ROUTES as RECIPES
from belvedere.workflows.api_job import ROUTES as WORKFLOW_JOBS

ROUTES: tuple[Route, ...] = (
    *OWN,
    *STREAM,
    *BUNDLE,
    *DEMO,
    *SETUP,
    *ABOUT,
    *BOARD,
    *ACCESS,
    *PROVIDERS,
    *HOSTS,
    *FILES,
    *CHECKS,
    *TASKS,
    *JOBS,
    *MANY_JOBS,
    *JOB_LOGS,
    *JOB_RESULTS,
    *VOTES,
    *JOB_FILES,
    *AGENT_JOBS,
    *COMMANDS,
    *ORIGINAL,
    *EVENTS,
    *TRIGGERS,
    *TAGS,
    *EXPLAIN,
    *INDICATORS,
    *BADGES,
    *INDICATOR_FILES,
    *WEBHOOKS,
    *CALLS,
    *MONITORS,
    *NESTED,
    *DEFINITIONS,
    *NOTIFY,
    *INBOX,
    *WORKFLOWS,
    *WORKFLOW_JOBS,
    *RECIPES,
    *SCHEDULES,
    *SECRETS,
    *VIEWS,
    *STATUS_PAGES,
)
# For browsers, and no part of the interface: neither described nor promised.
PAGES: tuple[Route, ...] = CONSOLE


def check(routes: tuple[Route, ...]) -> None:
    """A door without a declared level stops the server."""
    for route in routes:
        if route.level not in set(Level):
            raise SystemExit(f"{route.method} {route.path} declares no level")
