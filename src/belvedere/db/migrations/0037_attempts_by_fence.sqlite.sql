-- The fence is the row's own number, in which SQLite keeps the table: one index less to write.
create table attempts_by_fence (
  fence integer primary key,
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
insert into attempts_by_fence
  select fence, job_id, number, host_id, session, journal_id, state, claimed_at, started_at,
    ended_at, report
  from attempts order by fence;
drop table attempts;
alter table attempts_by_fence rename to attempts;
create index attempts_of_job on attempts (job_id, number);
create unique index one_live_attempt on attempts (job_id) where state = 'live';
