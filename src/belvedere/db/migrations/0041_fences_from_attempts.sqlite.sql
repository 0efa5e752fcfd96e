-- A new fence is the one after the newest attempt's; the counter says below which there is none. So
-- a claim only reads it, and no fence comes twice when the newest attempt is deleted.
create trigger newest_fence_stays before delete on attempts
when old.fence = (select max(fence) from attempts)
begin
  update counters set value = max(value, old.fence) where name = 'fence';
end
;;
-- An older version would count on from where the counter stood, and give out fences again.
create trigger fences_only_grow before update on counters
when new.name = 'fence' and new.value < (select max(fence) from attempts)
begin
  select raise(abort, 'a newer version of Belvedere made this database');
end
;;
