-- The W3C trace context of the request that created the job; null for most jobs.
alter table jobs add column traceparent text;
