-- What started a job, if no person did: kind, id and name, separated by spaces.
alter table jobs add column started_by text not null default '';
