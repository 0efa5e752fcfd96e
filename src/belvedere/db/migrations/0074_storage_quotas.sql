-- Quotas of single organizations, in place of the setting; 0: no limit.
create table storage_quotas (
  customer_id text primary key references customers (id) on delete cascade,
  bytes bigint not null
);
-- Files that were passed to jobs as arguments.
create table argument_files (
  customer_id text not null references customers (id) on delete cascade,
  sha256 text not null,
  size bigint not null,
  used_at bigint not null,
  primary key (customer_id, sha256)
);
