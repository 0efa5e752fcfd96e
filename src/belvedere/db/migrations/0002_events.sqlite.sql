-- What happened, in order. One writer, so ids are in the order of the commits and xid stays 0.
create table events (
  id integer primary key autoincrement,
  xid bigint not null,
  at bigint not null,
  customer_id text not null,
  kind text not null,
  object text not null,
  object_id text not null,
  data text not null
);
create index events_of_object on events (object_id, id);

create table cursors (name text primary key, xid bigint not null, id bigint not null);

create table counters (name text primary key, value bigint not null);
-- A fence is (epoch << 40) | sequence; the first epoch is 1, a restore raises it.
insert into counters (name, value) values ('fence', 1099511627776);
