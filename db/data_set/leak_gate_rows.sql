-- The part of the leak gate that reads rows: whether a table that the public may read holds anything of a suppressed
-- submission. Asks the generation that the setting leak_gate.generation names: _next, or empty for the live one.
-- leak_gate.sql shows that nothing else is served. Raises SQLSTATE LEAKS with a line for each finding.

do $leak_gate$
declare
  generation constant text := current_setting('leak_gate.generation');
  disclosed constant text := 'disclosed' || generation;
  suppressed constant text := 'suppressed' || generation;
  findings text[] := '{}';
  reports text[];
  question record;
  is_there boolean;
  row_count bigint;
begin
  -- Who deploys asks tables of the publisher, and so runs what their indexes, policies and columns call: nothing of the
  -- publisher's own, nor anything by a policy that holds for the owner too.
  findings := array(
    select format('%s: who deploys would run it, and it is not theirs.', pg_proc.oid::regprocedure)
    from pg_catalog.pg_proc
    join pg_catalog.pg_namespace on pg_namespace.nspname = disclosed
    where pg_proc.oid >= 16384 and pg_has_role(pg_namespace.nspowner, pg_proc.proowner, 'member')
  ) || array(
    select format('%s: its row-level security is forced on its owner.', pg_class.oid::regclass)
    from pg_catalog.pg_class
    where pg_class.relnamespace in (to_regnamespace(disclosed), to_regnamespace(suppressed)) and pg_class.relforcerowsecurity
  );
  if findings <> '{}' then
    raise sqlstate 'LEAKS' using
      message = 'The publisher''s tables cannot be asked.', detail = array_to_string(findings, E'\n');
  end if;

  execute format(
    'select array(select report_id from %1$I.general union select report_id from %1$I.resubmission)', suppressed
  ) into reports;

  for question in
    select
      format('%I.%I', disclosed, pg_class.relname) as relation,
      link.attname as link,
      case when bool_or(pg_attribute.attname = 'is_public') then format(
        '(is_public is distinct from false or num_nonnulls(%s) > 2)', string_agg(quote_ident(pg_attribute.attname), ', ')
      ) else 'true' end as is_more_than_a_stub
    from pg_catalog.pg_class
    join pg_catalog.pg_attribute as link on link.attrelid = pg_class.oid
      and link.attname ~ '(^|_)report_id$' and not link.attisdropped
    join pg_catalog.pg_attribute on pg_attribute.attrelid = pg_class.oid
      and pg_attribute.attnum > 0 and not pg_attribute.attisdropped
    where pg_class.relnamespace = to_regnamespace(disclosed) and pg_class.relkind in ('r', 'p', 'm')
    group by pg_class.relname, link.attname
  loop
    execute format(
      'select exists (select from %s where %I = any ($1) and %s)',
      question.relation, question.link, question.is_more_than_a_stub
    ) into is_there using reports;
    if is_there then
      findings := findings || format('%s: its %s names suppressed submissions.', question.relation, question.link);
    end if;
  end loop;

  -- What names no submission is computed of public rows: a materialized view, whose definition reads tables of this
  -- generation with a report_id, calls nothing but immutable functions of PostgreSQL (so that it may be run here, by
  -- whoever deploys), and gives the same rows now. So is one that has a report_id of its own. But the table data_set, with the
  -- columns that it has, of their types, says which data set it is.
  for question in
    select
      pg_class.oid,
      format('%I.%I', disclosed, pg_class.relname) as relation,
      case when pg_class.relkind = 'm' then rtrim(pg_get_viewdef(pg_class.oid), ';') end as definition
    from pg_catalog.pg_class
    where pg_class.relnamespace = to_regnamespace(disclosed) and pg_class.relkind in ('r', 'p', 'm')
      and not (pg_class.relname = 'data_set' and pg_class.relkind = 'r' and (
        select string_agg(format('%s %s', pg_attribute.attname, pg_attribute.atttypid::regtype), ', ' order by pg_attribute.attname)
        from pg_catalog.pg_attribute
        where pg_attribute.attrelid = pg_class.oid and pg_attribute.attnum > 0 and not pg_attribute.attisdropped
      ) = 'built_at timestamp with time zone, id uuid, published_at timestamp with time zone')
      and (pg_class.relkind = 'm' or not exists (
        select from pg_catalog.pg_attribute
        where pg_attribute.attrelid = pg_class.oid and pg_attribute.attname = 'report_id' and not pg_attribute.attisdropped
      ))
  loop
    if question.definition is null then
      findings := findings || format(
        '%s: it has no report_id, so nobody can tell whose rows these are.', question.relation
      );
      continue;
    end if;
    -- Of what is PostgreSQL's own, pg_depend does not list all: catalogues say how many rows a table has.
    if question.definition ~ '\mpg_' or exists (
      select
      from pg_catalog.pg_rewrite
      join pg_catalog.pg_depend
        on pg_depend.classid = 'pg_rewrite'::regclass and pg_depend.objid = pg_rewrite.oid
      where pg_rewrite.ev_class = question.oid and pg_depend.refobjid <> question.oid
        and not exists (
          select from pg_catalog.pg_class
          join pg_catalog.pg_attribute on pg_attribute.attrelid = pg_class.oid
          where pg_depend.refclassid = 'pg_class'::regclass and pg_class.oid = pg_depend.refobjid
            and pg_class.relnamespace = to_regnamespace(disclosed) and pg_class.relkind = 'r'
            and pg_attribute.attname = 'report_id' and not pg_attribute.attisdropped
        )
    ) or exists (
      select
      from regexp_matches(question.definition, '([[:alpha:]_][\w$]*)"?\s*\(', 'g') as called
      join pg_catalog.pg_proc on pg_proc.proname = called[1] and pg_proc.pronamespace = 'pg_catalog'::regnamespace
      where pg_proc.provolatile <> 'i'
    ) then
      findings := findings || format(
        '%s: its definition reads or calls more than tables of disclosed.', question.relation
      );
      continue;
    end if;
    execute format(
      'with computed as materialized (%2$s) select exists ('
      '  (table %1$s except all table computed) union all (table computed except all table %1$s)'
      ')', question.relation, question.definition
    ) into is_there;
    if is_there then
      findings := findings || format('%s: its rows are not those of its definition.', question.relation);
    end if;
  end loop;

  -- More rows of it could tell of one submission each.
  if exists (
    select from pg_catalog.pg_class where pg_class.oid = to_regclass(format('%I.data_set', disclosed)) and pg_class.relkind = 'r'
  ) then
    execute format('select count(*) from %I.data_set', disclosed) into row_count;
    if row_count <> 1 then
      findings := findings || format('%I.data_set: it should have one row, and has %s.', disclosed, row_count);
    end if;
  end if;

  -- Nor may it be seen that a suppressed submission came after or before a public one.
  execute format(
    'select exists ('
    '  select from %2$I.resubmission as hidden'
    '  join %1$I.resubmission as shown on shown.report_id = hidden.previous_report_id'
    '  where shown.status = ''deprecated_via_resubmission'''
    '    and not exists (select from %1$I.resubmission as later where later.report_id = shown.next_report_id)'
    ')', disclosed, suppressed
  ) into is_there;
  if is_there then
    findings := findings || format('%I.resubmission: its status tells that a suppressed submission came next.', disclosed);
  end if;
  execute format(
    'select exists ('
    '  select from %2$I.resubmission as hidden'
    '  join %1$I.general as shown on shown.report_id = hidden.next_report_id'
    '  left join %1$I.resubmission as place on place.report_id = shown.report_id'
    '  where greatest(shown.resubmission_version, place.version) > 1'
    '    and not exists (select from %1$I.resubmission as earlier where earlier.report_id = place.previous_report_id)'
    ')', disclosed, suppressed
  ) into is_there;
  if is_there then
    findings := findings || format('%I.general: its resubmission_version tells that a suppressed submission came before.', disclosed);
  end if;

  if findings <> '{}' then
    raise sqlstate 'LEAKS' using
      message = 'Suppressed submissions would be shown.',
      detail = array_to_string(findings, E'\n');
  end if;
end
$leak_gate$;
