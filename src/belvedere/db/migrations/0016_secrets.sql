-- Values that scripts get by environment: of an organization, or of one task ('' is none).
create table secrets (
  id text primary key,
  customer_id text not null references customers (id),
  task_id text not null,
  name text not null,
  -- A variable may be read again and is not hidden in output.
  is_secret bigint not null,
  -- Sealed with the installation's key, which knows whose it is and what it is called.
  box text not null,
  size bigint not null,
  description text not null,
  updated_by text not null,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null,
  unique (customer_id, task_id, name)
);

-- Counts every change of an organization's secrets; 0: there never was one. Whoever hands out work
-- reads the organization anyway and so knows, without asking, whether what it remembers still holds.
alter table customers add column secrets_version bigint not null default 0;
