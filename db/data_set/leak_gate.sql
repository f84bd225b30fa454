-- The leak gate: asks this database, as each role that a client's key may become but the Tribal one, whether anything
-- that PostgREST serves shows a suppressed submission. Raises SQLSTATE LEAKS with a line for each finding.
--
-- One suppressed submission with unmistakable values, the canary, is planted in each table of suppressed, asked for and
-- taken out again, so that an empty data set is asked as hard as a full one. Of all rows at once speaks the planner: who
-- may not read suppressed gets plans that read tables of disclosed and nothing else. What a plan does not show (a function
-- that it cannot see through, a table beside the data set) is refused unless it is listed below.
--
-- Whoever runs it owns the schema suppressed, or may become its owner, and may become the roles that are asked.

do $leak_gate$
declare
  -- Functions that these roles may run and that no plan shows, each as it was read when it was listed,
  -- md5(pg_get_functiondef(oid)), and with the reason why it tells nothing.
  listed constant jsonb := jsonb_object(array[
    'request.refuse(integer,text,text,text,text,jsonb) f84dee81f41c5f7751b6be63729bc6a1', 'Raises what it is given.',
    'request.matches_etag(text,text,boolean) 5392f90fe27669b3d7c123098abc94fb', 'Compares its arguments.',
    'request.take_weight(integer) fd733d34bcdd221b4b5dae8653fabe77', 'Adds its argument to a setting of the transaction.'
  ]);
  believed oid[];
  canary constant text := 'CANARY-0000-00-0000000000';
  findings text[] := '{}';
  keeper name;
  asked name;
  planted record;
  question record;
  questions jsonb;
  plan jsonb;
  found text[];
  is_shown boolean;
