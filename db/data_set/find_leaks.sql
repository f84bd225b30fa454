-- Finds leaks: suppressed data that a key without Tribal access would see, or that the report service would hand out, and data
-- that is no longer live. Returns one sentence per leak. Every transaction of a deployment, a publication or a rollback ends
-- with this check.
--
-- publication.find_leaks() calls the other functions of this file, each of which asks one kind of question. They ask what
-- each role can read now, in every schema. Tables, policies and rows are checked in one generation of the data set: '_next',
-- or '' for the live one. Of other generations, the check only asks that nobody can read them, so that a refresh can replace
-- a live data set that fails this check.
--
-- Only publication.find_leaks() pins the search_path, so that PostgreSQL can inline the others. Most are PL/pgSQL, which keeps
-- their plans, because requests wait for the last check of a publication.
--
-- Deployments install these functions before they call them, so they never run an outdated version. All names begin with
-- find_, because a rollback keeps every such function of this schema (scripts/deploy/refuse-leaks.ts).

-- The roles through which requests and downloads run, and what each may read of a data set: "data" is the live data set through
-- the API, "views" are the views of dissemination and the API.
create or replace function publication.find_api_roles()
returns table (name name, reads text)
language sql stable security invoker
as $$
  select pg_roles.rolname, case
    when pg_roles.rolname in ('gateway', 'authenticator', 'report_service') then 'nothing'
    when pg_roles.rolname = 'api_owner' then 'views'
    else 'data'
  end
  from pg_catalog.pg_roles
  where pg_roles.rolname in (
    'api_public', 'api_tribal', 'api_owner', 'gateway', 'authenticator', 'report_service'
  )
  or pg_roles.rolname in (select tiers.database_role from access.tiers)
$$;

-- The functions that a parsed expression or query calls, some of them through operators.
create or replace function publication.find_calls(tree text)
returns setof oid
language sql stable security invoker
as $$
  with found as (
    select distinct matched[1] as field, id::oid as id
    from regexp_matches(
      tree, ':(funcid|opfuncid|aggfnoid|winfnoid|tsmhandler|opno|eqop|sortop|opnos \(o) ([1-9][\d ]*)', 'g'
    ) as matched
    cross join lateral string_to_table(trim(matched[2]), ' ') as id
  )
  select coalesce(pg_operator.oprcode::oid, found.id)
  from found
  left join pg_catalog.pg_operator on found.field ~ 'op(no|nos \(o)?$' and pg_operator.oid = found.id
$$;

-- Whether a function takes the ID or the name of an object, or a cursor, and so could read what the call does not show. A
-- text search configuration is harmless. Arguments of type text may be names, too, which no type shows.
create or replace function publication.find_object_arguments(function oid)
returns boolean
language sql stable security invoker
as $$
  select exists (
    select
    from pg_catalog.pg_proc
    cross join lateral unnest(coalesce(pg_proc.proallargtypes, pg_proc.proargtypes::oid[])) as argument (type)
    join pg_catalog.pg_type on pg_type.oid = argument.type
    left join pg_catalog.pg_type as element on element.oid = pg_type.typelem and pg_type.typcategory = 'A'
    where pg_proc.oid = function
      and coalesce(element.typname, pg_type.typname) ~ '^(oid|reg.*|name|refcursor|internal|cstring|aclitem)$'
      and coalesce(element.typname, pg_type.typname) <> 'regconfig'
  )
$$;

-- request.pre_config() runs with this function's rights. The exception rolls back the settings that it makes.
create or replace function publication.find_serving_leaks()
returns setof text
language plpgsql volatile security invoker
as $$
declare
  served text[] := '{}';
begin
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
end
$$;

