-- Jobs from this id on have the scopes for searches of members (jobs/search/visibility.py), empty for all.
alter table job_search_progress add column members_reached text not null default 'g';
