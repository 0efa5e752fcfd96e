-- At which number each monitor of a host's list changed last, so that agents get differences. A
-- monitor that was deleted or moved to another host keeps its row: the agent must drop it.
create table watch_changes (
  host_id text not null,
  monitor_id text not null,
  number bigint not null,
  primary key (host_id, monitor_id)
);
create index watch_changes_by_number on watch_changes (host_id, number);
create index watch_changes_of_monitor on watch_changes (monitor_id);

-- All changes after this number have a row; an agent with an older list gets the whole list.
alter table watches add column complete_from bigint not null default 0;
-- The number as this version wrote it last. A server of the previous version counts `number` up
-- without adding a row; the difference between the two shows that.
alter table watches add column recorded bigint not null default 0;
update watches set complete_from = number, recorded = number;

-- Lists are read in parts, in the order of ids.
drop index monitors_of_host;
create index monitors_of_host on monitors (host_id, id) where deleted_at is null;
