"""Copies an installation's database to the other engine: `belvedere migrate`.

1. While servers use the source, its rows are copied table by table, in batches by primary key. Each
   batch is one transaction of the target, which also stores how far the copy has come.
2. The servers are stopped and the source is marked as closed, so that none starts again. Then every
   row is compared: for each batch of the source, a checksum of the rows with the same keys in the
   target. Batches that differ are copied again, and rows that the source no longer has are deleted.
3. The number of rows and a checksum of each table are compared, in an independent read of the
   target. Keys, triggers and sequences are created, the source is marked as moved, and only then
   the mark of the target is deleted.

The rows of the target are the state of a transfer. One that was killed is started again: it
continues, because rows that are already equal are not copied. Until the last step no server starts
with the target, and from step 2 on none with the source, so that no job can run in both.

Unique indexes, foreign keys and triggers do not exist in the target until step 3: while the source
changes, its rows arrive from different moments.
"""
