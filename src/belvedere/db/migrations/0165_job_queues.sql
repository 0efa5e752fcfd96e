-- The ready jobs of a host, one queue after the other: '' has the jobs of tasks without a limit,
-- each task with a limit has its own. A claim reads the head of each queue.
drop index jobs_ready;
create index jobs_ready on jobs
    (host_id, (case when concurrency is null then '' else coalesce(task_id, '') end), id, not_before_at)
    where lifecycle = 'ready';
