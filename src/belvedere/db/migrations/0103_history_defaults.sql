-- How many ended jobs a task or workflow keeps, and for how many days, unless the task has its own.
alter table customers add column history_count bigint not null default 1000;
alter table customers add column history_days bigint not null default 90;
-- How many jobs of a task or workflow (empty: of neither) were removed, and when the last of them.
create table removed_jobs (
  customer_id text not null references customers (id),
  object_id text not null,
  count bigint not null,
  last_at bigint not null,
  primary key (customer_id, object_id)
);
