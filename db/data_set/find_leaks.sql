-- Finds leaks: suppressed data that a key without Tribal access would see, or that the app would hand out, and data
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
    when pg_roles.rolname in ('gateway', 'authenticator', 'report_service', 'site') then 'nothing'
    when pg_roles.rolname = 'api_owner' then 'views'
    else 'data'
  end
  from pg_catalog.pg_roles
  where pg_roles.rolname in (
    'api_public', 'api_tribal', 'api_owner', 'gateway', 'authenticator', 'report_service', 'site'
  )
  or pg_roles.rolname in (select tiers.database_role from access.tiers)
$$;

-- What else each role may read, and each function that it may run outside the API schemas. Anything else that is granted by
-- hand, even to PUBLIC, is a leak: a function runs with its owner's rights, or could switch to api_tribal, and PostgREST finds
-- functions of the schema "request" by the type of their argument. A rollback of a deployment keeps these lists, so keep a line
-- while a deployment with its object could be rolled back to.
-- "data" means each role that reads the data set through the API, and "pages" both roles that may serve the pages.
create or replace function publication.find_listed_relations()
returns table (role text, oid oid, reason text)
language sql stable security invoker
as $$
  select role, to_regclass(listed.relation)::oid, listed.reason
  from (
    values
      ('authenticator', 'publication.served_schemas', 'request.pre_config() tells PostgREST which schemas to serve.'),
      ('gateway', 'request.keys', 'request.decide() finds the key of a request.'),
      ('pages', 'publication.served_schemas', 'publication.describe_api() describes the served schemas.'),
      ('pages', 'publication.view_keys', 'publication.describe_api() names the keys of tables.')
  ) as listed (part, relation, reason)
  cross join lateral unnest(case listed.part when 'pages' then array['report_service', 'site'] else array[listed.part] end) as role
$$;

