-- An account is the person's own (empty scope) or belongs to one organization (its id): then nothing
-- that was proved there reaches another organization. SQLite cannot drop a unique constraint, so the
-- table is made again; rows that refer to it are checked at the commit.
pragma defer_foreign_keys = on;
create table users_before as select * from users;
drop table users;
create table users (
  id text primary key,
  email text not null,
  username text not null,
  name text not null default '',
  password_hash text,
  enabled bigint not null default 1,
  created_at bigint not null,
  updated_at bigint not null,
  login_at bigint,
  scope text not null default '',
  -- What shows that the password is the address owner's: mail, operator; empty: nothing does.
  proof text not null default '',
  unique (email, scope),
  unique (username, scope)
);
insert into users (id, email, username, name, password_hash, enabled, created_at, updated_at, login_at)
  select id, email, username, name, password_hash, enabled, created_at, updated_at, login_at from users_before;
drop table users_before;
