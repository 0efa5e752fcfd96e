-- When the person declined to have the membership in the own account: it is not offered again.
alter table members add column declined_at bigint;
