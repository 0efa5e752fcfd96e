"""Copies an installation's database to the other engine: `belvedere migrate`.

1. While servers use the source, its rows are copied table by table, in batches by primary key. Each
   batch is one transaction of the target, which also stores how far the copy has come.
2. Triggers of the source record the keys of rows that change from now on. Then every row is
   compared: for each batch of the source, a checksum of the rows with the same keys in the target.
   Batches that differ are copied again and read again. Recorded rows are compared again, while the
   servers run, until few remain.
3. The recorded rows are copied as they are at one moment of the source, and a checksum of each
   table at that moment is compared with one of the target, which is read independently. Unique
   indexes and foreign keys are created. From now on, recorded rows are copied in one transaction of
   the target, again as they are at one moment, so that they violate no constraint: foreign keys are
   checked at its end. Each is read again after it was written, and writes of other processes to
   the target are detected, so that the tables stay equal.
4. The servers are stopped and the source is marked as closed, so that none starts again. The rows
   that were recorded since are copied in the same way. The time depends only on their number.
   If the checksums differed, another process has written to the target, changes may not have
   been recorded, there were too many of them, or no server was running, everything is compared
   now, and then a checksum of each table, in an independent read of the target; the constraints
   are then created during the stop.
5. Triggers and sequences are created, the source is marked as moved, and only then the mark
   of the target is deleted.

The rows of the target are the state of a transfer. One that was killed is started again: it
continues, because rows that are already equal are not copied. Until the last step no server starts
with the target, and from step 4 on none with the source, so that no job can run in both.

Unique indexes and foreign keys do not exist in the target until step 3: while the source changes,
its rows arrive from different moments.
"""
