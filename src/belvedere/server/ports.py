"""Connects the ports of packages to the functions of the packages above that own the tables."""

from belvedere.access.credentials import tokens
from belvedere.access.customers import approver_tags, consent, member_changes
from belvedere.access.customers import service as customers
from belvedere.access.people import users
from belvedere.files import usage
from belvedere.hosts import store as hosts
from belvedere.indicators import store as indicators
from belvedere.jobs import permissions, specs
from belvedere.jobs.lifecycle import timeouts
from belvedere.legacy_agents import host_stats, registration
from belvedere.monitors import store as monitors
from belvedere.monitors.evaluation import observations
from belvedere.notifications import inbox
from belvedere.providers import store as providers
from belvedere.saved_views import service as views
from belvedere.schedules import store as schedules
from belvedere.secrets import service as secrets
from belvedere.tasks import store as tasks


def connect() -> None:
    """Before the first operation of a process; further calls change nothing."""
    _connect_access()
    _connect_files()
    hosts.delete_registration.connect(registration.delete)
    observations.store_process_list.connect(host_stats.store_process_list)
    secrets.lock_task.connect(tasks.lock)
    tasks.schedule_lines.connect(schedules.lines_for_tasks)
    timeouts.may_not_report.connect(registration.may_not_report)


def _connect_access() -> None:
    tokens.is_client_in_use.connect(registration.is_client_in_use)
    approver_tags.approvers_in_use.connect(permissions.approvers_in_use)
    customers.has_owner_with_provider.connect(providers.has_owner_with_provider)
    users.has_identity.connect(providers.has_identity)
    member_changes.delete_identities.connect(providers.delete_identities_of)
    consent.move_personal_rows.connect(views.move, inbox.move, providers.move_identities)


def _connect_files() -> None:
    usage.uses.connect(tasks.uses_of_file, monitors.uses_of_file, indicators.uses_of_file)
    usage.needs.connect(specs.needs_file, monitors.needs_file)
    usage.script_of_job.connect(specs.script_of_job)
