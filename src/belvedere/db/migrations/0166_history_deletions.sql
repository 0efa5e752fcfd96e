-- Deletions of history that are under way: of a task, a workflow or an organization (object_id, found
-- in the column `scope` of jobs). Jobs that ended until until_at are hidden; their rows are deleted in
-- steps in the order of their ids, up to last_id. `reached`: the last job that was examined.
create table history_deletions (
  object_id text primary key,
  customer_id text not null references customers (id),
  scope text not null,
  until_at bigint not null,
  last_event_id bigint not null,
  last_id text not null,
  reached text not null default '',
  -- Hidden jobs before `reached` that cannot be deleted yet.
  blocked_count bigint not null default 0,
  deleted bigint not null default 0,
  -- Null: more than were counted.
  total bigint,
  started_at bigint not null,
  due_at bigint not null,
  actor_id text not null,
  actor_name text not null,
  actor_kind text not null
);
create index history_deletions_of_customer on history_deletions (customer_id);
