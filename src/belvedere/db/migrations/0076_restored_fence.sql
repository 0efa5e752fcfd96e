-- The first fence after the last restore or failover of the database. Commits from before it may be
-- lost here: an attempt below this fence that the agent's journal lacks may have ended.
alter table hosts add column restored_fence bigint not null default 0;
