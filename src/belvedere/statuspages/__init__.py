"""Public status pages: only public names, states and uptime.

`public_status` builds the page, `posts` are the incidents that people post, `incidents` the
failures from the event log. `subscribers` and `mailings` are the mails about incidents.
"""
