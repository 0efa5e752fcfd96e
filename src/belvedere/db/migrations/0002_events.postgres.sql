-- What happened, in order. Identity values commit out of order, so a cursor resumes on (xid, id)
-- and reads only below the oldest running transaction.
create table events (
  id bigint generated always as identity primary key,
  xid bigint not null,
  at bigint not null,
  customer_id text not null,
  kind text not null,
  object text not null,
  object_id text not null,
  data text not null
);
create index events_in_order on events (xid, id);
create index events_of_object on events (object_id, id);

create table cursors (name text primary key, xid bigint not null, id bigint not null);

-- A fence is (epoch << 40) | sequence; the first epoch is 1, a restore raises it.
create sequence fence start 1099511627777;
