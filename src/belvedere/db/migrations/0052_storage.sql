-- What each organization stores, as it was measured last, and how much it may store (0: no limit).
create table storage (
  customer_id text primary key,
  bytes bigint not null,
  quota bigint not null,
  measured_at bigint not null
);
