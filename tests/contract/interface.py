"""interface.md as a table: every row of its tables of endpoints, and where its other rows are
tested. The document lives outside of the repository; this list is checked by test_interface.py."""

# Method, path, and the lowest level that passes; both URL styles have to answer. An access token
# counts as an admin; a list of tasks is open to viewers, who see what an ACL shows them.
ROWS: dict[str, str] = {
    # Tasks
    "GET /task": "viewer",
    # Jobs, V1 style
    "GET /job/{id}": "viewer",
    "GET /job": "viewer",
    "PUT /job/{id}": "agent",
    "POST /job": "user",
    "GET /job/{id}/lifecycle": "user",
    "PUT /job/{id}/cancel": "user",
    # Jobs, V2 style
    "POST /job/secret/{secret}": "anonymous",
    "DELETE /job/finished": "admin",
    "PUT /job/{id}/approve": "viewer",
    "PUT /job/{id}/reject": "viewer",
    "PUT /job/{id}/input": "user",
    # Run a workflow by secret key
    "POST /workflows/{id}/secret/{secret}/job": "anonymous",
    # Webhooks
    "GET /webhook": "viewer",
    "GET /webhook/{id}": "viewer",
    "PUT /webhook/{id}": "admin",
    "POST /webhook": "admin",
    "DELETE /webhook/{id}": "admin",
    "POST /webhook/{id}/trigger": "admin",
    "POST /webhook/{id}/trigger/secret/{secret}": "anonymous",
    # ACL of tasks and workflows
    "GET /task/{id}/acl": "manager",
    "PUT /task/{id}/acl": "manager",
    "PATCH /task/{id}/acl": "manager",
    "DELETE /task/{id}/acl": "manager",
    "GET /workflows/{id}/acl": "manager",
    "PUT /workflows/{id}/acl": "manager",
    "PATCH /workflows/{id}/acl": "manager",
    "DELETE /workflows/{id}/acl": "manager",
    # Monitors
    "GET /monitor": "viewer",
    "GET /monitor/{id}": "viewer",
    "POST /monitor": "admin",
    "DELETE /monitor/{id}": "admin",
    # Indicators; writing needs admin (decisions.md section 8)
    "GET /indicator": "viewer",
    "POST /indicator": "admin",
    "PATCH /indicator/{id}": "admin",
    "PATCH /indicator/title/{title}": "admin",
    "PATCH /indicator/{id}/increase": "admin",
    "PATCH /indicator/{id}/decrease": "admin",
    "PATCH /indicator/{id}/restart": "admin",
}

# Rows that are no endpoints: what they require, and the tests that check it, as file and name.
ELSEWHERE: dict[str, tuple[str, ...]] = {
    "Task: fields": ("test_tasks.py::test_tasks_are_listed",),
    "Task: several share a name": ("test_tasks.py::test_several_tasks_share_a_name_one_per_host",),
    "Task: timeout null is the default": (
        "test_tasks.py::test_the_timeout_is_null_when_the_default_applies",
    ),
    "Task: the key is revoked by changing it": (
        "test_task_credentials.py::test_a_changed_key_revokes_the_old_one_at_once",
    ),
    "Job: fields at creation, Host object": ("test_create_job.py::test_a_job_is_created",),
    "Job: host is an object, then an id": (
        "test_create_job.py::test_the_host_is_an_object_in_the_answer_and_an_id_later",
    ),
    "Job: fields at the end, Result object": ("test_jobs.py::test_a_job_is_read_by_its_id",),
    "Job: user": ("test_create_job.py::test_the_user_is_the_caller",),
    "Monitor: fields": ("test_monitors.py::test_a_monitor_is_created",),
    "Monitor: data of dstat": ("test_monitors.py::test_dstat_shows_its_data",),
    "Indicator: fields and defaults": (
        "test_indicators.py::test_an_indicator_is_created_and_listed",
        "test_indicators.py::test_a_new_indicator_has_the_documented_defaults",
    ),
    "Indicator: title is unique": ("test_indicators.py::test_a_taken_title_is_refused",),
    "Indicator: value by type, state, severity": (
        "test_indicators.py::test_invalid_input_is_named_and_creates_nothing",
        "test_indicators.py::test_the_severity_answers_in_upper_case",
    ),
    "Indicator: read_only": (
        "test_indicators.py::test_a_read_only_indicator_is_not_dismissed",
        "test_indicators.py::test_a_member_of_the_acl_dismisses_an_indicator",
    ),
    "Indicator: counters only": ("test_indicators.py::test_only_counters_count",),
    "States: create a job": ("test_create_job.py::test_a_job_is_created",),
    "States: finished, normal": ("test_verdicts.py::test_every_report_has_its_verdict",),
    "Create a job: task": ("test_create_job.py::test_a_task_must_be_named",),
    "Create a job: task_arguments": (
        "test_create_job.py::test_arguments_are_returned_in_order",
        "test_create_job.py::test_arguments_that_do_not_fit_make_no_job",
    ),
    "Create a job: customer": ("test_create_job.py::test_the_organization_may_be_in_the_body",),
    "Encodings: application/json": (
        "test_secret_route.py::test_a_job_is_created_with_the_secret_of_its_task",
    ),
    "Encodings: application/x-www-form-urlencoded": (
        "test_secret_route.py::test_a_form_repeats_task_arguments",
    ),
    "Encodings: none": (
        "test_secret_route.py::test_the_query_repeats_task_arguments_with_brackets",
    ),
    "Encodings: an HTML form": ("test_secret_route.py::test_an_html_form_has_hidden_fields",),
    "Trigger payload: rules 1 to 5": (
        "test_webhooks.py::test_an_admin_triggers_it",
        "test_webhooks.py::test_each_element_becomes_text",
        "test_webhooks.py::test_all_or_nothing",
    ),
    "Webhooks: deleting revokes": ("test_webhooks.py::test_delete_revokes_remote_access",),
    "Authentication: access token": (
        "test_tokens.py::test_a_token_may_be_in_the_header_or_the_query",
    ),
    "Authentication: customer": (
        "test_create_job.py::test_two_organizations_that_disagree_are_refused",
        "test_secret_route.py::test_the_organization_is_required",
    ),
    "Authentication: a secret opens its own task only": (
        "test_secret_route.py::test_every_mismatch_is_one_and_the_same_refusal",
    ),
    "Limits: 10 minutes": ("test_task_timeout.py::test_null_is_ten_minutes",),
    "Limits: the timeout cannot be changed": (
        "test_task_timeout.py::test_the_interface_cannot_change_it",
    ),
}
