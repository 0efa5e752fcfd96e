"""Commands for people and credentials.

One module per command group, with its table `COMMANDS`; start with `token`. `session` has `login`,
`logout` and `whoami`. `cli.main` imports a group only when its command runs; nothing else imports
it.
"""
