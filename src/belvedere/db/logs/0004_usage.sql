-- Whose logs they are, and in how many pieces: what an organization stores is limited.
alter table logs add column customer_id text not null default '';
alter table logs add column chunks bigint not null default 0;
-- What was stored of the files of one attempt, on whatever connection it came.
create table job_file_bytes (
  fence bigint primary key,
  job_id text not null,
  customer_id text not null,
  bytes bigint not null
);
create index job_file_bytes_of_job on job_file_bytes (job_id);
