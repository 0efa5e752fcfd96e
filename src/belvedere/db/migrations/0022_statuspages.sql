-- What an organization shows to everybody.
create table statuspages (
  id text primary key,
  customer_id text not null references customers (id),
  -- Its public address, among all organizations.
  slug text not null unique,
  title text not null,
  description text not null,
  enabled bigint not null,
  -- JSON: public names, each with the monitor, indicator or tag that it stands for.
  parts text not null,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null
);
create index statuspages_of_customer on statuspages (customer_id, id);
