-- A new fence is the one after the newest attempt's; the counter says below which there is none. So
-- a claim only reads it, and no fence comes twice when the newest attempt is deleted.
create trigger newest_fence_stays before delete on attempts
when old.fence = (select max(fence) from attempts)
begin
  update counters set value = max(value, old.fence) where name = 'fence';
end
;;
