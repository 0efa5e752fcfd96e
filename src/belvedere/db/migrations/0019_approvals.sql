-- What an approval lets run, as it was when the approval was asked for.
create table approvals (
  job_id text primary key references jobs (id) on delete cascade,
  -- JSON: the tasks, in the order in which they come.
  plan text not null
);

-- Tasks, workflows, scripts and hosts in it: whose change makes it void is found here.
create table approval_objects (
  object_id text not null,
  job_id text not null references jobs (id) on delete cascade,
  primary key (object_id, job_id)
);
create index approval_objects_of_job on approval_objects (job_id);

-- One-time links in messages: each for one job, one approver and one answer.
create table approval_links (
  digest text primary key,
  job_id text not null references jobs (id) on delete cascade,
  customer_id text not null,
  user_id text not null,
  verb text not null,
  expires_at bigint not null,
  used_at bigint,
  created_at bigint not null
);
create index approval_links_of_job on approval_links (job_id);