create or replace function publication.find_role_leaks()
returns setof text
language plpgsql stable security invoker
as $$
begin
  return query
    select format('The tier %s uses the role api_tribal, which only the tier tribal may use.', tiers.name)
    from access.tiers
    where tiers.database_role = 'api_tribal' and tiers.name <> 'tribal'
    union all
    select format('%s is a superuser or has bypassrls, so row-level security does not apply to it.', pg_roles.rolname)
    from pg_catalog.pg_roles
    join publication.find_api_roles() as api_roles on api_roles.name = pg_roles.rolname
    where pg_roles.rolsuper or pg_roles.rolbypassrls
    union all
    select format('%1$s has the attribute replication, so it can copy every table. Run: alter role %1$I noreplication', pg_roles.rolname)
    from pg_catalog.pg_roles
    join publication.find_api_roles() as api_roles on api_roles.name = pg_roles.rolname
    where pg_roles.rolreplication
    union all
    select format('%s must not be a member of %s.', member.rolname, granted.rolname)
    from pg_catalog.pg_auth_members
    join pg_catalog.pg_roles as member on member.oid = pg_auth_members.member
    join pg_catalog.pg_roles as granted on granted.oid = pg_auth_members.roleid
    join publication.find_api_roles() as api_roles on api_roles.name = member.rolname
    where member.rolname <> 'authenticator'
      or granted.rolname <> 'gateway' and not exists (
        select from publication.find_api_roles() as reader where reader.name = granted.rolname and reader.reads = 'data'
      );
end
$$;

-- An owner can read a table without a grant, and without row-level security.
create or replace function publication.find_owner_leaks()
returns setof text
language plpgsql stable security invoker
as $$
begin
  return query
    with owned as (
      select
        pg_get_userbyid(pg_shdepend.refobjid) as owner,
        pg_describe_object(pg_shdepend.classid, pg_shdepend.objid, 0) as object,
        coalesce(identified.schema, case identified.type when 'schema' then identified.name end, '') as schema_name
      from pg_catalog.pg_shdepend
      cross join lateral pg_identify_object(pg_shdepend.classid, pg_shdepend.objid, 0) as identified
      where pg_shdepend.deptype = 'o' and pg_shdepend.refclassid = 'pg_authid'::regclass
        and pg_shdepend.classid <> 'pg_default_acl'::regclass
        and pg_shdepend.dbid in (
          0, (select pg_database.oid from pg_catalog.pg_database where pg_database.datname = current_database())
        )
    ), published as (
      select pg_namespace.oid, pg_namespace.nspname, pg_namespace.nspowner
      from pg_catalog.pg_namespace
      where pg_namespace.nspname ~ '^((disclosed|suppressed)(_next|_previous|_dropped)?|dissemination(_replaced)?|staging)$'
    )
    select format('%s must not own %s.', owned.owner, owned.object)
    from owned
    where owned.owner in (select api_roles.name from publication.find_api_roles() as api_roles where api_roles.reads <> 'views')
    union all
    select format('api_owner must not own %s, because it may own only the API schemas and what is in them.', owned.object)
    from owned
    where owned.owner = 'api_owner' and owned.schema_name not in (select served_schemas.name from publication.served_schemas)
    union all
    select format('publisher must not own %s, because it may own only the data set. Give the object to another role.', owned.object)
    from owned
    where owned.owner = 'publisher' and owned.schema_name !~ '^pg_temp'
      and owned.schema_name not in (select published.nspname from published)
    union all
    select format('The schema %1$I belongs to %2$s. Run: alter schema %1$I owner to publisher', published.nspname, pg_get_userbyid(published.nspowner))
    from published
    where pg_get_userbyid(published.nspowner) <> 'publisher'
    union all
    select format('%s belongs to %s. Only api_owner may own what the API serves. Drop it, then run npm run db:deploy.', found.object, pg_get_userbyid(found.owner))
  from (
    select pg_proc.oid::regprocedure::text, pg_proc.pronamespace, pg_proc.proowner from pg_catalog.pg_proc
    union all
    select pg_class.oid::regclass::text, pg_class.relnamespace, pg_class.relowner from pg_catalog.pg_class where pg_class.relkind in ('r', 'p', 'v', 'm', 'f')
  ) as found (object, schema_id, owner)
  join publication.served_schemas on served_schemas.oid = found.schema_id
  where pg_get_userbyid(found.owner) <> 'api_owner'
  union all
  select format('%s belongs to %s. Only publisher may own the data set.', pg_class.oid::regclass, pg_get_userbyid(pg_class.relowner))
    from published
    join pg_catalog.pg_class on pg_class.relnamespace = published.oid
    where pg_class.relkind in ('r', 'p', 'v', 'm', 'f', 'S') and pg_get_userbyid(pg_class.relowner) <> 'publisher';
end
$$;

