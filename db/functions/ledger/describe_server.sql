create or replace function ledger.describe_server()
returns text
language sql stable security definer set search_path = ''
as $$
  select coalesce(
    nullif(current_setting('single_audit.server_name', true), ''),
    concat_ws(
      ' ',
      (select pg_control_system.system_identifier from pg_control_system()),
      -- The first 8 characters are the timeline. Recovery to a point in time and the promotion of a replica start a new one.
      left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
      (select pg_database.oid from pg_catalog.pg_database where pg_database.datname = current_database())
    )
  )
$$;
comment on function ledger.describe_server is
  'Distinguishes a database from its copies: returns the setting single_audit.server_name, or the system identifier, timeline and OID.';
grant execute on function ledger.describe_server to publisher;
