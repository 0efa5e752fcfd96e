"""Notifications: which people and services are notified of which events.

An event becomes a notice (`server.notices` writes its text). `routing` compares it with the rules
of the organization, puts it into the `inbox` of the people it concerns and collects it into
messages in `delivery`, where the dispatcher hands them to `belvedere.egress`.

- `model`: notices, rules, channels, retry delays; pure.
- `bodies`, `store`, `service`: request bodies, rows and operations of channels and rules.
- `inbox`: the inbox of each member and its preferences.
- `quiet_hours`: when messages of a rule wait.
- `delivery`: messages, outbox, dispatcher and message texts.
- `api`: endpoints and records.

Other packages use `routing`, `inbox` and `delivery`. Calls to the outside belong in `egress`, the
texts of events in `server.notices`.
"""
