create or replace function data_set.adopt_shapes(generation text)
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  pair record;
  changes text;
begin
  for pair in
    select
      format('%I.%I', sides.name, tables.name)::regclass as live,
      format('%I.%I', sides.name || generation, tables.name) as built
    from data_set.tables
    join (values ('disclosed'), ('suppressed')) as sides (name) on tables.is_source or sides.name = 'disclosed'
  loop
    if to_regclass(pair.built) is not null then
      select string_agg(
        case when built.name is null then format('add column %I %s', live.name, live.type)
          else format('drop column %I', built.name) end,
        ', ' order by live.place
      )
      into changes
      from data_set.list_columns(pair.live) as live
      full join data_set.list_columns(pair.built::regclass) as built on built.name = live.name
      where live.name is null or built.name is null;
      if changes is not null then
        execute format('alter table %s %s', pair.built, changes);
      end if;
    end if;
    if to_regclass(pair.built) is null or exists (
      select from data_set.list_columns(pair.live) as live
      full join data_set.list_columns(pair.built::regclass) as built
        on (built.place, built.name, built.type) = (live.place, live.name, live.type)
      where live.name is null or built.name is null
    ) then
      raise exception 'A deployment has changed % since this refresh began. Run the refresh again.', pair.live;
    end if;
  end loop;
end
$$;
comment on function data_set.adopt_shapes is
  'Gives the tables of a generation that is not live the columns of the live tables: deployments may have added or dropped some since it was built.';
grant execute on function data_set.adopt_shapes to publisher;
