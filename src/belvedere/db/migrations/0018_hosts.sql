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
