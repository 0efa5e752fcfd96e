-- One index instead of two: every live attempt of a job has the same place in it, so that there is
-- one at most; the others have their own.
drop index attempts_of_job;
drop index one_live_attempt;
create unique index attempts_of_job on attempts
  (job_id, case when state = 'live' then 0 else fence end);
