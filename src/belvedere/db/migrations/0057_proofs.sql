-- How a membership was accepted: link (shown to the inviter), mail, password, provider, operator,
-- consent, upgrade (before this was recorded); empty while the person is invited.
alter table members add column proof text not null default '';
update members set proof = 'upgrade' where invited_at is null;

-- How a link reaches the person: shown (to whoever made it), mail or operator.
alter table links add column proof text not null default 'shown';
update links set proof = 'mail' where created_by = 'operator';

-- Nobody knows who set the passwords of before. Somebody in one organization keeps the password for
-- that one; a password that opens nothing is dropped, so that it opens nothing later.
update users set password_hash = null where not exists (select 1 from members where user_id = users.id);
update users set scope = (select customer_id from members where user_id = users.id)
  where (select count(*) from members where user_id = users.id) = 1;
