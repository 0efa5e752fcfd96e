-- Arguments of script monitors and hashes of plans are hidden as well: the background pass looks at
-- these columns again.
delete from meta where name in (
  'sealing:monitors.config', 'sealing:approvals.plan', 'sealing:audit.before', 'sealing:audit.after'
);
