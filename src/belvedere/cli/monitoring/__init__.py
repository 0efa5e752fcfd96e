"""Commands for hosts, monitors, indicators, status pages and notifications.

One module per command group, with its table `COMMANDS`; start with `host`. `notify_rendering`
prints channels, rules and messages. `saved_view` and `search` are here too. `cli.main` imports a
group only when its command runs; nothing else imports it.
"""
