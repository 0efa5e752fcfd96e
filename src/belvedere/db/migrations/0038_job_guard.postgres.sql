-- The condition of a trigger is read from the catalog again for every statement, and the table of
-- moves was asked for every row: inside the function both cost next to nothing.
create or replace function refuse_job_move() returns trigger language plpgsql as $$
begin
  if (new.lifecycle <> old.lifecycle or new.state <> old.state) and (
    position(
      ' ' || old.lifecycle || '>' || new.lifecycle || ' ' in
      ' syncing>ready onhold>ready onhold>finished ready>assigned ready>started'
      ' assigned>ready assigned>finished assigned>terminated assigned>canceled'
      ' started>finished started>terminated ready>canceled onhold>canceled syncing>canceled'
      ' ready>expired onhold>expired syncing>expired terminated>finished '
    ) = 0
    or (old.lifecycle = 'terminated' and old.state <> 'lost')
  ) then
    raise exception 'a job may not make this move: % to %', old.lifecycle, new.lifecycle;
  end if;
  return new;
end $$
;;
drop trigger jobs_guard on jobs
;;
create trigger jobs_guard before update of lifecycle, state on jobs for each row
execute function refuse_job_move()
;;
drop table job_moves
;;
