-- Reports for attempts that were over already and say something else: kept as evidence only.
create table late_reports (
  fence bigint not null,
  digest text not null,
  job_id text not null,
  at bigint not null,
  report text not null,
  primary key (fence, digest)
);
create index late_reports_of_job on late_reports (job_id);
