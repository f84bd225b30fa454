-- PostgreSQL's extensions: trigrams, for look-ups by a part of a name; and what only its later versions have.
-- Lock level: none on tables.

create schema extensions;
comment on schema extensions is 'PostgreSQL extensions, out of the way of the served schemas.';
create extension pg_trgm with schema extensions;
-- The publisher builds the trigram index; readers use it through the operators of pg_catalog.
grant usage on schema extensions to publisher;
do $$
begin
  -- Where who deploys is no superuser, the functions belong to one, and everybody may run them.
  if not has_function_privilege('publisher', 'extensions.similarity(text, text)', 'execute') then
    grant execute on all functions in schema extensions to publisher;
  end if;
end
$$;

create function extensions.uuid_v7()
returns uuid
language sql volatile security invoker set search_path = ''
as $$
  select (
    lpad(to_hex(now_in.microseconds / 1000), 12, '0')
    -- The version, and 12 bits of the millisecond's fraction.
    || '7' || lpad(to_hex(now_in.microseconds % 1000 * 4096 / 1000), 3, '0')
    -- Of a random UUID, the variant and what follows.
    || right(replace(gen_random_uuid()::text, '-', ''), 16)
  )::uuid
  from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as microseconds) as now_in
$$;
comment on function extensions.uuid_v7 is
  'A UUID of version 7 (RFC 9562): IDs in the order of time, to the microsecond. PostgreSQL 18 has a function for it, 17 has not.';
grant execute on function extensions.uuid_v7 to publisher;
