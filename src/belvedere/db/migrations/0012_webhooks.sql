-- Doors from outside. What they start stands in triggers.
create table webhooks (
  id text primary key,
  customer_id text not null references customers (id),
  name text not null,
  enabled bigint not null,
  -- none, hmac-sha256 or github
  signature text not null,
  trigger_count bigint not null default 0,
  triggered_at bigint,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null
);
create index webhooks_of_customer on webhooks (customer_id, id);

-- Whatever came in with a right secret, signature or token. The body stands last: lists leave it.
create table deliveries (
  id text primary key,
  customer_id text not null,
  webhook_id text not null,
  at bigint not null,
  address text not null,
  -- token, secret, signature or replay, and whose token it was
  door text not null,
  username text not null,
  -- accepted, duplicate, or the code of the refusal
  verdict text not null,
  delivery_key text,
  replay_of text,
  jobs text not null,
  -- Places of the payload that are arguments which nobody may see.
  masked text not null,
  content_type text not null,
  headers text not null,
  size bigint not null,
  body text not null
);
create index deliveries_of_webhook on deliveries (webhook_id, id, size);

-- A signature is made with the key itself, so an old key that is still good must be readable too.
alter table secret_keys add column old_box text;