-- The API's roles may read only tables of the live data set, views of dissemination that read them with the caller's rights,
-- and the API's own views. Objects with a lower OID are PostgreSQL's own.
create or replace function publication.find_read_leaks(generation text)
returns setof text
language plpgsql stable security invoker
as $$
begin
  return query
    with relations as materialized (
      select
        pg_class.oid, pg_class.relkind, pg_class.relowner, pg_namespace.nspname,
        pg_namespace.nspname in ('disclosed', 'suppressed') as is_live,
        pg_namespace.nspname ~ '^(disclosed|suppressed)_(next|previous|dropped)$' as is_retired,
        coalesce(pg_class.reloptions && array['security_invoker=true', 'security_invoker=on'], false) as is_invoker,
        exists (select from publication.served_schemas where served_schemas.oid = pg_class.relnamespace) as is_served
      from pg_catalog.pg_class
      join pg_catalog.pg_namespace on pg_namespace.oid = pg_class.relnamespace
      where pg_class.relkind in ('r', 'p', 'v', 'm', 'f', 'S') and pg_class.oid >= 16384
        and pg_namespace.nspname !~ '^pg_(toast|temp)'
        -- A refresh replaces the live data set, and revokes what was granted on it.
        and not (generation = '_next' and pg_namespace.nspname in ('disclosed', 'suppressed'))
    )
    select format(
      '%s can read %s, which %s.', string_agg(api_roles.name, ' and ' order by api_roles.name desc), relations.oid::regclass, case
        when relations.is_retired then 'is not live'
        when relations.nspname = 'dissemination' then 'does not run with its caller''s rights (security_invoker)'
        else 'is not part of the data set or the API'
      end
    )
    from relations
    join publication.find_api_roles() as api_roles
      on has_any_column_privilege(api_roles.name, relations.oid, 'select')
    where case
      when relations.is_live then api_roles.reads <> 'data' or relations.relkind not in ('r', 'p', 'm')
      when api_roles.reads = 'nothing' then relations.is_retired or pg_get_userbyid(relations.relowner) = 'publisher'
      when relations.relkind <> 'v' then true
      when relations.nspname = 'dissemination' then not relations.is_invoker
      -- A view reads with its owner's rights, and api_owner has none on suppressed.
      else not (relations.is_served and pg_get_userbyid(relations.relowner) = 'api_owner')
    end
    group by relations.oid, relations.nspname, relations.is_retired
    union all
    select format('%s can change %s. Revoke everything except select.', string_agg(api_roles.name, ' and ' order by api_roles.name desc), relations.oid::regclass)
    from relations
    join publication.find_api_roles() as api_roles
      on api_roles.reads <> 'nothing' and pg_get_userbyid(relations.relowner) <> api_roles.name and (
        has_any_column_privilege(api_roles.name, relations.oid, 'insert, update, references')
        or has_table_privilege(api_roles.name, relations.oid, 'delete, truncate, trigger, maintain')
      )
    group by relations.oid
    union all
    select format('%1$s is granted to %2$s, but is not live. Run: revoke all on %1$s from %2$s cascade', granted.relation, granted.grantee)
    from (
      select relations.oid::regclass as relation, case acl.grantee when 0 then 'public' else acl.grantee::regrole::text end as grantee
      from relations
      join pg_catalog.pg_class on pg_class.oid = relations.oid
      cross join lateral aclexplode(pg_class.relacl) as acl
      where relations.is_retired and acl.grantee <> relations.relowner
      union
      select relations.oid::regclass, case acl.grantee when 0 then 'public' else acl.grantee::regrole::text end
      from relations
      join pg_catalog.pg_attribute on pg_attribute.attrelid = relations.oid
      cross join lateral aclexplode(pg_attribute.attacl) as acl
      where relations.is_retired and acl.grantee <> relations.relowner
    ) as granted;
end
$$;

