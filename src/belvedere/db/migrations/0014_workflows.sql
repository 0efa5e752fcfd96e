-- Tasks in order.
create table workflows (
  id text primary key,
  customer_id text not null references customers (id),
  name text not null,
  enabled bigint not null,
  -- 0: one job of it at a time, the others wait.
  multitasking bigint not null,
  -- JSON
  tags text not null,
  version bigint not null,
  -- The whole definition as JSON; what queries look for also stands in columns.
  spec text not null,
  created_at bigint not null,
  updated_at bigint not null,
  deleted_at bigint
);
create index workflows_of_customer on workflows (customer_id, id);

-- A version never changes: a job goes on along the graph that it was started with.
create table workflow_versions (
  workflow_id text not null,
  version bigint not null,
  spec text not null,
  created_by text not null,
  created_at bigint not null,
  primary key (workflow_id, version)
);

-- The tasks of the newest version: they cannot be deleted.
create table workflow_tasks (
  workflow_id text not null,
  task_id text not null,
  primary key (workflow_id, task_id)
);
create index workflow_tasks_of_task on workflow_tasks (task_id);

-- What a job of type WorkflowJob has beyond other jobs.
create table workflow_jobs (
  job_id text primary key references jobs (id) on delete cascade,
  workflow_id text not null,
  version bigint not null,
  -- The node that it begins with.
  start text not null,
  -- The arguments of one that waits for its turn, as JSON; they go to the first step.
  given text,
  by_index bigint not null
);

-- The nodes that were reached, each once, with the newest job of each.
create table workflow_steps (
  workflow_job_id text not null references workflow_jobs (job_id) on delete cascade,
  node_id text not null,
  job_id text not null,
  -- Jobs of this node that ended badly before and were tried again.
  tries bigint not null,
  -- open, lost or ended; the rest is how it ended.
  state text not null,
  trigger_name text,
  is_good bigint not null,
  output text,
  -- What an approval was given, to hand it on.
  given text,
  primary key (workflow_job_id, node_id)
);

create index jobs_of_workflow on jobs (workflow_id, id) where workflow_id is not null;
-- Those that may be waiting for the truth about a lost job.
create index workflow_jobs_open on jobs (expires_at)
  where type = 'WorkflowJob' and lifecycle in ('ready', 'started');
