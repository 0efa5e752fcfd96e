-- The heart. Large columns stand last: the lists never touch them.
create table jobs (
  id text primary key,
  customer_id text not null,
  task_id text,
  task_version bigint,
  workflow_id text,
  workflow_job_id text,
  host_id text,
  -- The script as it was when the job was made.
  script_id text,
  script_sha256 text,
  script_filename text,
  type text not null,
  name text not null,
  lifecycle text not null,
  state text not null,
  version bigint not null default 1,
  fence bigint not null default 0,
  attempts bigint not null default 0,
  origin text not null,
  user_id text not null default '',
  username text not null default '',
  email text not null default '',
  notify bigint not null default 1,
  ran text not null default 'no',
  reason text,
  trigger_name text,
  timeout bigint not null,
  concurrency bigint,
  not_before_at bigint not null default 0,
  expires_at bigint not null,
  cancel_requested_at bigint,
  canceled_by text,
  unreachable_at bigint,
  reconciled bigint not null default 0,
  resolved_by text,
  restarted_from text,
  created_at bigint not null,
  updated_at bigint not null,
  assigned_at bigint,
  started_at bigint,
  ended_at bigint,
  -- When the script must be over; no word a minute later means lost.
  deadline_at bigint,
  arguments text not null,
  result text,
  output text,
  -- The whole log when it is small; larger ones live in the log store.
  log text
);
create index jobs_of_customer on jobs (customer_id, id);
create index jobs_of_task on jobs (task_id, id);
create index jobs_of_workflow_job on jobs (workflow_job_id, id) where workflow_job_id is not null;
create index jobs_ready on jobs (host_id, id, task_id, not_before_at) where lifecycle = 'ready';
create index jobs_assigned on jobs (host_id, task_id) where lifecycle = 'assigned';
create index jobs_open on jobs (expires_at)
  where lifecycle in ('ready', 'onhold', 'syncing', 'assigned', 'started');
create index jobs_lost on jobs (host_id) where lifecycle = 'terminated' and state = 'lost';

-- One permission to run, named by its fence.
create table attempts (
  fence bigint primary key,
  job_id text not null,
  number bigint not null,
  host_id text not null,
  session bigint not null,
  journal_id text not null,
  state text not null,
  claimed_at bigint not null,
  started_at bigint,
  ended_at bigint,
  report text
);
create index attempts_of_job on attempts (job_id, number);
create unique index one_live_attempt on attempts (job_id) where state = 'live';
create index live_attempts on attempts (host_id) where state = 'live';

create table idempotency (
  customer_id text not null,
  principal text not null,
  route text not null,
  idempotency_key text not null,
  body_digest text not null,
  job_ids text not null,
  created_at bigint not null,
  primary key (customer_id, principal, route, idempotency_key)
);
create index idempotency_by_age on idempotency (created_at);

-- The moves that jobs/model.py allows; the trigger of the next step refuses any other.
create table job_moves (
  from_lifecycle text not null,
  to_lifecycle text not null,
  primary key (from_lifecycle, to_lifecycle)
);
insert into job_moves (from_lifecycle, to_lifecycle) values
  ('syncing', 'ready'), ('onhold', 'ready'), ('onhold', 'finished'),
  ('ready', 'assigned'), ('ready', 'started'),
  ('assigned', 'ready'), ('assigned', 'finished'), ('assigned', 'terminated'),
  ('assigned', 'canceled'), ('started', 'finished'), ('started', 'terminated'),
  ('ready', 'canceled'), ('onhold', 'canceled'), ('syncing', 'canceled'),
  ('ready', 'expired'), ('onhold', 'expired'), ('syncing', 'expired'),
  ('terminated', 'finished');
