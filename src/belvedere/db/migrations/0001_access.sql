-- Who there is and what they may do.
create table meta (name text primary key, value text not null);

create table customers (
  id text primary key,
  name text not null,
  name_key text not null unique,
  enabled bigint not null default 1,
  -- Finished jobs that ended before this moment are gone for every reader.
  purged_until bigint not null default 0,
  created_at bigint not null,
  updated_at bigint not null
);

create table users (
  id text primary key,
  email text not null unique,
  username text not null unique,
  name text not null default '',
  password_hash text,
  enabled bigint not null default 1,
  created_at bigint not null,
  updated_at bigint not null,
  login_at bigint
);

create table members (
  id text primary key,
  customer_id text not null references customers (id),
  user_id text not null references users (id),
  level text not null,
  tags text not null default '[]',
  enabled bigint not null default 1,
  -- Set until the invited person has used the link that this organization handed out.
  invited_at bigint,
  version bigint not null default 1,
  created_at bigint not null,
  updated_at bigint not null,
  unique (customer_id, user_id)
);

-- Integration, agent and enrolment tokens, as keyed hashes.
create table tokens (
  id text primary key,
  kind text not null,
  customer_id text not null references customers (id),
  name text not null,
  prefix text not null,
  digest text not null unique,
  host_id text,
  uses_left bigint,
  expires_at bigint,
  created_by text not null,
  created_by_name text not null,
  created_at bigint not null,
  used_at bigint,
  revoked_at bigint
);
create index tokens_of_customer on tokens (customer_id, kind, id);

create table sessions (
  id text primary key,
  digest text not null unique,
  user_id text not null references users (id),
  customer_id text not null references customers (id),
  address text not null,
  agent text not null,
  created_at bigint not null,
  used_at bigint not null,
  expires_at bigint not null,
  revoked_at bigint
);
create index sessions_of_user on sessions (user_id, id);

-- One-time links: invitation and password reset.
create table links (
  id text primary key,
  kind text not null,
  digest text not null unique,
  user_id text not null references users (id),
  customer_id text not null references customers (id),
  created_by text not null,
  created_at bigint not null,
  expires_at bigint not null,
  used_at bigint
);

-- Who may see and run what: an entry is a member's e-mail or a member tag key:value.
create table acl (
  customer_id text not null,
  object text not null,
  object_id text not null,
  entry text not null,
  primary key (object, object_id, entry)
);
create index acl_by_entry on acl (customer_id, object, entry, object_id);

-- Secret keys of tasks, workflows and webhooks: encrypted for admins to read, hashed for look-up.
create table secret_keys (
  object text not null,
  object_id text not null,
  customer_id text not null,
  digest text not null,
  box text not null,
  old_digest text,
  old_until bigint,
  rotated_at bigint not null,
  primary key (object, object_id)
);

create table audit (
  id text primary key,
  customer_id text not null,
  at bigint not null,
  actor_id text not null,
  actor_name text not null,
  actor_kind text not null,
  address text not null,
  action text not null,
  object text not null,
  object_id text not null,
  before text,
  after text
);
create index audit_of_customer on audit (customer_id, id);
create index audit_of_object on audit (object_id, id);
