-- Records in an empty scratch database what migrations do to existing tables: the locks that they hold until they commit, and whether
-- they rewrite a table or read all its rows. It observes PostgreSQL, so it covers statements inside functions.

create schema observed;

create table observed.tables as
select
  pg_class.oid, pg_class.oid::regclass::text as name, pg_class.relfilenode, 0::bigint as scans
from pg_catalog.pg_class
join pg_catalog.pg_namespace on pg_namespace.oid = pg_class.relnamespace
where pg_class.relkind in ('r', 'p', 'm', 'v')
  and pg_namespace.nspname !~ '^pg_' and pg_namespace.nspname not in ('information_schema', 'deployment', 'observed');

-- Lock modes, from weak to strong, and what they block. Weaker modes conflict only with locks that block reads or writes themselves.
create table observed.modes as
select *
from unnest(
  array['RowExclusiveLock', 'ShareUpdateExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'],
  array['ROW EXCLUSIVE', 'SHARE UPDATE EXCLUSIVE', 'SHARE', 'SHARE ROW EXCLUSIVE', 'EXCLUSIVE', 'ACCESS EXCLUSIVE'],
  array['changes to the same rows', 'changes to the table''s definition', 'writes', 'writes', 'writes', 'reads and writes']
) with ordinality as mode (mode, name, blocks, strength);

create table observed.effects (
  id bigint generated always as identity,
  -- Null until the migration ends.
  migration text,
  -- The statement's number; null until the statement ends.
  statement bigint,
  command text,
  table_name text not null,
  strength bigint,
  effect text not null
);

create function observed.note_locks()
returns void
language sql volatile security definer set search_path = ''
as $$
  insert into observed.effects (table_name, strength, effect)
  select distinct on (tables.name)
    tables.name, modes.strength, format('locks %s (%s, which blocks %s)', tables.name, modes.name, modes.blocks)
  from pg_catalog.pg_locks
  join observed.tables on tables.oid = pg_locks.relation
  join observed.modes on modes.mode = pg_locks.mode
  where pg_locks.pid = pg_backend_pid() and pg_locks.locktype = 'relation'
    -- Only what is new with this statement.
    and modes.strength > coalesce((
      select max(effects.strength) from observed.effects where effects.migration is null and effects.table_name = tables.name
    ), 0)
  order by tables.name, modes.strength desc
$$;

create function observed.end_statement(done text)
returns void
language sql volatile security definer set search_path = ''
as $$
  update observed.effects
  set command = done, statement = (select coalesce(max(other.statement), 0) + 1 from observed.effects as other)
  where effects.statement is null
$$;

create function observed.note_start()
returns event_trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  update observed.tables set scans = coalesce(pg_stat_get_xact_numscans(tables.oid), 0);
end
$$;

create function observed.note_rewrite()
returns event_trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  insert into observed.effects (table_name, effect)
  select tables.name, 'rewrites ' || tables.name
  from observed.tables where tables.oid = pg_event_trigger_table_rewrite_oid();
  -- Keeps the end of the migration from recording it again.
  update observed.tables set relfilenode = 0 where tables.oid = pg_event_trigger_table_rewrite_oid();
end
$$;

create function observed.note_end()
returns event_trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform observed.note_locks();
  insert into observed.effects (table_name, effect)
  select tables.name, 'reads every row of ' || tables.name
  from observed.tables where pg_stat_get_xact_numscans(tables.oid) > tables.scans;
  update observed.tables set scans = coalesce(pg_stat_get_xact_numscans(tables.oid), 0);
  perform observed.end_statement(concat_ws(' ', tg_tag, (
    select string_agg(distinct changed.object_identity, ', ')
    from pg_event_trigger_ddl_commands() as changed
    where changed.command_tag = tg_tag
  )));
end
$$;

-- Records a migration at its end, in its transaction if it has one. This finds the locks and new files that statements other than DDL left,
-- such as UPDATE and TRUNCATE.
create function observed.finish()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform observed.note_locks();
  insert into observed.effects (table_name, effect)
  select tables.name, 'rewrites ' || tables.name
  from observed.tables
  join pg_catalog.pg_class on pg_class.oid = tables.oid
  where tables.relfilenode <> 0 and pg_class.relfilenode <> tables.relfilenode;
  perform observed.end_statement('Other statements');
  update observed.effects set migration = new.name where effects.migration is null;
  update observed.tables set relfilenode = pg_class.relfilenode
  from pg_catalog.pg_class where pg_class.oid = tables.oid;
  return new;
end
$$;

create trigger observe after insert on deployment.migrations for each row execute function observed.finish();
create event trigger observe_start on ddl_command_start execute function observed.note_start();
create event trigger observe_rewrite on table_rewrite execute function observed.note_rewrite();
create event trigger observe_end on ddl_command_end execute function observed.note_end();
