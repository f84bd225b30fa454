-- Publishes the next generation: all of it or nothing, in one transaction, the live one kept as the previous. Nobody
-- waits for this: readers go by the views of dissemination, which views.sql binds to the new names at the end. What was
-- the previous generation is only renamed here: dropping its files would take long.

do $$
begin
  if to_regnamespace('disclosed_previous') is not null then
    alter schema disclosed_previous rename to disclosed_dropped;
    alter schema suppressed_previous rename to suppressed_dropped;
  end if;
end
$$;
alter schema disclosed rename to disclosed_previous;
alter schema suppressed rename to suppressed_previous;
alter schema disclosed_next rename to disclosed;
alter schema suppressed_next rename to suppressed;

-- PostgREST is not told: the views that it serves, and their columns, stay the same.
update disclosed.data_set set published_at = now();
