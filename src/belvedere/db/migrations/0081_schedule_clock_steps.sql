-- Intervals are counted from here after the clock was set to another time; null: from run_date or
-- anchor_at.
alter table schedules add column counted_from bigint;
