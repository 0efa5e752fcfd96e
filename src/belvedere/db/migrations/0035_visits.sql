-- A node of a workflow with circles is reached several times: one row per visit.
create table workflow_visits (
  workflow_job_id text not null references workflow_jobs (job_id) on delete cascade,
  node_id text not null,
  -- 1, 2, 3 and so on, each after the end of the one before.
  visit bigint not null,
  job_id text not null,
  -- Jobs of this visit that ended badly before and were tried again.
  tries bigint not null,
  -- open, lost or ended; the rest is how it ended.
  state text not null,
  trigger_name text,
  is_good bigint not null,
  output text,
  -- What an approval was given, to hand it on.
  given text,
  -- The visits whose ends let it begin, as JSON: [["build", 1]].
  causes text not null,
  primary key (workflow_job_id, node_id, visit)
);
insert into workflow_visits
  (workflow_job_id, node_id, visit, job_id, tries, state, trigger_name, is_good, output, given, causes)
  select workflow_job_id, node_id, 1, job_id, tries, state, trigger_name, is_good, output, given, '[]'
  from workflow_steps;
drop table workflow_steps;
alter table workflow_visits rename to workflow_steps;
