-- Hosts whose agent is one of the original system: it speaks plain HTTP and has no journal.
create table original_agents (
  host_id text primary key references hosts (id),
  -- The enrolment token whose id and text it signs in with.
  client_id text not null,
  -- The number of the configuration that it has read, and the update it was told to make.
  configured bigint not null,
  update_id text,
  update_at bigint
);
create index original_agents_of_client on original_agents (client_id);

-- What such an agent last said of its machine, by type: dstat, psaux.
create table host_stats (
  host_id text not null references hosts (id),
  type text not null,
  stats text not null,
  at bigint not null,
  primary key (host_id, type)
);

-- Commands of admins: jobs without a task.
create index jobs_commands on jobs (id) where task_id is null and type = 'ScriptJob';

-- One definition of a task or monitor for every host with a tag.
create table definitions (
  id text primary key,
  customer_id text not null references customers (id),
  kind text not null,
  host_tag text not null,
  name text not null,
  body text not null,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null,
  deleted_at bigint
);
create index definitions_of_customer on definitions (customer_id, id) where deleted_at is null;

-- What it has made on each host, and which version of it that follows.
create table definition_instances (
  definition_id text not null references definitions (id),
  host_id text not null references hosts (id),
  kind text not null,
  object_id text not null,
  version bigint not null,
  primary key (definition_id, host_id)
);
create unique index definition_instances_by_object on definition_instances (kind, object_id);
