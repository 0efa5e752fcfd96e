-- Output of scripts, apart from the job tables so that a flood leaves the hot writer alone.
create table logs (
  fence bigint primary key,
  job_id text not null,
  bytes_seen bigint not null default 0,
  bytes_kept bigint not null default 0,
  lines_seen bigint not null default 0,
  bytes_total bigint,
  lines_total bigint,
  sha256 text
);
create index logs_of_job on logs (job_id);
create table log_chunks (
  fence bigint not null,
  at_byte bigint not null,
  at_line bigint not null,
  size bigint not null,
  data blob not null,
  primary key (fence, at_byte)
);
