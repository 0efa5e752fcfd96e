"""When something runs, without the rest of the product: `cron` expressions, `recurrence` (a date, a
cron expression or an interval as a series of instants) and `time_zones`. Pure."""