-- What PostgreSQL keeps to itself: statistics with values of rows, passwords, functions that read files. initdb and
-- extensions record the privileges that they grant, so any others were granted by hand.
create or replace function publication.find_system_leaks()
returns setof text
language plpgsql stable security invoker
as $$
begin
  return query
    with objects as (
      select 'pg_class'::regclass as classid, pg_class.oid, 0 as objsubid, pg_class.relacl as acl
      from pg_catalog.pg_class
      where pg_class.relnamespace = 'pg_catalog'::regnamespace and pg_class.relacl is not null
      union all
      select 'pg_class'::regclass, pg_class.oid, pg_attribute.attnum, pg_attribute.attacl
      from pg_catalog.pg_class
      join pg_catalog.pg_attribute on pg_attribute.attrelid = pg_class.oid
      where pg_class.relnamespace = 'pg_catalog'::regnamespace and pg_attribute.attacl is not null
      union all
      select 'pg_proc'::regclass, pg_proc.oid, 0, pg_proc.proacl
      from pg_catalog.pg_proc
      where pg_proc.pronamespace = 'pg_catalog'::regnamespace and pg_proc.proacl is not null
    ), grantees as (
      select 0::oid as oid, 'PUBLIC' as name
      union all
      select api_roles.name::regrole::oid, api_roles.name from publication.find_api_roles() as api_roles
    )
    select distinct format('%s may use %s, which PostgreSQL does not grant to it. Revoke the privilege.', grantees.name, pg_describe_object(objects.classid, objects.oid, objects.objsubid))
    from objects
    cross join lateral aclexplode(objects.acl) as granted
    join grantees on grantees.oid = granted.grantee
    where not exists (
      select
      from pg_catalog.pg_init_privs
      cross join lateral aclexplode(pg_init_privs.initprivs) as initial
      where (pg_init_privs.classoid, pg_init_privs.objoid, pg_init_privs.objsubid) = (objects.classid, objects.oid, objects.objsubid)
        and (initial.grantee, initial.privilege_type) = (granted.grantee, granted.privilege_type)
    )
    -- PUBLIC may run most functions, which is recorded only if something else is, too.
    and not (objects.classid = 'pg_proc'::regclass and granted.grantee = 0 and not exists (
      select from pg_catalog.pg_init_privs
      where pg_init_privs.classoid = objects.classid and pg_init_privs.objoid = objects.oid
    ))
    union all
    select format('Default privileges of %s grant %s on future objects to %s. Remove them (alter default privileges … revoke …).', pg_get_userbyid(pg_default_acl.defaclrole), granted.privilege_type, grantees.name)
    from pg_catalog.pg_default_acl
    cross join lateral aclexplode(pg_default_acl.defaclacl) as granted
    join grantees on grantees.oid = granted.grantee
    where granted.grantee <> pg_default_acl.defaclrole
      and pg_default_acl.defaclobjtype in ('r', 'n', 'L')
    union all
    select format('%s can read the large object %s. Revoke the privilege.', grantees.name, pg_largeobject_metadata.oid)
    from pg_catalog.pg_largeobject_metadata
    cross join lateral aclexplode(pg_largeobject_metadata.lomacl) as granted
    join grantees on grantees.oid = granted.grantee;
end
$$;

create or replace function publication.find_function_leaks()
returns setof text
language plpgsql stable security invoker
as $$
begin
  return query
    select format('%s can run %s, which runs with the rights of %s.', string_agg(api_roles.name, ' and ' order by api_roles.name desc), pg_proc.oid::regprocedure, pg_get_userbyid(pg_proc.proowner))
    from publication.find_api_roles() as api_roles
    join pg_catalog.pg_proc on has_function_privilege(api_roles.name, pg_proc.oid, 'execute')
    where api_roles.reads <> 'nothing' and pg_proc.prosecdef and pg_proc.oid >= 16384
      and pg_get_userbyid(pg_proc.proowner) <> 'api_owner'
      and pg_proc.prorettype <> all (array['trigger'::regtype, 'event_trigger'::regtype])
      and not (
        api_roles.name = 'api_tribal'
        and pg_proc.oid is not distinct from to_regprocedure('access.issue_access_token(text)')
      )
    group by pg_proc.oid, pg_proc.proowner;
end
$$;

