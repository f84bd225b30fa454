-- The views that the API schemas read. Each combines a table's public and suppressed rows. Row-level security decides which
-- branches a role can read, and the planner drops the others.
-- This is the last part of the publishing transaction, because requests wait from here on. publish.sql has already renamed
-- the new generation's schemas, and the views still read the previous one.

do $$
declare
  relation record;
begin
  for relation in
    with published as (
      select pg_class.oid, pg_class.relname::text as name
      from pg_catalog.pg_class
      where pg_class.relnamespace = 'disclosed'::regnamespace and pg_class.relkind in ('r', 'm')
        and pg_class.relname not in ('general_stubs', 'fingerprints')
    )
    select
      (published.name <> 'data_set')::integer as place,
      published.name,
      concat_ws(
        ' union all ',
        format('table disclosed.%I', published.name),
        case when to_regclass(format('suppressed.%I', published.name)) is not null then
          format('table suppressed.%I', published.name)
        end,
        case when published.name = 'general' then 'table disclosed.general_stubs' end
      ) as branches,
      -- A view can be replaced if the new view begins with the same columns. Otherwise, it is dropped and created.
      exists (
        select
        from pg_catalog.pg_attribute as old
        left join pg_catalog.pg_attribute as new
          on new.attrelid = published.oid and not new.attisdropped
          and (new.attnum, new.attname, new.atttypid, new.atttypmod, new.attcollation)
            = (old.attnum, old.attname, old.atttypid, old.atttypmod, old.attcollation)
        where old.attrelid = to_regclass(format('dissemination.%I', published.name))
          and old.attnum > 0 and new.attnum is null
      ) as is_new
    from published
    union all
    -- Views of tables that this generation does not have.
    select 1, view.relname, null, true
    from pg_catalog.pg_class as view
    where view.relnamespace = 'dissemination'::regnamespace and view.relkind = 'v'
      and not exists (select from published where published.name = view.relname)
    -- The view data_set comes first: request.authorize() reads it first, so a request sees one data set from start to end.
    order by place, name
  loop
    if relation.is_new then
      if to_regnamespace('dissemination_replaced') is null then
        create schema dissemination_replaced;
        execute (
          select format('grant usage on schema dissemination_replaced to %s', proowner::regrole)
          from pg_catalog.pg_proc where oid = 'publication.rebind_api_views()'::regprocedure
        );
      end if;
      execute format('alter view dissemination.%I set schema dissemination_replaced', relation.name);
    end if;
    if relation.branches is not null then
      execute format(
        'create or replace view dissemination.%I with (security_invoker = true) as %s', relation.name, relation.branches
      );
    end if;
  end loop;
  grant select on all tables in schema dissemination to api_public, api_tribal, api_owner;

  if to_regnamespace('dissemination_replaced') is not null then
    perform publication.rebind_api_views();
    for relation in
      select relname as name from pg_catalog.pg_class where relnamespace = to_regnamespace('dissemination_replaced')
    loop
      -- Without cascade: if another object reads the view, this fails, and the live data set stays as it is.
      execute format('drop view dissemination_replaced.%I', relation.name);
    end loop;
    drop schema dissemination_replaced;
  end if;
end
$$;
