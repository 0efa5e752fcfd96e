-- When a content was last stored, to the hour: what is older and unreferenced can be deleted.
create table blob_uses (sha256 text primary key, used_at bigint not null);
-- Contents that no file refers to; those that no job refers to either are deleted.
create table blob_candidates (sha256 text primary key, used_at bigint not null);
-- How far the search is, in its only row.
create table blob_sweep (
  id bigint primary key,
  phase text not null,
  blob_position text not null,
  job_position text not null,
  ended_at bigint not null
);
insert into blob_sweep (id, phase, blob_position, job_position, ended_at) values (1, 'blobs', '', '', 0);
create index files_by_content on files (sha256);
