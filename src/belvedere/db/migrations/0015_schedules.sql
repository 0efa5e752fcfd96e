-- What runs by itself, and when.
create table schedules (
  id text primary key,
  customer_id text not null references customers (id),
  name text not null,
  -- task or workflow
  target text not null,
  target_id text not null,
  -- One date, a cron text or an interval, or both: then the date is the first run.
  run_date bigint,
  repeat_every text,
  timezone text not null,
  -- Intervals are counted from here.
  anchor_at bigint not null,
  -- JSON: the arguments, or null.
  arguments text not null,
  -- While an earlier job is open: skip or queue. What was missed: skip or once.
  overlap text not null,
  missed text not null,
  enabled bigint not null,
  -- Nothing starts from then until then (for ever when it has no end); instants between are missed.
  paused_at bigint,
  paused_until bigint,
  pause_note text not null,
  -- The next nominal instant that nothing was decided about yet.
  next_at bigint,
  last_at bigint,
  last_job_id text,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null
);
create index schedules_of_customer on schedules (customer_id, id);
create index schedules_of_target on schedules (target_id);
create index schedules_due on schedules (next_at) where next_at is not null;

-- What became of each nominal instant: a job, or a reason. Twice for one instant is impossible.
create table schedule_runs (
  schedule_id text not null,
  nominal_at bigint not null,
  customer_id text not null,
  -- Instants in a row that were missed for one reason share a line.
  until_at bigint not null,
  count bigint not null,
  -- started or missed
  state text not null,
  reason text,
  message text not null,
  job_id text,
  decided_at bigint not null,
  primary key (schedule_id, nominal_at)
);
create index schedule_runs_by_age on schedule_runs (decided_at);
