"""Commands that start or measure a server, and those that work on the server's machine.

Start with `serve` (`belvedere up` and `belvedere server`). `operator_client` sends requests to the
operator's socket, also for `cli.access`. `backup`, `key`, `migrate`, `restored`, `upgrade` and
`doctor` work on the data folder. They import the server inside their functions, so that other
commands start quickly.
"""
