create or replace function extensions.uuid_v7()
returns uuid
language sql volatile security invoker set search_path = ''
as $$
  select (
    lpad(to_hex(now_in.microseconds / 1000), 12, '0')
    -- The version, and 12 bits of the millisecond's fraction.
    || '7' || lpad(to_hex(now_in.microseconds % 1000 * 4096 / 1000), 3, '0')
    -- The variant and the random bits, from a random UUID.
    || right(replace(gen_random_uuid()::text, '-', ''), 16)
  )::uuid
  from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as microseconds) as now_in
$$;
comment on function extensions.uuid_v7 is
  'Returns a version 7 UUID (RFC 9562). These IDs sort by creation time, to the microsecond. PostgreSQL 17 has no such function; PostgreSQL 18 has one.';
grant execute on function extensions.uuid_v7 to publisher;
