-- A ready job is held when the database was restored: it may have run since the backup.
insert into job_moves (from_lifecycle, to_lifecycle) values ('ready', 'onhold')
;;