create or replace function publication.find_listed_functions()
returns table (role text, oid oid, reason text)
language sql stable security invoker
as $$
  select role, to_regprocedure(listed.signature)::oid, listed.reason
  from (
    values
      ('authenticator', 'request.pre_config()', 'PostgREST asks for its configuration.'),
      ('gateway', 'request.authorize()', 'PostgREST runs it before each request.'),
      ('gateway', 'request.decide()', 'request.authorize() calls it.'),
      ('gateway', 'request.find_retirement(text)', 'request.decide() asks whether a version is retired.'),
      ('gateway', 'request.matches_etag(text, text, boolean)', 'request.decide() compares ETags.'),
      ('gateway', 'request.may_call(name, text, text)', 'request.decide() asks who may call a function.'),
      ('gateway', 'request.refuse(integer, text, text, text, text, jsonb)', 'request.decide() refuses requests.'),
      ('gateway', 'request.refuse_for(text, text)', 'request.decide() refuses requests.'),
      ('data', 'request.limit_embedded_bytes(integer)', 'Relationships that return lists call it.'),
      ('data', 'request.find_pattern(tsquery, integer)', 'Full-text search.'),
      ('data', 'request.matches_text(text, tsquery)', 'Full-text search.'),
      ('data', 'request.to_tsvector(text)', 'Full-text search.'),
      ('data', 'request.to_tsvector(regconfig, text)', 'Full-text search.'),
      ('data', 'request.to_tsquery(text)', 'Full-text search.'),
      ('data', 'request.plainto_tsquery(text)', 'Full-text search.'),
      ('data', 'request.phraseto_tsquery(text)', 'Full-text search.'),
      ('data', 'request.websearch_to_tsquery(text)', 'Full-text search.'),
      ('data', 'request.name_words(text)', 'request.words() and request.auditor_words() call it.'),
      ('data', 'request.words(anyelement)', 'Searches for words of auditees'' names.'),
      ('data', 'request.auditor_words(anyelement)', 'Searches for words of auditors'' names.'),
      ('data', 'request.matches_etag(text, text, boolean)', 'request.decide() calls it after it has switched the role.'),
      ('data', 'request.refuse(integer, text, text, text, text, jsonb)', 'Functions that these roles run refuse requests.'),
      ('data', 'request.refuse_for(text, text)', 'request.decide() calls it after it has switched the role.'),
      ('api_tribal', 'request.issue_file_access(text)', 'request_file_access() calls it.'),
      ('api_tribal', 'request.issue_file_access(jsonb)', 'It refuses calls with other fields.'),
      ('api_tribal', 'access.issue_access_token(text)', 'request.issue_file_access() stores the hash of a token.'),
      ('report_service', 'access.find_report_of_token(uuid)', 'Finds the file of a token.'),
      ('report_service', 'access.find_request_of_token(uuid)', 'Finds the request that issued a token, for the log.'),
      ('report_service', 'access.record_key_use(bytea[])', 'Records when keys were used.'),
      ('report_service', 'access.redeem_access_token(uuid)', 'Redeems a token.'),
      ('pages', 'publication.describe_api()', 'The pages describe the API.'),
      ('pages', 'publication.describe_changes()', 'The pages list what each publication changed.'),
      (
        'pages', 'publication.describe_programs(text, text, integer, integer)',
        'The pages show totals of public rows. The text arguments are a year and a column of the result.'
      ),
      ('pages', 'publication.describe_report(text)', 'The page of a public report.'),
      ('pages', 'publication.describe_service()', 'The pages describe the live data set.'),
      ('pages', 'publication.describe_totals()', 'The pages show totals of public rows.'),
      ('report_service', 'publication.is_public_report(text)', 'PDFs of public reports need no token.'),
      ('pages', 'publication.is_switched_on()', 'Nothing is given out while the service is switched off.'),
      ('pages', 'publication.live_data_set()', 'Only bulk files of the live data set are given out.'),
      ('pages', 'publication.search_programs(text)', 'The search of the pages, for words.'),
      ('pages', 'publication.search_reports(jsonb, integer)', 'The search of the pages.'),
      ('pages', 'publication.suggest_names(text)', 'The search of the pages, if it finds nothing.')
  ) as listed (part, signature, reason)
  cross join lateral unnest(case listed.part when 'pages' then array['report_service', 'site'] else array[listed.part] end) as role
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
    select format('The tier %s uses the role api_tribal, which only the tier tribal may use. Run: update access.tiers set database_role = ''api_public'' where name = %1$L', tiers.name)
    from access.tiers
    where tiers.database_role = 'api_tribal' and tiers.name <> 'tribal'
    union all
    select format('%1$s %2$s. Run: alter role %1$I %3$s', pg_roles.rolname, attribute.means, attribute.undo)
    from pg_catalog.pg_roles
    join publication.find_api_roles() as api_roles on api_roles.name = pg_roles.rolname
    cross join lateral (
      values
        (pg_roles.rolsuper, 'is a superuser, so no privilege and no policy applies to it', 'nosuperuser'),
        (pg_roles.rolbypassrls, 'has bypassrls, so row-level security does not apply to it', 'nobypassrls'),
        (pg_roles.rolreplication, 'has the attribute replication, so it can copy every table', 'noreplication'),
        (pg_roles.rolcreaterole, 'has createrole, so it can grant itself roles', 'nocreaterole'),
        (pg_roles.rolcreatedb, 'has createdb, so it can copy a database', 'nocreatedb')
    ) as attribute (is_set, means, undo)
    where attribute.is_set
    union all
    select format(
      case when pg_auth_members.admin_option then '%1$s must not have the admin option on %2$s, with which it could grant the role to others. Run: revoke admin option for %2$I from %1$I'
      else '%1$s must not be a member of %2$s. Run: revoke %2$I from %1$I' end, member.rolname, granted.rolname
    )
    from pg_catalog.pg_auth_members
    join pg_catalog.pg_roles as member on member.oid = pg_auth_members.member
    join pg_catalog.pg_roles as granted on granted.oid = pg_auth_members.roleid
    join publication.find_api_roles() as api_roles on api_roles.name = member.rolname
    where member.rolname <> 'authenticator' or pg_auth_members.admin_option
      or granted.rolname <> 'gateway' and not exists (
        select from publication.find_api_roles() as reader where reader.name = granted.rolname and reader.reads = 'data'
      )
    union all
    -- A function with an empty search_path finds types of pg_temp before PostgreSQL's own, so a role that can create a temporary
    -- domain runs code with the rights of each security definer function that it may call.
    select format(
      '%1$s can create objects in the %2$s, which functions with other rights could use. Run: revoke %3$s on %2$s from public, %4$s',
      string_agg(api_roles.name, ' and ' order by api_roles.name desc), place.name, place.privileges,
      string_agg(quote_ident(api_roles.name), ', ' order by api_roles.name)
    )
    from publication.find_api_roles() as api_roles
    cross join lateral (
      select 'database ' || quote_ident(current_database()), 'create, temporary'
      where has_database_privilege(api_roles.name, current_database(), 'create, temporary')
      union all
      select 'schema ' || pg_namespace.oid::regnamespace, 'create'
      from pg_catalog.pg_namespace
      where has_schema_privilege(api_roles.name, pg_namespace.oid, 'create')
        and pg_get_userbyid(pg_namespace.nspowner) <> api_roles.name
    ) as place (name, privileges)
    group by place.name, place.privileges;
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
        coalesce(identified.schema, case identified.type when 'schema' then identified.name end, '') as schema_name,
        format('alter %s %s owner to', identified.type, identified.identity) as change_owner
      from pg_catalog.pg_shdepend
      cross join lateral pg_identify_object(pg_shdepend.classid, pg_shdepend.objid, 0) as identified
      where pg_shdepend.deptype = 'o' and pg_shdepend.refclassid = 'pg_authid'::regclass
        and pg_shdepend.classid <> all (array['pg_default_acl', 'pg_user_mapping']::regclass[]) and age(pg_shdepend.xmin) <= (select publication.find_greatest_age())
        and pg_shdepend.dbid in (
          0, (select pg_database.oid from pg_catalog.pg_database where pg_database.datname = current_database())
        )
    ), published as (
      select pg_namespace.oid, pg_namespace.nspname, pg_namespace.nspowner
      from pg_catalog.pg_namespace
      where pg_namespace.nspname ~ '^((disclosed|suppressed)(_next|_previous|_dropped)?|dissemination(_replaced)?|staging)$'
    )
    select format(
      '%s must not own %s. Drop it, or run: %s %I', owned.owner, owned.object, owned.change_owner,
      case when owned.schema_name in (select published.nspname from published) then 'publisher' else current_user end
    )
    from owned
    where owned.owner in (select api_roles.name from publication.find_api_roles() as api_roles where api_roles.reads <> 'views')
    union all
    select format('publisher must not own %s, because it may own only the data set. Drop it, or run: %s %I', owned.object, owned.change_owner, current_user)
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
    select format('%1$s belongs to %2$s. Only publisher may own the data set. Drop it, or run: alter table %1$s owner to publisher', pg_class.oid::regclass, pg_get_userbyid(pg_class.relowner))
    from published
    join pg_catalog.pg_class on pg_class.relnamespace = published.oid
    where pg_class.relkind in ('r', 'p', 'v', 'm', 'f', 'S') and pg_get_userbyid(pg_class.relowner) <> 'publisher';
