-- What is watched: what shall be checked, and what was seen last.
create table monitors (
  id text primary key,
  customer_id text not null references customers (id),
  name text not null,
  type text not null,
  -- Null for what the server watches itself: nested and push.
  host_id text references hosts (id),
  description text not null,
  tags text not null,
  severity text not null,
  looptime bigint not null,
  fail_threshold bigint not null,
  -- What its type needs, as JSON.
  config text not null,
  -- Raised when the check itself becomes another one: older samples say nothing about it.
  config_version bigint not null,
  -- 0: paused, until somebody or paused_until ends it.
  enabled bigint not null,
  paused_until bigint,
  -- 0: people are told nothing, until somebody or muted_until ends it.
  alerts bigint not null,
  muted_until bigint,
  maintenance text not null,
  state text not null,
  state_at bigint not null,
  fails_count bigint not null,
  recovery_count bigint not null,
  -- Whether people were told of a failure and not yet of its end.
  is_failing bigint not null,
  -- When it failed or recovered lately, as JSON; too often, and it is flapping.
  flips text not null,
  is_flapping bigint not null,
  last_event text not null,
  checked_at bigint,
  -- When its silence is to be noted.
  due_at bigint,
  user_id text not null,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null,
  deleted_at bigint
);
create index monitors_of_customer on monitors (customer_id, id);
create index monitors_of_host on monitors (host_id) where deleted_at is null;
create unique index monitors_host_itself on monitors (host_id)
  where type = 'host' and deleted_at is null;
create index monitors_due on monitors (due_at) where due_at is not null and deleted_at is null;
create index monitors_timed on monitors (paused_until)
  where paused_until is not null and deleted_at is null;
create index monitors_muted on monitors (muted_until)
  where muted_until is not null and deleted_at is null;
create index monitors_nested on monitors (id) where type = 'nested' and deleted_at is null;
create index monitors_deleted on monitors (deleted_at) where deleted_at is not null;

-- What each agent shall watch, by number, and which of its samples have arrived.
create table watches (
  host_id text primary key,
  number bigint not null,
  stream text not null,
  batch bigint not null
);

-- What was seen, as it was seen.
create table monitor_samples (
  monitor_id text not null,
  at bigint not null,
  state text not null,
  message text not null,
  -- JSON: name to number.
  measured text not null,
  primary key (monitor_id, at)
);
create index monitor_samples_by_age on monitor_samples (at);

-- The same by the minute, ten minutes, hour and day. The metric `up` counts good checks.
create table monitor_rollups (
  monitor_id text not null,
  metric text not null,
  step bigint not null,
  at bigint not null,
  count bigint not null,
  total double precision not null,
  low double precision not null,
  high double precision not null,
  primary key (monitor_id, metric, step, at)
);
create index monitor_rollups_by_age on monitor_rollups (step, at);
