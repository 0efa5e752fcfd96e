-- Pages as people keep them: which page, with which filters.
create table views (
  id text primary key,
  customer_id text not null references customers (id),
  user_id text not null,
  name text not null,
  page text not null,
  query text not null,
  -- 1: every member has it.
  shared bigint not null,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null
);
create index views_of_user on views (customer_id, user_id);
create index views_shared on views (customer_id) where shared = 1;

-- What a person keeps about the console: appearance, values given last. JSON.
create table preferences (
  user_id text primary key references users (id),
  settings text not null,
  updated_at bigint not null
);

-- Jobs that wait for a person, or for their turn: few, and asked for by every page.
create index jobs_onhold on jobs (customer_id, id) where lifecycle = 'onhold';
