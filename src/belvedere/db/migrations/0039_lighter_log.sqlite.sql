-- The next event gets the id after the newest: SQLite's own counter costs a page in every commit.
create table events_by_id (
  id integer primary key,
  xid bigint not null,
  at bigint not null,
  customer_id text not null,
  kind text not null,
  object text not null,
  object_id text not null,
  data text not null
)
;;
insert into events_by_id
  select id, xid, at, customer_id, kind, object, object_id, data from events order by id
;;
-- Where the newest were deleted, an empty one holds their place.
insert into events_by_id
  select seq, 0, 0, '', '', '', '', '{}' from sqlite_sequence
  where name = 'events' and seq > (select coalesce(max(id), 0) from events)
;;
drop table events
;;
alter table events_by_id rename to events
;;
create index events_of_object on events (object_id, id)
;;
create index events_of_others on events (at) where object <> 'job'
;;
-- No id may come twice, for readers go on behind the last one they have seen. So the newest event
-- is never deleted, only emptied; it goes by its age, once there is a newer one.
create trigger newest_event_stays before delete on events
when old.id = (select max(id) from events)
begin
  update events set customer_id = '', kind = '', object = '', object_id = '', data = '{}'
    where id = old.id;
  select raise(ignore);
end
;;
