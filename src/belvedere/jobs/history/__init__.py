"""Finished jobs: how long they are kept, and deleting them.

Start with `limits` (which jobs are beyond the limits) and `retention` (deletes them). `deletions`
is a deletion that a person requested; `deletion_rows` and `deletion_steps` carry it out in small
steps. `removed` counts deleted jobs for lists, `unused_contents` deletes script contents,
`consistency` compares jobs with their events for `belvedere doctor`. Background loops of the server
call most of it.
"""
