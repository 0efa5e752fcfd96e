"""When work runs by itself: cron texts, intervals and dates, in their time zones."""