begin
  select pg_get_userbyid(nspowner) into strict keeper from pg_catalog.pg_namespace where nspname = 'suppressed';

  -- Whatever happens in this block is undone at its end, what it found excepted.
  begin
    perform set_config('search_path', '', true), set_config('role', keeper, true);
    believed := array(
      select pg_proc.oid
      from pg_catalog.pg_proc
      where pg_proc.oid >= 16384 and pg_proc.prokind = 'f' and pg_proc.pronamespace = to_regnamespace('request')
        and listed ? format('%s %s', pg_proc.oid::regprocedure, md5(pg_get_functiondef(pg_proc.oid)))
    );

    for planted in
      select
        pg_class.oid::regclass as relation,
        string_agg(quote_ident(pg_attribute.attname), ', ') as columns,
        string_agg(
          case
            when pg_attribute.attname = 'report_id' then quote_literal(canary)
            when pg_type.typcategory = 'S' and pg_attribute.atttypmod > 4
              then quote_literal(left('suppressed canary', pg_attribute.atttypmod - 4))
            when pg_type.typcategory = 'S' then quote_literal('suppressed canary')
            when pg_type.typcategory = 'D' then quote_literal('4444-04-04')
            when pg_type.typcategory = 'N' and (pg_attribute.atttypmod > -1 or pg_type.typname = 'int2') then '4'
            when pg_type.typcategory = 'N' then '1444444444'
            when pg_type.typcategory = 'B' then 'false'
            else 'default'
          end, ', '
        ) as values
      from pg_catalog.pg_class
      join pg_catalog.pg_attribute on pg_attribute.attrelid = pg_class.oid
        and pg_attribute.attnum > 0 and not pg_attribute.attisdropped and pg_attribute.attgenerated = ''
      join pg_catalog.pg_type on pg_type.oid = pg_attribute.atttypid
      where pg_class.relnamespace = 'suppressed'::regnamespace and pg_class.relkind in ('r', 'p')
      group by pg_class.oid
      -- The submission comes before the rows that refer to it.
      order by exists (
        select from pg_catalog.pg_constraint
        where pg_constraint.conrelid = pg_class.oid and pg_constraint.contype = 'f'
      )
    loop
      execute format('insert into %s (%s) values (%s)', planted.relation, planted.columns, planted.values);
    end loop;
    -- A database without a data set serves nothing yet.
    if to_regclass('disclosed.general_stubs') is not null then
      insert into disclosed.general_stubs (report_id, is_public) values (canary, false);
    end if;

    -- What makes asking pointless.
    findings := findings
      || array(
        select format('The tier %s becomes api_tribal: only the tier tribal may.', tiers.name)
        from access.tiers
        where tiers.database_role = 'api_tribal' and tiers.name <> 'tribal'
      )
      || array(
        select format('%s is security definer in a served schema: it reads with its owner''s rights.', pg_proc.oid::regprocedure)
        from pg_catalog.pg_proc
        join pg_catalog.pg_namespace on pg_namespace.oid = pg_proc.pronamespace
        where pg_proc.prosecdef and pg_namespace.nspname ~ '^(admin_)?api_v[0-9]'
          and pg_proc.oid <> all (believed)
      );

    foreach asked in array array(
      select tiers.database_role from access.tiers where tiers.database_role <> 'api_tribal'
      union select 'api_public'
    ) loop
      findings := findings
        || array(
          select format('%s is superuser or has bypassrls: row-level security does not hold for it.', pg_roles.rolname)
          from pg_catalog.pg_roles
          where pg_roles.rolname = asked and (pg_roles.rolsuper or pg_roles.rolbypassrls)
        )
        || array(
          select format('%s may become %s.', asked, pg_auth_members.roleid::regrole)
          from pg_catalog.pg_auth_members
          where pg_auth_members.member = asked::regrole
        );

      with house as (
        -- As request.pre_config() serves them, and what stands under them.
        select pg_namespace.oid, pg_namespace.nspname ~ '^(admin_)?api_v[0-9]' as is_served
        from pg_catalog.pg_namespace
        where pg_namespace.nspname ~ '^(admin_)?api_v[0-9]|^(dissemination|disclosed|suppressed)$'
      ), relations as (
        select
          pg_class.oid,
          string_agg(quote_ident(pg_attribute.attname), ', ' order by pg_attribute.attnum) as columns,
          bool_or(pg_attribute.attname = 'report_id') as has_report_id,
          -- A stub is a row of two values: that a suppressed submission is there may be known.
          case when bool_or(pg_attribute.attname = 'is_public') then format(
            '(is_public is distinct from false or num_nonnulls(%s) > 2)',
            string_agg(quote_ident(pg_attribute.attname), ', ')
          ) else 'true' end as is_more_than_a_stub
        from house
        join pg_catalog.pg_class on pg_class.relnamespace = house.oid and pg_class.relkind in ('r', 'p', 'v', 'm', 'f')
        join pg_catalog.pg_attribute on pg_attribute.attrelid = pg_class.oid
          and pg_attribute.attnum > 0 and not pg_attribute.attisdropped
        where has_column_privilege(asked, pg_class.oid, pg_attribute.attnum, 'select')
          and has_schema_privilege(asked, house.oid, 'usage')
        group by pg_class.oid
      ), functions as (
        select
          pg_proc.*,
          pg_proc.oid::regprocedure::text as signature,
          format('%I.%I', pg_namespace.nspname, pg_proc.proname) as name,
          arguments.*
        from pg_catalog.pg_proc
        join pg_catalog.pg_namespace on pg_namespace.oid = pg_proc.pronamespace
        cross join lateral (
          select
            coalesce(string_agg(format('null::%s as a%s', format_type(argument.type, null), argument.place), ', '), 'null') as nulls,
            coalesce(string_agg(format('given.a%s', argument.place), ', ' order by argument.place), '') as places,
            coalesce(bool_or(pg_type.typtype = 'p'), false) as are_any
          from unnest(pg_proc.proargtypes::oid[]) with ordinality as argument (type, place)
          join pg_catalog.pg_type on pg_type.oid = argument.type
        ) as arguments
        -- All that are not PostgreSQL's own nor an extension's, in whatever schema: a view may call them.
        where pg_proc.oid >= 16384
          and pg_proc.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
          and has_function_privilege(asked, pg_proc.oid, 'execute')
          -- Said above.
          and not (pg_proc.prosecdef and pg_namespace.nspname ~ '^(admin_)?api_v[0-9]')
          and pg_proc.oid <> all (believed)
          and not (pg_namespace.nspname !~ '^(admin_)?api_v[0-9]' and exists (
            select from pg_catalog.pg_depend
            where pg_depend.classid = 'pg_proc'::regclass and pg_depend.objid = pg_proc.oid and pg_depend.deptype = 'e'
          ))
      )
      select jsonb_agg(asking) into questions
      from (
        select
          relations.oid::regclass::text as object,
          format('select %s from %s', relations.columns, relations.oid::regclass) as query,
          case when relations.has_report_id then format(
            'select exists (select from %s where report_id = $1 and %s)', relations.oid::regclass, relations.is_more_than_a_stub
          ) end as canary_query,
          null as said
        from relations
        union all
        select
          functions.signature,
          -- With arguments that the planner does not know, so that what it inlines stays whole.
          case
            when functions.prosecdef or functions.prokind <> 'f' or functions.are_any or functions.provariadic <> 0 then null
            -- The planner puts its value in its place.
            when functions.provolatile = 'i' and functions.pronargs = 0 then null
            when functions.proretset
              then format('select called.* from (select %s offset 0) as given, lateral %s(%s) as called', nulls, name, places)
            else format('select %s(%s) from (select %s offset 0) as given', name, places, nulls)
          end,
          null,
          pg_get_expr(functions.proargdefaults, 0)
        from functions
        union all
        -- A value of a domain is checked wherever one is made, also where no plan says so.
        select format('the domain %s', pg_constraint.contypid::regtype), 'select', null, pg_get_constraintdef(pg_constraint.oid)
        from pg_catalog.pg_constraint
        where pg_constraint.contypid >= 16384
      ) as asking (object, query, canary_query, said);

      for question in
        select * from jsonb_to_recordset(questions) as asking (object text, query text, canary_query text, said text)
      loop
        if question.query is null then
          findings := findings || format('%s: %s may run it, and no plan shows what it reads.', question.object, asked);
          continue;
        end if;

        is_shown := false;
        begin
          perform set_config('role', asked, true);
          execute format('explain (verbose, costs off, format json) %s', question.query) into plan;
          if question.canary_query is not null then
            execute question.canary_query into is_shown using canary;
          end if;
          perform set_config('role', keeper, true);
        exception
          when others then
            findings := findings || format('%s: as %s it cannot be asked: %s', question.object, asked, sqlerrm);
            continue;
        end;

        select coalesce(array_agg(distinct format(
          'it reads %I.%I%s', node ->> 'Schema', node ->> 'Relation Name',
          case when node ->> 'Schema' !~ '^suppressed' then ', which is no table of disclosed' end
        )), '{}')
        into found
        from jsonb_path_query(plan, 'strict $.** ? (exists (@."Relation Name"))') as node
        where node ->> 'Schema' !~ '^disclosed(_next|_previous)?$';

        select found || coalesce(array_agg(distinct case
          when pg_namespace.nspname = 'pg_catalog' then format('it calls %s(), which may do anything', pg_proc.proname)
          else format('it calls %s, and no plan shows what that reads', pg_proc.oid::regprocedure)
        end), '{}')
        into found
        from (
          select distinct
            coalesce(replace(trim(both '"' from call[1]), '""', '"'), 'pg_catalog')::name as schema_name,
            replace(trim(both '"' from call[2]), '""', '"')::name as function_name
          from jsonb_path_query(jsonb_build_array(plan, question.said), 'strict $.** ? (@.type() == "string")') as part
          cross join lateral regexp_matches(
            part #>> '{}', '(?:([[:alpha:]_][\w$]*|"(?:[^"]|"")+")\.)?([[:alpha:]_][\w$]*|"(?:[^"]|"")+")\(', 'g'
          ) as call
          where part #>> '{}' like '%(%'
        ) as called
        join pg_catalog.pg_proc on pg_proc.proname = called.function_name
        join pg_catalog.pg_namespace on pg_namespace.oid = pg_proc.pronamespace
          and pg_namespace.nspname = called.schema_name
        where case
          -- table_to_xml() and the like run a query of their own, as who they are by then.
          when pg_namespace.nspname = 'pg_catalog' then pg_proc.provolatile = 'v' or pg_proc.proname ~ '_to_xml'
          -- What may not be run fails.
          else pg_proc.oid <> all (believed) and has_function_privilege(asked, pg_proc.oid, 'execute')
        end;

        if is_shown then found := found || 'it shows a suppressed submission'::text; end if;
        if found <> '{}' then
          findings := findings || format('%s: as %s %s.', question.object, asked, array_to_string(found, ', '));
        end if;
      end loop;
    end loop;
    raise sqlstate 'ASKED';
  exception
    when sqlstate 'ASKED' then null;
  end;

  if findings <> '{}' then
    raise sqlstate 'LEAKS' using
      message = 'Suppressed submissions would be shown.',
      detail = array_to_string(findings, E'\n');
  end if;
end
$leak_gate$;
