create trigger jobs_guard before update of lifecycle, state on jobs
when (new.lifecycle <> old.lifecycle or new.state <> old.state) and (
  not exists (
    select 1 from job_moves
    where from_lifecycle = old.lifecycle and to_lifecycle = new.lifecycle
  )
  or (old.lifecycle = 'terminated' and old.state <> 'lost')
)
begin
  select raise(abort, 'a job may not make this move');
end
;;
