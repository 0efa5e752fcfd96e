"""The table of docs/reference/scripts.md: last line, state and output of the job."""

LAST_LINES: list[tuple[str, str, list[str] | None]] = [
    ("failure", "failure", None),
    ('"failure"', "failure", None),
    ('"done"', "normal", None),
    ('"', "normal", None),
    ('["a", {"b": 1}]', "normal", ["a", '{"b":1}']),
    ('{"state": "success"}', "success", None),
    ('{"state": "success", "event_name": "deployed"}', "success", None),
    ('{"state": "success", "output": ["a"]}', "success", ["a"]),
    ('{"state": "failure", "data": {"b": 1}}', "failure", ['{"b":1}']),
    ('{"state": "success", "output": null}', "success", None),
    ('{"b": 1}', "normal", ['{"b":1}']),
    ('{"state": "success", "b": 1}', "success", ['{"state":"success","b":1}']),
    ('{"state": "success", "next": {}, "components": {}}', "success", None),
    ("{}", "normal", None),
]
