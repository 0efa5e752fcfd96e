"""The agent's connection to the server.

Start with `server_link` (connect, run a session, reconnect), then `session` (passes messages
between server and keeper). `order_intake` downloads files before an order goes to the keeper,
`websocket` is the transport, `job_log` writes log lines about jobs. `agent.main` imports
`server_link`; so do the agent of `belvedere up` and `bench`.
"""