end
$$;

-- Whether a relation of an extension has only the privileges that the extension granted.
create or replace function publication.find_initial_rights(relation oid)
returns boolean
language sql stable security invoker
as $$
  select not exists (
    select granted.* from pg_catalog.pg_class cross join lateral aclexplode(pg_class.relacl) as granted where pg_class.oid = relation
    except
    select granted.*
    from pg_catalog.pg_init_privs
    cross join lateral aclexplode(pg_init_privs.initprivs) as granted
    where pg_init_privs.classoid = 'pg_class'::regclass and pg_init_privs.objoid = relation and pg_init_privs.objsubid = 0
  ) and not exists (
    select from pg_catalog.pg_attribute where pg_attribute.attrelid = relation and pg_attribute.attacl is not null
  )
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
        -- PUBLIC may read some relations of extensions, such as pg_stat_statements.
        and not exists (
          select from pg_catalog.pg_depend
          where pg_depend.classid = 'pg_class'::regclass and pg_depend.objid = pg_class.oid and pg_depend.deptype = 'e'
            and publication.find_initial_rights(pg_depend.objid)
        )
    )
    select format(
      '%s can read %s, which %s. Run: %s', string_agg(found.role, ' and ' order by found.role desc), found.relation, found.reason, case
        when found.is_view_of_data_set then format('alter view %s set (security_invoker = true)', found.relation)
        else format('revoke all on %s from public, %s cascade', found.relation, string_agg(quote_ident(found.role), ', ' order by found.role))
      end
    )
    from (
      select
        api_roles.name as role, relations.oid::regclass as relation,
        relations.nspname = 'dissemination' and relations.relkind = 'v' and api_roles.reads <> 'nothing' as is_view_of_data_set,
        case
          when relations.is_retired then 'is not live'
          when api_roles.reads = 'nothing' or relations.is_live then 'publication.find_listed_relations() does not list for it'
          when relations.nspname = 'dissemination' and relations.relkind = 'v' then 'does not run with its caller''s rights (security_invoker)'
          else 'is not part of the data set or the API'
        end as reason
      from relations
      join publication.find_api_roles() as api_roles
        on has_any_column_privilege(api_roles.name, relations.oid, 'select')
      where case
        when api_roles.reads = 'nothing' then not exists (
          select from publication.find_listed_relations() as listed
          where listed.oid = relations.oid and listed.role = api_roles.name
        )
        when relations.is_live then api_roles.reads <> 'data' or relations.relkind not in ('r', 'p')
        when relations.relkind <> 'v' then true
        when relations.nspname = 'dissemination' then not relations.is_invoker
        -- A view reads with its owner's rights, and api_owner has none on suppressed.
        else not (relations.is_served and pg_get_userbyid(relations.relowner) = 'api_owner')
      end
    ) as found
    group by found.relation, found.reason, found.is_view_of_data_set
    union all
    select format(
      '%s can change %s. Run: revoke insert, update, delete, truncate, references, trigger, maintain on %2$s from public, %s cascade',
      string_agg(api_roles.name, ' and ' order by api_roles.name desc), relations.oid::regclass,
      string_agg(quote_ident(api_roles.name), ', ' order by api_roles.name)
    )
    from relations
    join publication.find_api_roles() as api_roles
      on pg_get_userbyid(relations.relowner) <> api_roles.name and (
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
      where pg_class.relnamespace in ('pg_catalog'::regnamespace, 'pg_toast'::regnamespace) and pg_class.relacl is not null
        and age(pg_class.xmin) <= (select publication.find_greatest_age())
      union all
      select 'pg_class'::regclass, pg_class.oid, pg_attribute.attnum, pg_attribute.attacl
      from pg_catalog.pg_attribute
      join pg_catalog.pg_class on pg_class.oid = pg_attribute.attrelid
      where pg_class.relnamespace in ('pg_catalog'::regnamespace, 'pg_toast'::regnamespace) and pg_attribute.attacl is not null
        and age(pg_attribute.xmin) <= (select publication.find_greatest_age())
      union all
      select 'pg_proc'::regclass, pg_proc.oid, 0, pg_proc.proacl
      from pg_catalog.pg_proc
      where pg_proc.pronamespace = 'pg_catalog'::regnamespace and pg_proc.oid < 16384 and pg_proc.proacl is not null
        and age(pg_proc.xmin) <= (select publication.find_greatest_age())
    ), grantees as (
      select 0::oid as oid, 'PUBLIC' as name
      union all
      select api_roles.name::regrole::oid, api_roles.name from publication.find_api_roles() as api_roles
    )
    select distinct format('%s may use %s, which PostgreSQL does not grant to it. Run: revoke all on %s from %s cascade', grantees.name, pg_describe_object(objects.classid, objects.oid, objects.objsubid),
      case objects.classid when 'pg_proc'::regclass then 'routine ' || objects.oid::regprocedure else objects.oid::regclass::text end, grantees.name)
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
    select format('Default privileges of %s grant %s on future objects to %s. Run: alter default privileges for role %1$I%4$s revoke all on %5$s from %3$s', pg_get_userbyid(pg_default_acl.defaclrole), granted.privilege_type, grantees.name,
      ' in schema ' || nullif(pg_default_acl.defaclnamespace, 0)::regnamespace,
      case pg_default_acl.defaclobjtype when 'r' then 'tables' when 'n' then 'schemas' else 'large objects' end)
    from pg_catalog.pg_default_acl
    cross join lateral aclexplode(pg_default_acl.defaclacl) as granted
    join grantees on grantees.oid = granted.grantee
    where granted.grantee <> pg_default_acl.defaclrole
      and pg_default_acl.defaclobjtype in ('r', 'n', 'L')
    union all
    select format('%s can read the large object %s. Run: revoke all on large object %2$s from %1$s', grantees.name, pg_largeobject_metadata.oid)
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
    select format(
      '%s can run %s, which %s. Run: revoke execute on routine %2$s from public, %4$s',
      string_agg(api_roles.name, ' and ' order by api_roles.name desc), pg_proc.oid::regprocedure, case
        when pg_proc.prosecdef then 'runs with the rights of ' || pg_get_userbyid(pg_proc.proowner)
        else 'publication.find_listed_functions() does not list for it'
      end, string_agg(quote_ident(api_roles.name), ', ' order by api_roles.name)
    )
    from publication.find_api_roles() as api_roles
    join pg_catalog.pg_proc on has_function_privilege(api_roles.name, pg_proc.oid, 'execute')
    where pg_proc.oid >= 16384 and age(pg_proc.xmin) <= (select publication.find_greatest_age())
      and pg_proc.prorettype <> all (array['trigger'::regtype, 'event_trigger'::regtype])
      and pg_get_userbyid(pg_proc.proowner) <> api_roles.name
      -- The rules for API functions say what these may do.
      and not (
        api_roles.reads <> 'nothing' and pg_get_userbyid(pg_proc.proowner) = 'api_owner'
        and pg_proc.pronamespace in (select served_schemas.oid from publication.served_schemas)
      )
      and (
        pg_proc.prosecdef
        or has_schema_privilege(api_roles.name, pg_proc.pronamespace, 'usage') and not exists (
          select from pg_catalog.pg_depend
          where pg_depend.classid = 'pg_proc'::regclass and pg_depend.objid = pg_proc.oid and pg_depend.deptype = 'e'
        )
      )
      and not exists (
        select from publication.find_listed_functions() as listed
        where listed.oid = pg_proc.oid and listed.role in (api_roles.name, api_roles.reads)
      )
    group by pg_proc.oid, pg_proc.prosecdef, pg_proc.proowner
    union all
    select format(
      '%s can run %s with the rights of %s and a search_path other than '''', so it could run code of another schema. Run: alter function %2$s set search_path = ''''',
      string_agg(api_roles.name, ' and ' order by api_roles.name desc), pg_proc.oid::regprocedure, pg_get_userbyid(pg_proc.proowner)
    )
    from publication.find_api_roles() as api_roles
    join pg_catalog.pg_proc on has_function_privilege(api_roles.name, pg_proc.oid, 'execute')
    where pg_proc.oid >= 16384 and pg_proc.prosecdef and age(pg_proc.xmin) <= (select publication.find_greatest_age())
      and not coalesce(pg_proc.proconfig @> array['search_path=""'], false)
    group by pg_proc.oid
    union all
    -- Reading a value of such a type, or a cast that a client asks for, runs code with the caller's rights.
    select format('The type %s could run code with the rights of %s. Run: drop type %1$s', pg_type.oid::regtype, string_agg(api_roles.name, ' and '))
    from publication.find_api_roles() as api_roles
    join pg_catalog.pg_type on has_schema_privilege(api_roles.name, pg_type.typnamespace, 'usage')
    where api_roles.reads = 'data' and api_roles.name <> 'api_tribal'
      and pg_type.oid >= 16384 and pg_type.typtype not in ('c', 'e') and pg_type.typelem = 0
      and not exists (
        select from pg_catalog.pg_depend
        where pg_depend.classid = 'pg_type'::regclass and pg_depend.objid = pg_type.oid and pg_depend.deptype = 'e'
      )
    group by pg_type.oid
    union all
    select format('A cast made by hand runs %s with the rights of its caller. Run: drop cast (%s as %s)', pg_cast.castfunc::regprocedure, pg_cast.castsource::regtype, pg_cast.casttarget::regtype)
    from pg_catalog.pg_cast
    where pg_cast.oid >= 16384 and pg_cast.castmethod = 'f' and not exists (
      select from pg_catalog.pg_depend
      -- The cast of a range to its multirange depends on the type.
      where pg_depend.classid = 'pg_cast'::regclass and pg_depend.objid = pg_cast.oid and pg_depend.deptype in ('e', 'i')
    )
    union all
    select format('%s: %s', broken.object, broken.rule) from publication.find_broken_rules(true) as broken;
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
    ), views as (
      -- Of the API schemas, only the views: rules for API objects forbid everything else.
      select relations.oid, relations.name, relations.relkind, relations.relnamespace, relations.nspname from relations
      union all
      select pg_class.oid, pg_class.oid::regclass, pg_class.relkind, pg_class.relnamespace, 'api'
      from publication.served_schemas
      join pg_catalog.pg_class on pg_class.relnamespace = served_schemas.oid and pg_class.relkind = 'v'
    ), rules as materialized (
      select
        views.name, views.relkind, views.relnamespace, views.nspname,
        pg_rewrite.ev_class, pg_rewrite.rulename, pg_rewrite.ev_action::text as tree
      from views
      join pg_catalog.pg_rewrite on pg_rewrite.ev_class = views.oid
      where age(pg_rewrite.xmin) <= (select publication.find_greatest_age())
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
      when relations.relkind not in ('r', 'p') then format(
        '%s is not a table, so row-level security does not apply to it. Run: drop %s %1$s', relations.name,
        case relations.relkind when 'v' then 'view' when 'm' then 'materialized view' else 'foreign table' end
      )
      else format('%s has no row-level security. Run: alter table %1$s enable row level security', relations.name)
    end
    from relations
    where relations.nspname = 'suppressed' || generation
      and (relations.relkind in ('v', 'm', 'f') or relations.relkind in ('r', 'p') and not relations.relrowsecurity)
    union all
    select format('The policy %s shows rows of %s to roles other than api_tribal. Run: alter policy %1$I on %2$s to api_tribal', pg_policy.polname, relations.name)
    from relations
    join pg_catalog.pg_policy on pg_policy.polrelid = relations.oid
    where relations.nspname = 'suppressed' || generation and pg_policy.polroles <> array['api_tribal'::regrole::oid]
    union all
    select format('The policy %s on %s has a condition, which would run with its caller''s rights. The data set has only policies "for select … using (true)". Run: drop policy %1$I on %2$s', pg_policy.polname, relations.name)
    from relations
    join pg_catalog.pg_policy on pg_policy.polrelid = relations.oid
    where pg_policy.polcmd <> 'r' or pg_get_expr(pg_policy.polqual, pg_policy.polrelid) is distinct from 'true'
    union all
    select format('%s inherits from %s, so a query on the parent also returns the child''s rows. Run: alter table %1$s no inherit %2$s', child.oid::regclass, parent.oid::regclass)
    from pg_catalog.pg_inherits
    join pg_catalog.pg_class as child on child.oid = pg_inherits.inhrelid
    join pg_catalog.pg_class as parent on parent.oid = pg_inherits.inhparent
    where child.relkind in ('r', 'p', 'f')
      and (child.oid in (select relations.oid from relations) or parent.oid in (select relations.oid from relations))
    union all
    select format('%s has the trigger or rule %s, which no other check reads. Run: drop %s %2$I on %1$s', relations.name, code.name, code.kind)
    from relations
    join (
      select pg_trigger.tgrelid as relation, pg_trigger.tgname as name, 'trigger' as kind from pg_catalog.pg_trigger where not pg_trigger.tgisinternal
      union all
      select rules.ev_class, rules.rulename, 'rule' from rules where rules.rulename <> '_RETURN'
    ) as code on code.relation = relations.oid
    union all
    select format('%s.%I is a generated column, whose expression no other check reads. Run: alter table %1$s drop column %2$I', relations.name, pg_attribute.attname)
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
    select distinct format('The view %s calls %s. Views of dissemination and of the API may only combine tables.', calls.name, calls.oid::regprocedure)
    from calls
    where calls.relkind = 'v'
    union all
    select format('The view %s converts values, which could run code of a type. Views of dissemination and of the API may only combine tables.', rules.name)
    from rules
    where rules.relkind = 'v' and strpos(rules.tree, '{COERCE') > 0
    union all
    -- Not pg_depend, which lacks PostgreSQL's own relations, such as the statistics of every table.
    select distinct format(
      'The view %s must read only %s, but reads %s.', rules.name,
      case rules.nspname when 'api' then 'views of dissemination' else 'tables of the live data set' end, source.oid::regclass
    )
    from rules
    cross join lateral unnest((string_to_array(rules.tree, ':relid '))[2:]) as rest_of_tree
    join pg_catalog.pg_class as source
      on source.oid = substring(rest_of_tree from '^\d+')::oid and source.oid <> rules.ev_class
    where rules.rulename = '_RETURN' and case
      when rules.nspname = 'api' then source.relkind <> 'v' or source.relnamespace is distinct from to_regnamespace('dissemination')::oid
      else source.relkind <> 'r' or source.relnamespace not in (
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
    'select array(select report_id from %1$I.general union select report_id from %1$I.resubmission'
    ' union select report_id from publication.suppressed_reports)', 'suppressed' || generation
  ) into hidden;
  return hidden;
end
$$;

-- The memory of suppressed reports may be lost: renamed, replaced or emptied. A publication records its suppressed reports before it
-- sets published_at. Data sets without kept_suppressed are older than the memory. A refresh may replace a data set that fails this.
create or replace function publication.find_memory_leaks(generation text)
returns setof text
language plpgsql stable security invoker
as $$
begin
  if to_regprocedure('publication.release_report(text)') is null then
    return;
  end if;
  if to_regclass('publication.suppressed_reports') is null then
    return next 'publication.suppressed_reports does not exist, so reports that were suppressed could become public. Restore the table.';
  elsif generation = '' and exists (
    select
    from publication.data_sets
    join disclosed.data_set on data_set.id = data_sets.id and data_set.published_at is not null
    join suppressed.general on true
    where data_sets.state = 'live' and data_sets.kept_suppressed is not null
      and general.report_id not in (
        select suppressed_reports.report_id from publication.suppressed_reports
        union all
        select events.subject_id from access.events
        -- A report that was released earlier is suppressed again.
        where events.subject = 'suppressed_reports' and events.action = 'delete' and events.at >= data_set.built_at
      )
  ) then
    return next 'publication.suppressed_reports lacks reports that are suppressed now, so they could become public. Restore the table from a backup, or publish the data set again (npm run refresh -- --force).';
  end if;
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
    elsif relation.relname in ('totals_by_state', 'totals_by_agency', 'totals_by_program') then
      execute format(
        'select row(coalesce(sum(awards), 0), coalesce(sum(amount_expended), 0))::text <> ('
        'select row(count(*), coalesce(sum(awards.amount_expended), 0))::text from %I.federal_awards as awards) from %s',
        'disclosed' || generation, relation.name
      ) into found_one;
      if found_one then
        return next format('%s should count the public awards, and no others.', relation.name);
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
  if publication.search_reports(jsonb_build_array(jsonb_build_object('report_ids', hidden))) ->> 'chosen' is not null then
    return next 'publication.search_reports() finds suppressed reports, so the pages would show them.';
  end if;
  if exists (select from unnest(hidden) as report_id where publication.describe_report(report_id) is not null) then
    return next 'publication.describe_report() returns suppressed reports, so the pages would show them.';
  end if;
  if exists (
    select
    from (
      select auditee_name from suppressed.general except select auditee_name from disclosed.general limit 10
    ) as hidden_names
    where publication.suggest_names(hidden_names.auditee_name) ? hidden_names.auditee_name
  ) then
    return next 'publication.suggest_names() returns names of suppressed reports'' auditees, so the pages would show them.';
  end if;
  if (
    select sum((counted ->> 'submissions')::bigint)
    from jsonb_array_elements(publication.describe_totals() -> 'totals_by_state') as counted
  ) <> (select count(*) from disclosed.general) then
    return next 'publication.describe_totals() should count all public submissions and no others, but it does not.';
  end if;
  if (
    select sum((counted ->> 'awards')::bigint)
    from jsonb_array_elements(publication.describe_programs(null, 'awards', 0, null) -> 'programs') as counted
  ) <> (select sum(totals_by_state.awards) from disclosed.totals_by_state) then
    return next 'publication.describe_programs() should count all public awards and no others, but it does not.';
  end if;
end
$$;

-- Reads every row, which takes seconds. Requests must not wait for it, so a deployment calls it before it locks the API.
create or replace function publication.find_leaks_in_rows(generation text)
returns setof text
language plpgsql stable security invoker
as $$
declare
  leak text;
  hidden text[];
begin
  if to_regclass(format('%I.general', 'suppressed' || generation)) is null then
    return;
  end if;
  for leak in select publication.find_code_in_data_set(generation) loop
    return next leak;
    return;
  end loop;
  for leak in select publication.find_memory_leaks(generation) loop
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

create or replace function publication.find_leaks(check_rows boolean, generation text default '')
returns setof text
language plpgsql volatile security definer
set search_path = '' set jit = off set plan_cache_mode = force_generic_plan
as $$
begin
  return query select publication.find_serving_leaks();
  return query select publication.find_role_leaks();
  return query select publication.find_owner_leaks();
  return query select publication.find_read_leaks(generation);
  return query select publication.find_system_leaks();
  return query select publication.find_function_leaks();
  return query select publication.find_table_leaks(generation);

  if generation = '' then
    -- Kept to the end of the transaction.
    perform set_config('publication.leaks_asked_in', coalesce(pg_current_xact_id_if_assigned()::text, ''), true);
  end if;
  if check_rows then
    return query select publication.find_leaks_in_rows(generation);
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
