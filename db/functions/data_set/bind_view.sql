-- Row-level security decides which branches of a view a role can read, and the planner drops the others.
create or replace function data_set.bind_view(table_name text, dropped_column text default null)
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  view_name text := format('dissemination.%I', table_name);
  all_columns text;
  stub_columns text;
begin
  if table_name in ('general_stubs', 'fingerprints', 'search_terms', 'totals_by_peer_groups') then
    return;
  end if;
  select
    string_agg(
      case when name = dropped_column then format('null::%s as %I', type, name) else quote_ident(name) end, ', ' order by place
    ),
    string_agg(
      case
        when name in ('report_id', 'is_public') then name
        when name = dropped_column then format('null::%s as %I', type, name)
        else format('(null::disclosed.%I).%I', table_name, name)
      end, ', ' order by place
    )
  into all_columns, stub_columns
  from data_set.list_columns(format('disclosed.%I', table_name)::regclass);
  -- PostgreSQL cannot take a column from a view. Only a deployment that rebuilds the API gets here, so nothing reads the view.
  if dropped_column is null and exists (
    select from data_set.list_columns(to_regclass(view_name)) as bound
    where bound.name not in (select live.name from data_set.list_columns(format('disclosed.%I', table_name)::regclass) as live)
  ) then
    execute format('drop view %s', view_name);
  end if;
  execute format(
    'create or replace view dissemination.%1$I with (security_invoker = true) as select %2$s from disclosed.%1$I%3$s%4$s',
    table_name, all_columns,
    case when exists (select from data_set.tables where tables.name = table_name and tables.is_source)
      then format(' union all select %s from suppressed.%I', all_columns, table_name) else '' end,
    case when table_name = 'general' and to_regclass('disclosed.general_stubs') is not null
      then format(' union all select %s from disclosed.general_stubs', stub_columns) else '' end
  );
  execute format('alter view %s owner to publisher', view_name);
  execute format('grant select on %s to api_public, api_tribal, api_owner', view_name);
end
$$;
comment on function data_set.bind_view is
  'Makes the view dissemination.<table> read the live tables of this name: the public and the suppressed rows, and the stubs of suppressed submissions. dropped_column: a column that is about to be dropped, which becomes null.';
grant execute on function data_set.bind_view to publisher;
