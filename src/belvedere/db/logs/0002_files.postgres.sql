-- Files that scripts left behind, by the attempt that left them.
create table job_files (
  fence bigint not null,
  number bigint not null,
  job_id text not null,
  name text not null,
  size bigint not null,
  -- Less than the size where the agent had lost a part of it.
  bytes_kept bigint not null,
  sha256 text not null,
  primary key (fence, number)
);
create index job_files_of_job on job_files (job_id);
create table job_file_chunks (
  fence bigint not null,
  number bigint not null,
  at_byte bigint not null,
  job_id text not null,
  data bytea not null,
  primary key (fence, number, at_byte)
);
create index job_file_chunks_of_job on job_file_chunks (job_id);
