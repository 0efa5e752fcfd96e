"""A small HTTP client over the standard library, for the command line and other programs.

from belvedere.client.http_client import Client

with Client("http://127.0.0.1:8420", token="bvt_…", customer="acme") as client:
    job = client.post("/job", {"task": task_id, "task_arguments": ["blue"]})

`http_client` sends requests, `event_stream` follows server-sent events across lost connections,
`errors` has what both raise, and `connections` opens plain, TLS and Unix socket connections.
It imports nothing from the server.
"""