-- Row-level security, policies and whatever else runs when a role reads the data set: as db/data_set builds them.
create or replace function publication.find_table_leaks(generation text)
returns setof text
language plpgsql stable security invoker
as $$
begin
  return query
    with relations as (
      select pg_class.*, pg_class.oid::regclass as name, pg_namespace.nspname
      from pg_catalog.pg_class
      join pg_catalog.pg_namespace on pg_namespace.oid = pg_class.relnamespace
      where pg_namespace.nspname in ('disclosed' || generation, 'suppressed' || generation, 'dissemination')
    ), rules as materialized (
      select
        relations.name, relations.relkind, relations.relnamespace, relations.nspname,
        pg_rewrite.ev_class, pg_rewrite.rulename, pg_rewrite.ev_action::text as tree
      from relations
      join pg_catalog.pg_rewrite on pg_rewrite.ev_class = relations.oid
    ), calls as (
      select rules.name, rules.relkind, pg_proc.*
      from rules
      cross join lateral publication.find_calls(rules.tree) as called
      join pg_catalog.pg_proc on pg_proc.oid = called
      -- Most views call nothing, and a regular expression is slow in a large tree.
      where strpos(rules.tree, 'funcid ') + strpos(rules.tree, 'fnoid ') + strpos(rules.tree, ':opno') + strpos(rules.tree, ':eqop ')
        + strpos(rules.tree, ':tsmhandler ') > 0
    )
    select case
      when relations.relkind not in ('r', 'p') then format('%s is not a table, so row-level security does not apply to it.', relations.name)
      else format('%s has no row-level security.', relations.name)
    end
    from relations
    where relations.nspname = 'suppressed' || generation
      and (relations.relkind in ('v', 'm', 'f') or relations.relkind in ('r', 'p') and not relations.relrowsecurity)
    union all
    select format('The policy %s shows rows of %s to roles other than api_tribal.', pg_policy.polname, relations.name)
    from relations
    join pg_catalog.pg_policy on pg_policy.polrelid = relations.oid
    where relations.nspname = 'suppressed' || generation and pg_policy.polroles <> array['api_tribal'::regrole::oid]
    union all
    select format('The policy %s on %s has a condition, which would run with its caller''s rights. The data set has only policies "for select … using (true)".', pg_policy.polname, relations.name)
    from relations
    join pg_catalog.pg_policy on pg_policy.polrelid = relations.oid
    where pg_policy.polcmd <> 'r' or pg_get_expr(pg_policy.polqual, pg_policy.polrelid) is distinct from 'true'
    union all
    select format('%s inherits from %s, so a query on the parent also returns the child''s rows.', child.oid::regclass, parent.oid::regclass)
    from pg_catalog.pg_inherits
    join pg_catalog.pg_class as child on child.oid = pg_inherits.inhrelid
    join pg_catalog.pg_class as parent on parent.oid = pg_inherits.inhparent
    where child.relkind in ('r', 'p', 'f')
      and (child.oid in (select relations.oid from relations) or parent.oid in (select relations.oid from relations))
    union all
    select format('%s has the trigger or rule %s, which no other check reads. Drop it.', relations.name, code.name)
    from relations
    join (
      select pg_trigger.tgrelid as relation, pg_trigger.tgname as name from pg_catalog.pg_trigger where not pg_trigger.tgisinternal
      union all
      select rules.ev_class, rules.rulename from rules where rules.rulename <> '_RETURN'
    ) as code on code.relation = relations.oid
    union all
    select format('%s.%I is a generated column, whose expression no other check reads. Drop it.', relations.name, pg_attribute.attname)
    from relations
    join pg_catalog.pg_attribute on pg_attribute.attrelid = relations.oid and pg_attribute.attgenerated <> ''
    union all
    -- A domain's check runs with its caller's rights, too.
    select format('%s.%I has the type %s. The data set may not have columns of a domain, whose check would run with its caller''s rights.', relations.name, pg_attribute.attname, pg_type.oid::regtype)
    from relations
    join pg_catalog.pg_attribute on pg_attribute.attrelid = relations.oid
    join pg_catalog.pg_type on pg_type.oid = pg_attribute.atttypid
    where pg_type.typtype = 'd' and pg_type.oid >= 16384
    union all
    select distinct format('The view %s calls %s. Views of dissemination may only combine tables.', calls.name, calls.oid::regprocedure)
    from calls
    where calls.relkind = 'v'
    union all
    -- Totals of the public rows are materialized views, so the catalog shows which functions they call.
    select distinct format('The materialized view %s calls %s, which could read other tables. It may only call immutable built-in functions that take no name or ID of an object.', calls.name, calls.oid::regprocedure)
    from calls
    where calls.relkind = 'm' and (
      calls.provolatile <> 'i' or calls.oid >= 16384 or publication.find_object_arguments(calls.oid)
    )
    union all
    -- Not pg_depend, which lacks PostgreSQL's own relations, such as the statistics of every table.
    select distinct case rules.relkind
      when 'm' then format('The materialized view %s must read only tables of its own schema, but reads %s.', rules.name, source.oid::regclass)
      else format('The view %s must read only tables of the live data set, but reads %s.', rules.name, source.oid::regclass)
    end
    from rules
    cross join lateral unnest((string_to_array(rules.tree, ':relid '))[2:]) as rest_of_tree
    join pg_catalog.pg_class as source
      on source.oid = substring(rest_of_tree from '^\d+')::oid and source.oid <> rules.ev_class
    where rules.rulename = '_RETURN' and case rules.relkind
      when 'm' then source.relkind <> 'r' or source.relnamespace <> rules.relnamespace
      else source.relkind not in ('r', 'm') or source.relnamespace not in (
        select pg_namespace.oid from pg_catalog.pg_namespace
        where pg_namespace.nspname in ('disclosed', 'suppressed')
          -- Until a publication ends, the views still read the data set that it replaces.
          or pg_namespace.nspname in ('disclosed_previous', 'suppressed_previous') and age(pg_namespace.xmin) <= 0
      )
    end;
