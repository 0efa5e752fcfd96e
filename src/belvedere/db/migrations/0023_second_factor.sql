-- What a person shows beside the password: codes of an app that shares a secret with us.
create table second_factors (
  user_id text primary key references users (id),
  box text not null,
  -- Null until the first code has shown that the app works.
  confirmed_at bigint,
  -- The time step of the last code that counted: no code counts twice.
  last_step bigint not null default 0,
  wrong_codes bigint not null default 0,
  wrong_since bigint not null default 0,
  created_at bigint not null
);

-- For whoever lost the app; each works once and is deleted then.
create table recovery_codes (
  digest text primary key,
  user_id text not null references users (id)
);
create index recovery_codes_of_user on recovery_codes (user_id);

-- Somebody's password was right a moment ago; the second factor is to come.
create table tickets (
  digest text primary key,
  user_id text not null references users (id),
  customer_id text not null references customers (id),
  asks text not null,
  tries bigint not null default 0,
  expires_at bigint not null
);
create index tickets_of_user on tickets (user_id);

-- By what somebody signed in: password, totp, recovery, provider.
alter table sessions add column method text not null default 'password';
-- From this level on members need a second factor; empty: nobody does.
alter table customers add column second_factor_level text not null default '';
