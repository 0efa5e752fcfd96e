"""The table of all routes of the server, collected from the features."""

from belvedere.access.actor import Level
from belvedere.access.api import ROUTES as ACCESS
from belvedere.definitions.api import ROUTES as DEFINITIONS
from belvedere.definitions.theeye_api import ROUTES as HOST_GROUPS
from belvedere.files.api import ROUTES as FILES
from belvedere.files.api_check import ROUTES as CHECKS
from belvedere.hosts.api import ROUTES as HOSTS
from belvedere.indicators.api.badges import ROUTES as BADGES
from belvedere.indicators.api.files import ROUTES as INDICATOR_FILES
from belvedere.indicators.api.indicators import ROUTES as INDICATORS
from belvedere.jobs.api.approvals import ROUTES as APPROVALS
from belvedere.jobs.api.artifacts import ROUTES as JOB_FILES
from belvedere.jobs.api.bulk import ROUTES as BULK_JOBS
from belvedere.jobs.api.commands import ROUTES as COMMANDS
from belvedere.jobs.api.jobs import ROUTES as JOBS
from belvedere.jobs.api.logs import ROUTES as JOB_LOGS
from belvedere.jobs.api.results import ROUTES as JOB_RESULTS
from belvedere.legacy_agents.api import ROUTES as LEGACY_AGENTS
from belvedere.legacy_agents.job_reports import ROUTES as AGENT_JOBS
from belvedere.monitors.api.monitors import ROUTES as MONITORS
from belvedere.monitors.api.nested import ROUTES as NESTED
from belvedere.notifications.api.channels import ROUTES as NOTIFY
from belvedere.notifications.api.inbox import ROUTES as INBOX
from belvedere.notifications.api.recipients import ROUTES as RECIPIENTS
from belvedere.overview.access_report import ROUTES as EXPLAIN
from belvedere.overview.api import ROUTES as OVERVIEW
from belvedere.overview.event_sources import ROUTES as EVENTS
from belvedere.overview.tags import ROUTES as TAGS
from belvedere.overview.trigger_graph import ROUTES as TRIGGERS
from belvedere.providers.api import ROUTES as PROVIDERS
from belvedere.rest.route import Route
from belvedere.saved_views.api import ROUTES as VIEWS
from belvedere.schedules.api.schedules import ROUTES as SCHEDULES
from belvedere.secrets.api import ROUTES as SECRETS
from belvedere.server.api.about import ROUTES as ABOUT
from belvedere.server.api.agent_download import ROUTES as AGENT_DOWNLOAD
from belvedere.server.api.event_stream import ROUTES as STREAM
from belvedere.server.api.health import ROUTES as HEALTH
from belvedere.server.api.install_address import ROUTES as INSTALL_ADDRESS
from belvedere.server.console.api import ROUTES as CONSOLE
from belvedere.server.console.docs_api import ROUTES as DOCS
from belvedere.server.demo.first_steps import ROUTES as FIRST_STEPS
from belvedere.server.demo.removal import ROUTES as DEMO
from belvedere.server.doctor.api import ROUTES as DOCTOR
from belvedere.server.metrics.api import ROUTES as METRICS
from belvedere.server.setup.api import ROUTES as SETUP
from belvedere.statuspages.api import ROUTES as STATUS_PAGES
from belvedere.statuspages.incident_api import ROUTES as STATUS_INCIDENTS
from belvedere.statuspages.public_api import ROUTES as STATUS_SUBSCRIPTIONS
from belvedere.tasks.api import ROUTES as TASKS
from belvedere.webhooks.api import ROUTES as WEBHOOKS
from belvedere.webhooks.calls_api import ROUTES as CALLS
from belvedere.workflows.api import ROUTES as WORKFLOWS
from belvedere.workflows.recipes.api import ROUTES as RECIPES
from belvedere.workflows.runs_api import ROUTES as WORKFLOW_JOBS

ROUTES: tuple[Route, ...] = (
    *HEALTH,
    *METRICS,
    *STREAM,
    *AGENT_DOWNLOAD,
    *INSTALL_ADDRESS,
    *DEMO,
    *FIRST_STEPS,
    *SETUP,
    *ABOUT,
    *DOCTOR,
    *OVERVIEW,
    *ACCESS,
    *PROVIDERS,
    *HOSTS,
    *FILES,
    *CHECKS,
    *TASKS,
    *JOBS,
    *BULK_JOBS,
    *JOB_LOGS,
    *JOB_RESULTS,
    *APPROVALS,
    *JOB_FILES,
    *AGENT_JOBS,
    *COMMANDS,
    *LEGACY_AGENTS,
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
    *HOST_GROUPS,
    *NOTIFY,
    *RECIPIENTS,
    *INBOX,
    *WORKFLOWS,
    *WORKFLOW_JOBS,
    *RECIPES,
    *SCHEDULES,
    *SECRETS,
    *VIEWS,
    *STATUS_PAGES,
    *STATUS_INCIDENTS,
    *STATUS_SUBSCRIPTIONS,
)
# For browsers; not part of the interface, so they are not described and may change.
PAGES: tuple[Route, ...] = (*CONSOLE, *DOCS)


def check(routes: tuple[Route, ...]) -> None:
    """A route without a declared level stops the server."""
    for route in routes:
        if route.level not in set(Level):
            raise SystemExit(f"{route.method} {route.path} declares no level")
