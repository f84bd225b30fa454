-- Objects of the API and functions of the pages that break a rule of docs/editing-views.md: a row for each object and rule. Each
-- deployment checks them. Later, the leak check finds objects that were changed since the deployment (rights.sql).

with relations as materialized (
  select format('%I.%I', served_schemas.name, pg_class.relname) as object, pg_class.*
  from publication.served_schemas
  join pg_catalog.pg_class on relnamespace = served_schemas.oid
), functions as materialized (
  -- A function's text can hide what it calls. The body and the defaults, as PostgreSQL parsed them, have the OID of everything.
  select
    pg_proc.oid::regprocedure::text as object, concat(prosqlbody, proargdefaults) as tree, prosqlbody is not null as is_parsed,
    -- An oidvector counts from 0.
    array(select unnest(coalesce(proallargtypes, proargtypes::oid[]))) as arguments,
    pg_proc.oid, prokind, prorettype, proretset, prorows, proconfig
  from publication.served_schemas
  join pg_catalog.pg_proc on pronamespace = served_schemas.oid
), calls as materialized (
  -- What each function calls, some of it through operators.
  select distinct functions.object, coalesce(oprcode::oid, id::oid) as oid
  from functions
  cross join lateral regexp_matches(
    tree, ':(funcid|opfuncid|aggfnoid|winfnoid|tsmhandler|opno|eqop|sortop|opnos \(o) ([1-9][\d ]*)', 'g'
  ) as matched
  cross join lateral string_to_table(trim(matched[2]), ' ') as id
  left join pg_catalog.pg_operator on matched[1] ~ 'op(no|nos \(o)?$' and pg_operator.oid = id::oid
), called as materialized (
  select
    calls.object, pg_proc.oid, coalesce(pg_proc.oid::regprocedure::text, 'a function that is gone') as name, nspname, proname,
    pg_proc.oid < 16384 and nspname = 'pg_catalog' as is_built_in, provolatile,
    array(select unnest(coalesce(proallargtypes, proargtypes::oid[]))) as arguments,
    -- An argument that is the ID or the name of an object, or a cursor. A text search configuration is harmless.
    exists (
      select
      from unnest(coalesce(proallargtypes, proargtypes::oid[])) as argument (type)
      join pg_catalog.pg_type on pg_type.oid = argument.type
      left join pg_catalog.pg_type as element on element.oid = pg_type.typelem and pg_type.typcategory = 'A'
      cross join lateral coalesce(element.typname, pg_type.typname) as type_name
      where type_name ~ '^(oid|reg.*|name|refcursor|internal|cstring|aclitem)$' and type_name <> 'regconfig'
    ) as takes_object
  from calls
  left join pg_catalog.pg_proc on pg_proc.oid = calls.oid
  left join pg_catalog.pg_namespace on pg_namespace.oid = pronamespace
), everything_has_a_comment (object, rule) as (
  select object, 'This object has no comment. Add one: the API''s documentation shows it.'
  from (
    select object, obj_description(oid, 'pg_class') from relations where relkind = 'v'
    union all
    select object, obj_description(oid, 'pg_proc') from functions
  ) as described (object, description)
  where coalesce(description, '') = ''
  union all
  -- The first line of a column's comment is its label on the pages.
  select
    format('%s.%I', object, attname),
    format(
      'The comment of this column needs a label of up to 60 characters, without a period, and a description. Write: '
      'comment on column %s.%I is E''Label\n'' ''Description.'';', object, attname
    )
  from relations
  join pg_catalog.pg_attribute on attrelid = relations.oid and attnum > 0 and not attisdropped
  where relkind = 'v' and coalesce(col_description(attrelid, attnum), '') !~ '^[A-Z][^\n.]{1,60}\n\S'
), views_select_plain_columns (object, rule) as (
  select
    object,
    'An API view may only select plain columns of one view in the schema "dissemination". Sorting, filters, joins and computed columns would take time for every row that a client''s offset skips. Compute columns in db/data_set/build.sql, and let clients embed other tables.'
  from relations
  where relkind = 'v'
    and pg_get_viewdef(oid) !~ '^ SELECT (\w+\.)?\w+( AS \w+)?(,\s+(\w+\.)?\w+( AS \w+)?)*\s+FROM dissemination\.\w+( \w+)?;$'
), functions_are_parsed (object, rule) as (
  -- PostgREST's login may become api_tribal, and PostgreSQL checks `set role` against the login, whoever owns the function. No
  -- grant can forbid that, and a function's text can hide the words.
  select object, 'API functions must be SQL functions whose body is parsed when they are created. Write: language sql begin atomic select …; end'
  from functions
  where prokind <> 'f' or not is_parsed
), functions_set_only_search_path (object, rule) as (
  select object, format('This function sets %s. API functions may only set search_path.', setting)
  from functions cross join lateral unnest(proconfig) as setting
  where setting !~ '^search_path='
), functions_read_only_api_views (object, rule) as (
  -- Also of relations that they write. Nobody may write to a view of the API (rights.sql).
  select distinct
    object, format('This function reads %s. API functions may only read views of API schemas.', found[1]::oid::regclass)
  from functions cross join lateral regexp_matches(tree, ':relid ([1-9]\d*)', 'g') as found
  where found[1]::oid not in (select oid from relations)
), functions_call_only_harmless_functions (object, rule) as (
  -- Many built-in functions read any table, or its statistics, by name.
  select
    object,
    format(
      'This function calls %s, which %s. API functions may call functions of API schemas and "request", immutable functions of '
      'pg_catalog, and the stable ones in db/deployment/broken_rules.sql.%s',
      name,
      case
        when nspname is distinct from 'pg_catalog' then 'is in another schema'
        when not is_built_in then 'is not PostgreSQL''s own'
        when provolatile = 'v' then 'is volatile, so it could change something'
        when takes_object then 'takes the name or ID of an object, so it could read other tables'
        else 'is not in the list of functions that read nothing by name'
      end,
      case when is_built_in and provolatile = 's' and not takes_object then
        format(' If no text that it takes names an object, a setting or a query, add its name to that list: ''%s''', proname)
      end
    )
  from called
  where not coalesce(
    nspname = 'request'
    or nspname in (select served_schemas.name from publication.served_schemas)
    or is_built_in and not takes_object and (
      provolatile = 'i'
      or provolatile = 's' and (
        -- Functions of dates and times, such as those of their operators.
        cardinality(arguments) > 0
        and arguments <@ '{date,time,timetz,timestamp,timestamptz,interval}'::regtype[]::oid[]
        -- In a function of one of these names, each text is a value, a document, words to find, a separator, a format, a unit such
        -- as year, options of an excerpt, or the name of a JSON field. A name whose text names a relation, schema, role, setting
        -- or query must not be here, such as to_regclass or current_setting.
        or proname in (
          'to_tsvector', 'to_tsquery', 'plainto_tsquery', 'phraseto_tsquery', 'websearch_to_tsquery', 'ts_match_tq', 'ts_match_tt',
          'ts_headline',
          'concat', 'concat_ws', 'format', 'textanycat', 'anytextcat', 'array_to_string', 'to_char', 'to_number',
          'now', 'transaction_timestamp', 'statement_timestamp', 'to_date', 'to_timestamp', 'extract', 'date_part', 'date_trunc',
          'to_json', 'to_jsonb', 'row_to_json', 'array_to_json', 'json_build_array', 'jsonb_build_array', 'json_build_object',
          'jsonb_build_object', 'json_agg', 'json_agg_strict', 'jsonb_agg', 'jsonb_agg_strict', 'json_object_agg'
        )
      )
    ),
    false
  )
), relationships as (
  select functions.*, relations.oid as view_id, relations.object as view, proretset and prorows <> 1 as is_list
  from functions
  join relations on reltype = prorettype
  where cardinality(arguments) = 1 and arguments[1] in (select reltype from relations)
), lists_limit_their_bytes (object, rule) as (
  select
    object,
    'A relationship that returns a list must limit how many bytes it embeds. Add this to its where clause: "and request.limit_embedded_bytes(<approximate bytes of one returned row as JSON>)".'
  from relationships
  where is_list
    and object not in (select object from calls where calls.oid = to_regprocedure('request.limit_embedded_bytes(integer)'))
), single_rows_have_a_key (object, rule) as (
  -- Otherwise, a request that embeds a row could get more rows than it counts.
  select
    object,
    format(
      'A relationship to one row must compare all columns of a unique key of %s with columns of $1, and nothing else. Return a list (setof, without "rows 1"), or add a migration that gives the table the key.',
      view
    )
  from relationships
  -- The columns in conditions such as (general.report_id = ($1).report_id), if there are no other conditions or tables.
  cross join lateral substring(
    translate(pg_get_function_sqlbody(oid), '()', '')
    from '\sFROM [\w.]+\s+WHERE ((?:\w+\.\w+ = \$1\.\w+(?: AND )?)+);\s+END$'
  ) as conditions
  where not is_list
    and not exists (
      select from publication.view_keys
      where view_keys.view_id = relationships.view_id and view_keys.columns <@ array(
        select compared[1] from regexp_matches(conditions, '\.(\w+) = \$1', 'g') as compared
      )
    )
), leaks_of_pages_are_looked_for (object, rule) as (
  select
    pg_proc.oid::regprocedure::text,
    'The pages show what this function returns, but the leak check does not call it. Add a call with suppressed reports to publication.find_report_service_leaks() in db/data_set/find_leaks.sql.'
  from pg_catalog.pg_proc
  where pg_proc.pronamespace = 'publication'::regnamespace and pg_proc.prosecdef and pg_proc.pronargs > 0
    and has_function_privilege('report_service', pg_proc.oid, 'execute')
    and not exists (
      select from pg_catalog.pg_proc as asking
      where asking.pronamespace = 'publication'::regnamespace and asking.proname ~ '^find_\w+_leaks$'
        and strpos(asking.prosrc, format('publication.%s(', pg_proc.proname)) > 0
    )
)
table everything_has_a_comment
union all
table views_select_plain_columns
union all
table functions_are_parsed
union all
table functions_set_only_search_path
union all
table functions_read_only_api_views
union all
table functions_call_only_harmless_functions
union all
table lists_limit_their_bytes
union all
table single_rows_have_a_key
union all
table leaks_of_pages_are_looked_for
order by 1, 2
