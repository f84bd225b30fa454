-- A relationship to one row compares all columns of a unique key. Otherwise, a request that embeds it could get more rows than
-- it counts.
--
-- A published data set may be older than a key that this version adds. So this checks only until a data set is published: the
-- empty tables that a deployment makes in a new database, such as the scratch database of db:check.

create or replace function publication.find_rule_single_rows_have_a_key()
returns table (object text, rule text)
language plpgsql stable security invoker
as $$
begin
  return query
    with relationships as (
      select
        api_functions.object,
        served.oid as view_id,
        served.object as view,
        -- The columns in conditions such as (general.report_id = ($1).report_id), if there are no other conditions or tables.
        substring(
          translate(pg_get_function_sqlbody(api_functions.oid), '()', '')
          from '\sFROM [\w.]+\s+WHERE ((?:\w+\.\w+ = \$1\.\w+(?: AND )?)+);\s+END$'
        ) as conditions
      from publication.find_api_functions() as api_functions
      join publication.find_api_relations() as served on served.reltype = api_functions.prorettype
      where cardinality(api_functions.arguments) = 1 and (not api_functions.proretset or api_functions.prorows = 1)
        and api_functions.arguments[1] in (select api_relations.reltype from publication.find_api_relations() as api_relations)
    )
    select
      relationships.object,
      format(
        'A relationship to one row must compare all columns of a unique key of %s with columns of $1, and nothing else. Return a list (setof, without "rows 1"), or add a migration that gives the table the key.',
        relationships.view
      )
    from relationships
    where not exists (select from publication.data_sets where data_sets.state = 'live')
      and not exists (
        select from publication.view_keys
        where view_keys.view_id = relationships.view_id and view_keys.columns <@ array(
          select compared[1] from regexp_matches(relationships.conditions, '\.(\w+) = \$1', 'g') as compared
        )
      );
end
$$;
