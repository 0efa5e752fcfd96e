-- Events that a reaction could not digest: set aside, shown by `belvedere doctor`.
create table parked (
  reaction text not null,
  event_id bigint not null,
  at bigint not null,
  fault text not null,
  primary key (reaction, event_id)
);

-- Jobs that were dropped and whose logs, in the other database, must follow.
create table dropped_logs (job_id text primary key);

-- Events of jobs go with their jobs; all others by age.
create index events_of_others on events (at) where object <> 'job';
