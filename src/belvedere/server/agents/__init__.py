"""The server's side of agent connections.

Start with `endpoint` (the WebSocket `/-/agent`) and `connection` (one agent, from hello to close).
`registry` has the connected agents by host and claims jobs for them. `monitor_sync`, `transfers`
and `updates` are parts of a connection; `queries` has its database operations; `handshakes` and
`message_limits` protect the server. `local_agent`, `local_enrolment` and `in_process` are the agent
of `belvedere up`. `package` builds the agent for download. Only `server` imports this package.
"""
