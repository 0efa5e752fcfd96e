-- A ready job is held when the database was restored: it may have run since the backup.
create or replace function refuse_job_move() returns trigger language plpgsql as $$
begin
  if (new.lifecycle <> old.lifecycle or new.state <> old.state) and (
    position(
      ' ' || old.lifecycle || '>' || new.lifecycle || ' ' in
      ' syncing>ready onhold>ready onhold>finished ready>assigned ready>started'
      ' assigned>ready assigned>finished assigned>terminated assigned>canceled'
      ' started>finished started>terminated ready>canceled onhold>canceled syncing>canceled'
      ' ready>expired onhold>expired syncing>expired terminated>finished ready>onhold '
    ) = 0
    or (old.lifecycle = 'terminated' and old.state <> 'lost')
  ) then
    raise exception 'a job may not make this move: % to %', old.lifecycle, new.lifecycle;
  end if;
  return new;
end $$
;;
