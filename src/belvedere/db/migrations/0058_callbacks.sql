-- Where a provider sends people back to: its own address, or the one that all shared before.
alter table providers add column callback text not null default 'shared';
