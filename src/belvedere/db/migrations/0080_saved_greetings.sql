-- The number of the last hello that was durable on the agent's disk: with a full disk an agent says
-- numbers that it has forgotten after a reboot.
alter table hosts add column saved_greeting bigint not null default 0;
update hosts set saved_greeting = greeting;
