-- What the dashboard shows on top.
create table indicators (
  id text primary key,
  customer_id text not null references customers (id),
  title text not null,
  type text not null,
  state text not null,
  -- The value of a text, or of a progress or counter; the other one is null.
  text_value text,
  number_value double precision,
  severity text not null,
  description text not null,
  enabled bigint not null,
  alerts bigint not null,
  sticky bigint not null,
  read_only bigint not null,
  tags text not null,
  place bigint not null,
  width bigint not null,
  height bigint not null,
  -- Silent for so long after pushed_at it is stale; told: the event of that has been written.
  ttl bigint,
  pushed_at bigint not null,
  stale_at bigint,
  stale_told bigint not null default 0,
  user_id text not null,
  -- Of the link that shows it to anybody.
  public_digest text,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null,
  deleted_at bigint
);
create unique index indicators_by_title on indicators (customer_id, title)
  where deleted_at is null;
create index indicators_of_customer on indicators (customer_id, id);
create unique index indicators_by_link on indicators (public_digest)
  where public_digest is not null;
create index indicators_going_stale on indicators (stale_at)
  where stale_told = 0 and stale_at is not null;
create index indicators_deleted on indicators (deleted_at) where deleted_at is not null;

-- One value per second, of the last hour; older ones are thinned.
create table indicator_values (
  indicator_id text not null,
  at bigint not null,
  state text not null,
  -- JSON: a number, or the beginning of a text.
  value text not null,
  primary key (indicator_id, at)
);
create index indicator_values_by_age on indicator_values (at);
