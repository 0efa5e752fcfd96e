-- What the first hello after a restore showed: 'accepted', 'restarted', 'rolled_back' or 'nothing'.
alter table hosts add column restore_evidence text not null default '';
