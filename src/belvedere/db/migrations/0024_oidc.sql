-- Where members sign in instead of with a password of ours: OpenID providers of an organization.
create table providers (
  id text primary key,
  customer_id text not null references customers (id),
  name text not null,
  issuer text not null,
  client_id text not null,
  -- The client's secret, sealed; empty where there is none.
  box text not null,
  scopes text not null,
  domains text not null,
  -- Of whoever comes in without an invitation; empty: nobody does.
  level text not null,
  level_claim text not null,
  level_map text not null,
  enabled bigint not null,
  -- What the issuer said of itself when the provider was saved.
  endpoints text not null,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null
);
create index providers_of_customer on providers (customer_id, name);

-- Who is who there: bound at the first sign-in, whatever the e-mail is later.
create table identities (
  provider_id text not null references providers (id),
  subject text not null,
  user_id text not null references users (id),
  created_at bigint not null,
  primary key (provider_id, subject),
  unique (provider_id, user_id)
);
create index identities_of_user on identities (user_id);

-- Sign-ins that came back from a provider: none comes back twice.
create table used_states (
  digest text primary key,
  expires_at bigint not null
);

-- Through which provider a session began; it opens that organization only.
alter table sessions add column provider_id text;
