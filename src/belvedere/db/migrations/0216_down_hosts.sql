-- The hosts that may be down, which are few: their monitors are looked for every few seconds.
create index hosts_down on hosts (id)
  where deleted_at is null and (gone_at is not null or connected_at is null);
