-- What a run request contained that had no effect, as a sentence; shown with the job.
create table job_warnings (
  job_id text not null references jobs (id) on delete cascade,
  message text not null,
  primary key (job_id)
);
