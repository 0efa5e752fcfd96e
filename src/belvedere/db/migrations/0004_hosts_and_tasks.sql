-- Where work runs and what can be run.
create table hosts (
  id text primary key,
  customer_id text not null references customers (id),
  hostname text not null,
  hostname_key text not null,
  enabled bigint not null default 1,
  draining bigint not null default 0,
  tags text not null default '[]',
  ip text not null default '',
  os_name text not null default '',
  os_version text not null default '',
  agent_version text not null default '',
  info text not null default '{}',
  -- The machine that holds this name, the journal that is evidence, the boot it runs since.
  fingerprint text not null default '',
  journal_id text not null default '',
  boot_id text not null default '',
  -- The number of that journal's last Hello.
  greeting bigint not null default 0,
  -- Grows with each connection; only the newest may take or report.
  session bigint not null default 0,
  slots bigint not null default 0,
  connected_at bigint,
  seen_at bigint,
  -- Set when the agent has been silent too long, cleared when it speaks.
  gone_at bigint,
  version bigint not null default 1,
  created_at bigint not null,
  updated_at bigint not null,
  deleted_at bigint
);
create unique index hosts_by_name on hosts (customer_id, hostname_key) where deleted_at is null;

create table files (
  id text primary key,
  customer_id text not null references customers (id),
  filename text not null,
  kind text not null,
  description text not null default '',
  mimetype text not null default '',
  tags text not null default '[]',
  sha256 text not null references blobs (sha256),
  md5 text not null,
  size bigint not null,
  version bigint not null default 1,
  created_at bigint not null,
  updated_at bigint not null,
  deleted_at bigint
);
create index files_of_customer on files (customer_id, id);

create table file_versions (
  file_id text not null references files (id),
  version bigint not null,
  sha256 text not null references blobs (sha256),
  size bigint not null,
  created_by text not null,
  created_at bigint not null,
  primary key (file_id, version)
);
create index file_versions_by_content on file_versions (sha256);

create table tasks (
  id text primary key,
  customer_id text not null references customers (id),
  name text not null,
  type text not null,
  host_id text references hosts (id),
  script_id text references files (id),
  enabled bigint not null default 1,
  version bigint not null default 1,
  -- Everything else of the definition, as JSON; each version is kept because jobs name theirs.
  spec text not null,
  purged_until bigint not null default 0,
  created_at bigint not null,
  updated_at bigint not null,
  deleted_at bigint
);
create index tasks_of_customer on tasks (customer_id, id);
create index tasks_of_host on tasks (host_id);
create index tasks_of_script on tasks (script_id);

create table task_versions (
  task_id text not null references tasks (id),
  version bigint not null,
  spec text not null,
  created_by text not null,
  created_at bigint not null,
  primary key (task_id, version)
);
