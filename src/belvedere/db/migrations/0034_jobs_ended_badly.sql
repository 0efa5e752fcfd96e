-- Jobs that did not end well: few, and what people look for in years of history. A job that ends
-- well never enters it.
create index jobs_ended_badly on jobs (customer_id, id)
  where state in ('canceled', 'error', 'failure', 'lost', 'timeout');
