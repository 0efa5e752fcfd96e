-- When the database was restored from a backup; null after a failover, where nothing is held until a
-- journal shows that commits were lost.
alter table hosts add column restored_at bigint;
-- When the first hello after the restore or failover was compared: only that one can prove anything.
alter table hosts add column compared_at bigint;
-- The highest fence whose attempt was deleted from the history.
alter table hosts add column given_fence bigint not null default 0;
-- Names the process that holds the journal in memory; the same only as long as that process runs.
alter table hosts add column keeper_id text not null default '';
