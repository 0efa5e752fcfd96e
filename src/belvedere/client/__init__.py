"""One small HTTP client over the standard library, for the command line and other programs.

from belvedere.client.calls import Client

with Client("http://127.0.0.1:8420", token="bvt_…", customer="acme") as client:
    job = client.post("/job", {"task": task_id, "task_arguments": ["blue"]})
"""
