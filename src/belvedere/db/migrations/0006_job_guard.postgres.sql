create function refuse_job_move() returns trigger language plpgsql as $$
begin
  if not exists (
    select 1 from job_moves
    where from_lifecycle = old.lifecycle and to_lifecycle = new.lifecycle
  ) or (old.lifecycle = 'terminated' and old.state <> 'lost') then
    raise exception 'a job may not make this move: % to %', old.lifecycle, new.lifecycle;
  end if;
  return new;
end $$
;;
create trigger jobs_guard before update of lifecycle, state on jobs for each row
when (new.lifecycle <> old.lifecycle or new.state <> old.state)
execute function refuse_job_move()
;;
