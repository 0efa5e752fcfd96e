-- People of one job: `assignee` with a user id, `observer` with an ACL entry (e-mail address or
-- member tag). A job without observers has the ACL of its task or workflow.
create table job_participants (
  job_id text not null references jobs (id) on delete cascade,
  role text not null,
  entry text not null,
  primary key (job_id, role, entry)
);
create index job_participants_entry on job_participants (entry, role);