end
$$;

-- Code that reading a table would run with this check's rights. If there is any, rows are not read.
create or replace function publication.find_code_in_data_set(generation text)
returns setof text
language plpgsql stable security invoker
as $$
begin
  return query
    select format('The role publisher owns the function %s, which could run with this check''s privileges. Drop the function.', pg_proc.oid::regprocedure)
    from pg_catalog.pg_proc
    where pg_get_userbyid(pg_proc.proowner) = 'publisher'
    union all
    select format('%1$s forces row-level security, so its policies could run with this check''s privileges. Run: alter table %1$s no force row level security', pg_class.oid::regclass)
    from pg_catalog.pg_class
    where pg_class.relnamespace in (to_regnamespace('disclosed' || generation), to_regnamespace('suppressed' || generation))
      and pg_class.relforcerowsecurity;
end
$$;

-- Reports that were ever suppressed count as suppressed until they are released.
create or replace function publication.find_hidden_reports(generation text)
returns text[]
language plpgsql stable security invoker
as $$
declare
  hidden text[];
begin
  execute format(
    'select array(select report_id from %1$I.general union select report_id from %1$I.resubmission%2$s)', 'suppressed' || generation,
    case when to_regclass('publication.suppressed_reports') is not null then
      ' union select report_id from publication.suppressed_reports'
    end
  ) into hidden;
  return hidden;
end
$$;

create or replace function publication.find_row_leaks(generation text, hidden text[])
returns setof text
language plpgsql stable security invoker
as $$
declare
  relation record;
  found_one boolean;
begin
  for relation in
    select
      format('%I.%I', pg_namespace.nspname, pg_class.relname) as name,
      pg_class.relname,
      bool_or(pg_attribute.attname = 'report_id') as has_report_id,
      string_agg(format('%I = any ($1)', pg_attribute.attname), ' or ') filter (where pg_attribute.attname ~ '(^|_)report_id$')
        as is_hidden,
      string_agg(quote_ident(pg_attribute.attname), ', ' order by pg_attribute.attnum) as columns
    from pg_catalog.pg_class
    join pg_catalog.pg_namespace on pg_namespace.oid = pg_class.relnamespace
    join pg_catalog.pg_attribute
      on pg_attribute.attrelid = pg_class.oid and pg_attribute.attnum > 0 and not pg_attribute.attisdropped
    where pg_namespace.nspname = 'disclosed' || generation and pg_class.relkind in ('r', 'p')
    group by pg_namespace.nspname, pg_class.relname
  loop
    -- The table that identifies the data set has one row of three values.
    if relation.relname = 'data_set' and relation.columns = 'id, built_at, published_at' then
      execute format('select count(*) <> 1 from %s', relation.name) into found_one;
      if found_one then
        return next format('%s should have exactly one row.', relation.name);
      end if;
    elsif not relation.has_report_id then
      return next format('%s has no report_id, so its rows cannot be matched to submissions.', relation.name);
    else
      if relation.relname = 'general_stubs' then
        execute format(
          'select exists (select from %s where is_public is distinct from false or num_nonnulls(%s) <> 2)', relation.name, relation.columns
        ) into found_one;
      else
        execute format(
          'select exists (select from %1$s where report_id is null) or exists (select from %1$s where %2$s)', relation.name, relation.is_hidden
        ) into found_one using hidden;
      end if;
      if found_one then
        return next format('%s reveals data of suppressed submissions, or has rows without a report_id.', relation.name);
      end if;
    end if;
  end loop;
end
$$;

-- Public rows in a chain of resubmissions must not reveal its suppressed reports.
create or replace function publication.find_chain_leaks(generation text)
returns setof text
language plpgsql stable security invoker
as $$
declare
  disclosed constant text := 'disclosed' || generation;
  suppressed constant text := 'suppressed' || generation;
  found_one boolean;
