-- Finds leaks: suppressed data that a key without Tribal access would see, or that the report service would hand out. Returns
-- one sentence per leak. Every transaction of a deployment, a publication or a rollback ends with this check.
--
-- Rights are checked in the catalog. Rows are checked in one generation of the data set: '_next', or '' for the live one.
-- Deployments install this function before they call it, so they never run an outdated version.
create or replace function publication.find_leaks(check_rows boolean, generation text default '')
returns setof text
language plpgsql volatile security definer
set search_path = '' set jit = off
as $$
declare
  -- The roles that keys without Tribal access switch to, and api_owner, because API functions may run with its rights.
  readers constant name[] := array(
    select tiers.database_role::name from access.tiers where tiers.database_role <> 'api_tribal'
    union select 'api_public' union select 'api_owner'
  );
  disclosed constant text := 'disclosed' || generation;
  suppressed constant text := 'suppressed' || generation;
  served text[] := '{}';
  hidden text[];
  question record;
  found_one boolean;
  row_count bigint;
begin
  -- The schemas that PostgREST would serve. The exception rolls back the settings.
  begin
    perform request.pre_config();
    served := string_to_array(current_setting('pgrst.db_schemas'), ',');
    raise sqlstate 'ASKED';
  exception
    -- Before the first deployment nothing is served.
    when sqlstate 'ASKED' or invalid_schema_name or undefined_function then null;
  end;
  return query
    select format('request.pre_config() serves the schema %s, which does not belong to api_owner.', name)
    from unnest(served) as name
    where name not in (select served_schemas.name from publication.served_schemas);

  -- Roles.
  return query
    select format('The tier %s uses the role api_tribal, which only the tier tribal may use.', tiers.name)
    from access.tiers
    where tiers.database_role = 'api_tribal' and tiers.name <> 'tribal';
  return query
    select format('%s is a superuser or has bypassrls, so row-level security does not apply to it.', rolname)
    from pg_catalog.pg_roles
    where (rolsuper or rolbypassrls)
      and (rolname = any (readers) or rolname in ('authenticator', 'gateway', 'report_service'));
  return query
    select format('%s must not be a member of %s.', member.rolname, granted.rolname)
    from pg_catalog.pg_auth_members
    join pg_catalog.pg_roles as member on member.oid = pg_auth_members.member
    join pg_catalog.pg_roles as granted on granted.oid = pg_auth_members.roleid
    where member.rolname = any (readers) or member.rolname in ('gateway', 'report_service')
      or (member.rolname = 'authenticator' and granted.rolname not in ('gateway', 'api_tribal')
        and granted.rolname <> all (array_remove(readers, 'api_owner')));
  return query
    select format('%s must not own %s.', pg_get_userbyid(refobjid), pg_describe_object(classid, objid, 0))
    from pg_catalog.pg_shdepend
    where deptype = 'o' and dbid = (select oid from pg_catalog.pg_database where datname = current_database())
      and (pg_get_userbyid(refobjid) = any (array_remove(readers, 'api_owner'))
        or pg_get_userbyid(refobjid) in ('authenticator', 'gateway', 'report_service'));

  -- Suppressed rows must be in tables with row-level security and one policy, for api_tribal. Only this generation is
  -- checked, so that a refresh can replace a live data set that fails this check.
  return query
    select case
        when relkind not in ('r', 'p') then format('%s is not a table, so row-level security does not apply to it.', pg_class.oid::regclass)
        else format('%s has no row-level security.', pg_class.oid::regclass)
      end
    from pg_catalog.pg_class
    where relnamespace = to_regnamespace(suppressed)
      and (relkind in ('v', 'm', 'f') or (relkind in ('r', 'p') and not relrowsecurity));
  return query
    select format('The policy %s shows rows of %s to roles other than api_tribal.', polname, polrelid::regclass)
    from pg_catalog.pg_policy
    join pg_catalog.pg_class on pg_class.oid = polrelid
    where relnamespace = to_regnamespace(suppressed)
      and polroles <> array[(select oid from pg_catalog.pg_roles where rolname = 'api_tribal')];
  return query
    select format('%s inherits from %s, so a query on the parent also returns the child''s rows.', inhrelid::regclass, inhparent::regclass)
    from pg_catalog.pg_inherits
    join pg_catalog.pg_class on pg_class.oid = inhrelid
    where relnamespace::regnamespace::text ~ '^(disclosed|suppressed)(_next|_previous|_dropped)?$' and relkind in ('r', 'p', 'f');

  -- These roles may read only tables of the data set, views of dissemination that read them with the caller's rights, and the
  -- API's own views.
  return query
    select format('%s can read %s, which %s.', string_agg(reader, ' and ' order by reader desc), pg_class.oid::regclass, case
        when nspname = 'dissemination' then 'does not run with its caller''s rights (security_invoker)'
        else 'is not part of the data set or the API'
      end)
    from unnest(readers) as reader
    cross join pg_catalog.pg_class
    join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
    where relkind in ('r', 'p', 'v', 'm', 'f') and nspname !~ '^(pg_|information_schema$)'
      and has_any_column_privilege(reader, pg_class.oid, 'select')
      and not (relkind in ('r', 'p') and nspname ~ '^(disclosed|suppressed)(_next|_previous|_dropped)?$')
      and not (relkind = 'm' and nspname ~ '^disclosed(_next|_previous|_dropped)?$')
      and not (relkind = 'v' and nspname = 'dissemination'
        and coalesce(reloptions && array['security_invoker=true', 'security_invoker=on'], false))
      -- A view reads with its owner's rights, and api_owner has none on suppressed.
      and not (relkind = 'v' and pg_get_userbyid(relowner) = 'api_owner'
        and nspname in (select served_schemas.name from publication.served_schemas))
    group by pg_class.oid, nspname;
  return query
    select format('%s can run %s, which runs with the rights of %s.', string_agg(reader, ' and ' order by reader desc), pg_proc.oid::regprocedure, pg_get_userbyid(proowner))
    from unnest(readers) as reader
    cross join pg_catalog.pg_proc
    where prosecdef and pg_proc.oid >= 16384 and pg_get_userbyid(proowner) <> 'api_owner'
      and prorettype <> all (array['trigger'::regtype, 'event_trigger'::regtype])
      and has_function_privilege(reader, pg_proc.oid, 'execute')
    group by pg_proc.oid, proowner;

  -- Totals of the public rows are materialized views, so the catalog shows which tables they read.
  return query
    select distinct format('The materialized view %s must read only tables of its own schema.', pg_class.oid::regclass)
    from pg_catalog.pg_class
    join pg_catalog.pg_rewrite on ev_class = pg_class.oid
    join pg_catalog.pg_depend on classid = 'pg_rewrite'::regclass and objid = pg_rewrite.oid
    where relkind = 'm' and relnamespace::regnamespace::text ~ '^disclosed(_next|_previous|_dropped)?$'
      and refobjid <> pg_class.oid and refclassid <> 'pg_namespace'::regclass
      and not exists (
        select from pg_catalog.pg_class as source
        where refclassid = 'pg_class'::regclass and source.oid = refobjid and source.relkind = 'r'
          and source.relnamespace = pg_class.relnamespace
      );

  if not check_rows or to_regclass(format('%I.general', suppressed)) is null then
    return;
  end if;

  -- This function reads tables that publisher owns, so it would run functions that their indexes and policies call.
  for question in
    select format('The role publisher owns the function %s, which could run with this check''s privileges. Drop the function.', pg_proc.oid::regprocedure) as leak
    from pg_catalog.pg_proc where pg_get_userbyid(proowner) = 'publisher'
    union all
    select format('%1$s forces row-level security, so its policies could run with this check''s privileges. Run: alter table %1$s no force row level security', pg_class.oid::regclass)
    from pg_catalog.pg_class
    where relnamespace::regnamespace::text in (disclosed, suppressed) and relforcerowsecurity
  loop
    return next question.leak;
    return;
  end loop;

  -- Reports that were ever suppressed count as suppressed until they are released.
  execute format(
    'select array(select report_id from %1$I.general union select report_id from %1$I.resubmission%2$s)', suppressed,
    case when to_regclass('publication.suppressed_reports') is not null then
      ' union select report_id from publication.suppressed_reports'
    end
  ) into hidden;
  for question in
    select
      format('%I.%I', disclosed, relname) as relation,
      relname = 'general_stubs' as is_stubs,
      bool_or(attname = 'report_id') as has_report_id,
      array_agg(quote_ident(attname)) filter (where attname ~ '(^|_)report_id$') as links,
      string_agg(quote_ident(attname), ', ' order by attnum) as columns
    from pg_catalog.pg_class
    join pg_catalog.pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
    where relnamespace = to_regnamespace(disclosed) and relkind in ('r', 'p')
    group by relname
  loop
    -- The table that identifies the data set has one row of three values.
    if question.relation = format('%I.data_set', disclosed) and question.columns = 'id, built_at, published_at' then
      execute format('select count(*) from %s', question.relation) into row_count;
      if row_count <> 1 then
        return next format('%s should have one row, but has %s.', question.relation, row_count);
      end if;
      continue;
    end if;
    if not question.has_report_id then
      return next format('%s has no report_id, so its rows cannot be matched to submissions.', question.relation);
      continue;
    end if;
    execute format(
      case when question.is_stubs then 'select exists (select from %1$s where is_public is distinct from false or num_nonnulls(%3$s) <> 2)'
        else 'select exists (select from %1$s where report_id is null) or exists (select from %1$s where %2$s)'
      end,
      question.relation,
      (select string_agg(format('%s = any ($1)', link), ' or ') from unnest(question.links) as link), question.columns
    ) into found_one using hidden;
    if found_one then
      return next format('%s reveals data of suppressed submissions, or has rows without a report_id.', question.relation);
    end if;
  end loop;

  -- Public rows in a chain of resubmissions must not reveal its suppressed reports.
  execute format(
    'select exists ('
    '  select from %2$I.resubmission as hidden'
    '  join %1$I.resubmission as shown on shown.report_id = hidden.previous_report_id'
    '  where shown.status = ''deprecated_via_resubmission'''
    '    and not exists (select from %1$I.resubmission as later where later.report_id = shown.next_report_id)'
    ')', disclosed, suppressed
  ) into found_one;
  if found_one then
    return next format('%s.resubmission has a status that reveals a later suppressed submission.', disclosed);
  end if;
  execute format(
    'select exists ('
    '  select from %2$I.resubmission as hidden'
    '  join %1$I.general as shown on shown.report_id = hidden.next_report_id'
    '  left join %1$I.resubmission as place on place.report_id = shown.report_id'
    '  where greatest(shown.resubmission_version, place.version) > 1'
    '    and not exists (select from %1$I.resubmission as earlier where earlier.report_id = place.previous_report_id)'
    ')', disclosed, suppressed
  ) into found_one;
  if found_one then
    return next format('%s.general has a resubmission_version that reveals an earlier suppressed submission.', disclosed);
  end if;

  -- What the report service hands out.
  if generation = '' then
    if exists (select from unnest(hidden) as report_id where publication.is_public_report(report_id)) then
      return next 'publication.is_public_report() returns true for suppressed reports, so anyone could download their PDFs.';
    end if;
    if (
      select sum((counted ->> 'submissions')::bigint)
      from jsonb_array_elements(publication.describe_totals() -> 'totals_by_state') as counted
    ) <> (select count(*) from disclosed.general) then
      return next 'publication.describe_totals() should count all public submissions and no others, but it does not.';
    end if;
  end if;
end
$$;
comment on function publication.find_leaks is
  'Returns one sentence per leak: each way in which the report service, or the API without Tribal access, would show suppressed data.';
revoke execute on function publication.find_leaks from public;
grant execute on function publication.find_leaks to publisher;
