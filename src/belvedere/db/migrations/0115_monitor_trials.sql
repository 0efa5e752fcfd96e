-- A check that an agent makes once, to show its result while somebody defines a monitor.
create table monitor_trials (
  id text primary key,
  customer_id text not null references customers (id),
  host_id text not null,
  type text not null,
  -- Sealed like that of a monitor; an empty object once there is a result.
  config text not null,
  created_at bigint not null,
  expires_at bigint not null,
  -- What the agent reported, as JSON; null: nothing yet.
  result text
);
create index monitor_trials_of_customer on monitor_trials (customer_id, expires_at);
create index monitor_trials_by_expiry on monitor_trials (expires_at);
create index monitor_trials_of_host on monitor_trials (host_id);
