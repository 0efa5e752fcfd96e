-- Who counts as having started a job that no person started: a user id, or @admins. Approvals with
-- four_eyes ask for it.
create table job_starters (
  job_id text not null references jobs (id) on delete cascade,
  user_id text not null,
  primary key (job_id, user_id)
);
