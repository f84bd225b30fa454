-- Publishes the next generation: all of it or nothing, in one transaction, the live one kept as the previous.
-- Comes after views.sql, which has bound the views of dissemination to the next generation.

drop schema if exists disclosed_previous cascade;
drop schema if exists suppressed_previous cascade;
alter schema disclosed rename to disclosed_previous;
alter schema suppressed rename to suppressed_previous;
alter schema disclosed_next rename to disclosed;
alter schema suppressed_next rename to suppressed;

notify pgrst, 'reload schema';
