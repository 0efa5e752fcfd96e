"""Processes of scripts, for the keeper only.

Start with `spawn` (starts a script) and `script` (a running script). `groups` and `discovery` find
every process that a script started, `termination` ends them, `pipes` reads their output. Like the
keeper, it imports neither asyncio nor logging.
"""