begin
  execute format(
    $query$
      select exists (
        select from %2$I.resubmission as hidden
        join %1$I.resubmission as shown on shown.report_id = hidden.previous_report_id
        where shown.status = 'deprecated_via_resubmission'
          and not exists (select from %1$I.resubmission as later where later.report_id = shown.next_report_id)
      )
    $query$, disclosed, suppressed
  ) into found_one;
  if found_one then
    return next format('%s.resubmission has a status that reveals a later suppressed submission.', disclosed);
  end if;
  execute format(
    $query$
      select exists (
        select from %2$I.resubmission as hidden
        join %1$I.general as shown on shown.report_id = hidden.next_report_id
        left join %1$I.resubmission as place on place.report_id = shown.report_id
        where greatest(shown.resubmission_version, place.version) > 1
          and not exists (select from %1$I.resubmission as earlier where earlier.report_id = place.previous_report_id)
      )
    $query$, disclosed, suppressed
  ) into found_one;
  if found_one then
    return next format('%s.general has a resubmission_version that reveals an earlier suppressed submission.', disclosed);
  end if;
end
$$;

-- What the report service hands out from the live data set.
create or replace function publication.find_report_service_leaks(hidden text[])
returns setof text
language plpgsql stable security invoker
as $$
begin
  if exists (select from unnest(hidden) as report_id where publication.is_public_report(report_id)) then
    return next 'publication.is_public_report() returns true for suppressed reports, so anyone could download their PDFs.';
  end if;
  if (
    select sum((counted ->> 'submissions')::bigint)
    from jsonb_array_elements(publication.describe_totals() -> 'totals_by_state') as counted
  ) <> (select count(*) from disclosed.general) then
    return next 'publication.describe_totals() should count all public submissions and no others, but it does not.';
  end if;
end
$$;

create or replace function publication.find_leaks(check_rows boolean, generation text default '')
returns setof text
language plpgsql volatile security definer
set search_path = '' set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  leak text;
  hidden text[];
begin
  -- Programs older than publication.set_data_set_rights() build and swap generations without it.
  if to_regprocedure('publication.set_data_set_rights()') is not null and exists (
    select from pg_catalog.pg_namespace
    -- A row that this transaction wrote has an age of zero.
    where pg_namespace.nspname ~ '^disclosed(_next|_previous)?$' and age(pg_namespace.xmin) <= 0
  ) then
    perform publication.set_data_set_rights();
  end if;

  return query select publication.find_serving_leaks();
  return query select publication.find_role_leaks();
  return query select publication.find_owner_leaks();
  return query select publication.find_read_leaks(generation);
  return query select publication.find_system_leaks();
  return query select publication.find_function_leaks();
  return query select publication.find_table_leaks(generation);

  if not check_rows or to_regclass(format('%I.general', 'suppressed' || generation)) is null then
    return;
  end if;
  for leak in select publication.find_code_in_data_set(generation) loop
    return next leak;
    return;
  end loop;
  hidden := publication.find_hidden_reports(generation);
  return query select publication.find_row_leaks(generation, hidden);
  return query select publication.find_chain_leaks(generation);
  if generation = '' then
    return query select publication.find_report_service_leaks(hidden);
  end if;
end
$$;
comment on function publication.find_leaks is
  'Returns one sentence per leak: each way in which the report service, or the API without Tribal access, would show suppressed data, or in which any role but publisher could read a data set that is not live.';
revoke execute on function publication.find_leaks from public;
do $$
declare
  part record;
begin
  -- publication.find_leaks() keeps its owner when it is replaced, so its parts get the same owner.
  for part in
    select pg_proc.oid::regprocedure as signature, pg_proc.proowner <> whole.proowner as is_of_other, whole.proowner
    from pg_catalog.pg_proc
    join pg_catalog.pg_proc as whole on whole.oid = 'publication.find_leaks(boolean, text)'::regprocedure
    where pg_proc.pronamespace = 'publication'::regnamespace and pg_proc.proname ~ '^find_' and pg_proc.oid <> whole.oid
  loop
    execute format('revoke execute on function %s from public', part.signature);
    execute format('comment on function %s is %L', part.signature, 'A part of publication.find_leaks().');
    if part.is_of_other then
      execute format('alter function %s owner to %s', part.signature, part.proowner::regrole);
    end if;
  end loop;
end
$$;
grant execute on function publication.find_leaks to publisher;
