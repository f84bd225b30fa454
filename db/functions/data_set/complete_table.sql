-- The public tables have no row-level security, because PostgreSQL would then use no index for operators that are not
-- leakproof (ilike, fts).
create or replace function data_set.complete_table(schema_name text, table_name text)
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  relation text := format('%I.%I', schema_name, table_name);
  is_suppressed boolean := schema_name like 'suppressed%';
  shape data_set.tables;
  index_name text;
begin
  select * into strict shape from data_set.tables where tables.name = table_name;
  if shape.is_source then
    execute format('alter table %s alter column report_id set not null, alter column auditee_uei set not null', relation);
    -- These constraints, not the loader, keep public and suppressed rows apart. Only resubmission also lists superseded
    -- reports, which have no row in general.
    if table_name = 'general' then
      execute format(
        'alter table %s alter column is_public set not null, add constraint %I check (%s)', relation,
        case when is_suppressed then 'general_is_suppressed' else 'general_is_public' end,
        case when is_suppressed then 'not is_public' else 'is_public' end
      );
    elsif table_name <> 'resubmission' then
      execute format(
        'alter table %s add constraint %I foreign key (report_id) references %I.general (report_id)', relation,
        table_name || '_report_id_is_in_general', schema_name
      );
    end if;
    if is_suppressed then
      execute format('alter table %s enable row level security', relation);
      execute format('create policy tribal_access on %s for select to api_tribal using (true)', relation);
    end if;
  elsif table_name = 'general_stubs' then
    execute format(
      'alter table %s alter column report_id set not null, alter column is_public set not null,'
      ' add constraint general_stubs_is_suppressed check (not is_public)', relation
    );
    -- Roles that see the full row do not see its stub.
    execute format('alter table %s enable row level security', relation);
    execute format('create policy public_access on %s for select to api_public using (true)', relation);
  end if;
  -- The index of a source table's key, which begins with report_id, takes the place of an index of report_id.
  if shape.key_columns is not null then
    index_name := table_name || '_key_is_unique';
    execute format(
      'alter table %s add constraint %I unique nulls not distinct (%s)', relation, index_name,
      (select string_agg(quote_ident(name), ', ' order by place) from unnest(shape.key_columns) with ordinality as key (name, place))
    );
  elsif shape.is_source then
    index_name := table_name || '_report_id';
    execute format('create index %I on %s (report_id)', index_name, relation);
    execute format(
      'alter table %s alter column row_number set not null, add constraint %I unique (row_number)', relation,
      table_name || '_row_number_is_unique'
    );
  end if;
  if shape.is_source then
    execute format(
      'comment on index %I.%I is %L', schema_name, index_name,
      format('Finds a report''s rows, for %s?report_id=eq.… or in.(…) and for embedding', table_name)
    );
  end if;
end
$$;
comment on function data_set.complete_table is
  'Adds to a table of a generation its constraints, its key, and the policy that shows suppressed rows only to api_tribal. The other indexes are in db/data_set/indexes.sql.';
grant execute on function data_set.complete_table to publisher;
