-- Finds leaks: suppressed data that a key without Tribal access would see, or that the app would hand out, and rights that
-- people have not reviewed. Returns one sentence per leak. Every transaction of a deployment, a publication or a rollback ends with
-- this check.
--
-- Rights are compared as a whole with the list that the last deployment recorded (db/deployment/rights.sql). Questions
-- about rows, which the list cannot answer, are asked of one generation of the data set: '_next', or '' for the live one.
--
-- Deployments install these functions before they call them, so they never run an outdated version. All names begin with find_.
-- Lists of functions leave them out.

-- Bodies of functions that run with their caller's rights. Each deployment replaces them from their files, and records them.
create or replace function publication.find_bodies()
returns table (fact text, undo text)
language sql stable security invoker set search_path = ''
as $$
  select
    format('%s %s: %s', kinds.kind, pg_proc.oid::regprocedure, md5(pg_get_functiondef(pg_proc.oid))),
    format('drop %s %s', kinds.kind, pg_proc.oid::regprocedure)
  from pg_catalog.pg_proc
  join publication.find_schemas() as schemas on schemas.oid = pg_proc.pronamespace
  join pg_catalog.pg_language on pg_language.oid = pg_proc.prolang
  cross join lateral (select case pg_proc.prokind when 'p' then 'procedure' else 'function' end) as kinds (kind)
  where not pg_proc.prosecdef and pg_proc.prokind <> 'a'
    and schemas.kind not in ('system', 'other')
    and not (schemas.name = 'publication' and pg_proc.proname ~ '^find_')
    -- Extensions here have only functions in C.
    and not (pg_language.lanname = 'c' and exists (
      select from pg_catalog.pg_depend
      where pg_depend.classid = 'pg_proc'::regclass and pg_depend.objid = pg_proc.oid and pg_depend.deptype = 'e'
    ))
$$;

-- While a deployment runs, the database may have the rights of the previous deployment, and those of the new list.
create or replace function publication.find_changed_rights()
returns table (leak text, fact text, is_missing boolean, is_replaced boolean)
language plpgsql stable security definer
set search_path = '' set jit = off
as $$
declare
  elsewhere constant text := 'Deploy again, or see how to undo it: npm run db:deploy -- --plan';
  -- Each deployment replaces the functions and triggers of db/functions, the schema request and the API schemas.
  replaced constant text := '\m(access|data_set|extensions|publication|request)\.\w+\(|\m(admin_)?api_v\d|^trigger |\mschema request\M';
begin
  -- The first deployment records the list at its end.
  if not exists (select from deployment.api_schemas union all select from deployment.rights where rights.is_required) then
    return;
  end if;
  return query
    with found as materialized (
      select find_rights.fact, find_rights.undo from publication.find_rights()
      union all
      select find_bodies.fact, find_bodies.undo from publication.find_bodies()
      where not exists (select from deployment.rights where not rights.is_required)
    ), lacking as (
      select
        rights.fact,
        case
          when rights.fact ~ ' may become ' then regexp_replace(rights.fact, '(.*) may become (.*)', 'grant \2 to \1 with inherit false, set true')
          when rights.fact ~ ' may log in$' then regexp_replace(rights.fact, '(.*) may log in', 'alter role \1 login')
          when rights.fact ~ '^\S+ may .* on ' then regexp_replace(
            regexp_replace(rights.fact, '^(\S+) may (.*?) on (.*)$', 'grant \2 on \3 to \1'),
            ' on database to ', format(' on database %I to ', current_database())
          )
          when rights.fact ~ '^\w+ owns ' then regexp_replace(rights.fact, '^(\w+) owns (.*)', 'alter \2 owner to \1')
          when rights.fact ~ '^row-level security' then regexp_replace(rights.fact, '.* on (.*)', 'alter table \1 enable row level security')
          when rights.fact ~ '^policy ' then 'create ' || rights.fact
        end as redo
      from deployment.rights
      where rights.is_required and rights.fact not in (select found.fact from found)
    )
    select
      format('Unlisted: %s. %s', found.fact, case
        -- It was changed, so dropping it would not undo the change.
        when exists (
          select from lacking
          where found.undo ~ '^drop (view|function|procedure) ' and starts_with(lacking.fact, substring(found.undo from '^drop (.*)'))
        ) then elsewhere
        else coalesce('Run: ' || found.undo, elsewhere)
      end),
      found.fact, false, found.fact ~ replaced
    from found
    where found.fact not in (select rights.fact from deployment.rights)
    union all
    select format('Missing: %s. %s', lacking.fact, coalesce('Run: ' || lacking.redo, elsewhere)), lacking.fact, true, lacking.fact ~ replaced
    from lacking;
end
$$;

-- A tier is a row, and decides which role reads for a key.
create or replace function publication.find_tier_leaks()
returns setof text
language sql stable security invoker
as $$
  select format(
    'The tier %s uses the role %s. Run: update access.tiers set database_role = ''api_public'' where name = %1$L', tiers.name, tiers.database_role
  )
  from access.tiers
  where tiers.database_role <> case tiers.name when 'tribal' then 'api_tribal' else 'api_public' end
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

-- publication.suppressed_reports may have been renamed, replaced or emptied. A publication records its suppressed reports before it
-- sets published_at. A refresh may replace a data set that fails this.
create or replace function publication.find_memory_leaks(generation text)
returns setof text
language plpgsql stable security invoker
as $$
begin
  if to_regclass('publication.suppressed_reports') is null then
    return next 'publication.suppressed_reports does not exist, so reports that were suppressed could become public. Restore the table.';
  elsif generation = '' and exists (
    select
    from publication.data_sets
    join disclosed.data_set on data_set.id = data_sets.id and data_set.published_at is not null
    join suppressed.general on true
    where data_sets.state = 'live'
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
      and pg_class.relname !~ '^totals_'
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
          'select exists (select from %s where is_public is distinct from false or num_nonnulls(%s) <> 2 or report_id <> all ($1))',
          relation.name, relation.columns
        ) into found_one using hidden;
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

-- Public rows in a chain of resubmissions must not reveal its suppressed reports. They name only public ones (find_row_leaks), which may have
-- no row in resubmission themselves, so a status or a version is explained by the report that a row names.
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
        where shown.status = 'deprecated_via_resubmission' and shown.next_report_id is null
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
        where greatest(shown.resubmission_version, place.version) > 1 and place.previous_report_id is null
          and not exists (select from %1$I.resubmission as earlier where earlier.next_report_id = shown.report_id)
      )
    $query$, disclosed, suppressed
  ) into found_one;
  if found_one then
    return next format('%s.general has a resubmission_version that reveals an earlier suppressed submission.', disclosed);
  end if;
end
$$;

-- Totals have no report_id. They count all public rows and no others.
create or replace function publication.find_total_leaks(generation text)
returns setof text
language plpgsql stable security invoker
as $$
declare
  total record;
  is_wrong boolean;
begin
  for total in
    select counts.*
    from (
      values
        ('totals_by_state', 'submissions', '0', 'general'), ('totals_by_state', 'awards', 'amount_expended', 'federal_awards'),
        ('totals_by_agency', 'awards', 'amount_expended', 'federal_awards'), ('totals_by_program', 'awards', 'amount_expended', 'federal_awards'),
        ('totals_by_program_and_state', 'awards', 'amount_expended', 'federal_awards')
    ) as counts (total, counted, summed, source)
  loop
    execute format(
      'select (select row(coalesce(sum(%1$I), 0), coalesce(sum(%2$s), 0))::text from %3$I.%4$I)'
      ' <> (select row(count(*), coalesce(sum(%2$s), 0))::text from %3$I.%5$I)',
      total.counted, total.summed, 'disclosed' || generation, total.total, total.source
    ) into is_wrong;
    if is_wrong then
      return next format('%s.%s should count all public rows of %s and no others, but does not.', 'disclosed' || generation, total.total, total.source);
    end if;
  end loop;
  -- Groups of fewer than 20 reports are left out, so each group is compared with its own reports.
  for total in select tables.name from unnest(array['totals_by_peers', 'totals_by_peer_groups']) as tables (name) loop
    execute format(
      $query$
        with peers as (
          select audit_year, entity_type, expended_from, sum(submissions) as submissions, sum(findings * submissions) as findings
          from %1$I.%2$I
          group by audit_year, entity_type, expended_from
        ), sizes as (
          select array(
            select expended_from from %1$I.%2$I where expended_from is not null
            union select expended_to from %1$I.%2$I where expended_to is not null
            order by 1
          ) as bounds
        ), findings as (
          select report_id, count(reference_number) as findings from %1$I.finding_summaries group by report_id
        ), reports as (
          select
            general.audit_year, general.entity_type, coalesce(findings.findings, 0) as findings,
            sizes.bounds[width_bucket(general.total_amount_expended, sizes.bounds)] as expended_from
          from %1$I.general
          cross join sizes
          left join findings on findings.report_id = general.report_id
        ), counted as (
          select reports.audit_year, reports.entity_type, reports.expended_from, count(*) as submissions, sum(reports.findings) as findings
          from reports
          group by reports.audit_year, grouping sets ((reports.entity_type, reports.expended_from), (reports.entity_type), (reports.expended_from))
          having (grouping(reports.entity_type) = 1 or reports.entity_type is not null)
            and (grouping(reports.expended_from) = 1 or reports.expended_from is not null)
        )
        select exists (
          select from peers
          left join counted on (counted.audit_year, counted.entity_type, counted.expended_from)
            is not distinct from (peers.audit_year, peers.entity_type, peers.expended_from)
          where peers.submissions < 20 or (peers.submissions, peers.findings) is distinct from (counted.submissions, counted.findings)
        )
      $query$, 'disclosed' || generation, total.name
    ) into is_wrong;
    if is_wrong then
      return next format('%s.%s should count all public reports of each of its groups and no others, but does not.', 'disclosed' || generation, total.name);
    end if;
  end loop;
  -- The longest words of some suppressed texts. Findings that have one must have it in their own text or plan.
  execute format(
    $query$
      with hidden as (
        select distinct quote_literal(words.lexeme)::tsquery as query
        from (select texts.finding_text from %2$I.findings_text as texts limit 3) as texts
        cross join lateral (
          select lexeme from unnest(extensions.text_words(texts.finding_text)) order by length(lexeme) desc limit 3
        ) as words
      )
      select exists (
        select
        from hidden
        cross join lateral (
          select findings.report_id, findings.reference_number
          from %1$I.finding_summaries as findings
          where findings.text_words @@ hidden.query or findings.plan_words @@ hidden.query
          limit 20
        ) as found
        where not exists (
          select
          from (
            select string_agg(parts.finding_text, '' order by parts.row_number)
            from %1$I.findings_text as parts
            where parts.report_id = found.report_id and parts.finding_ref_number = found.reference_number
            union all
            select string_agg(parts.planned_action, '' order by parts.row_number)
            from %1$I.corrective_action_plans as parts
            where parts.report_id = found.report_id and parts.finding_ref_number = found.reference_number
          ) as own (text)
          where extensions.text_words(own.text) @@ hidden.query
        )
      )
    $query$, 'disclosed' || generation, 'suppressed' || generation
  ) into is_wrong;
  if is_wrong then
    return next format('%s.finding_summaries has words of suppressed texts, so a search would find them.', 'disclosed' || generation);
  end if;
end
$$;

-- What the report service returns from the live data set. This calls every function that takes an argument and that the service may run
-- (db/deployment/broken_rules.sql).
create or replace function publication.find_report_service_leaks(hidden text[])
returns setof text
language plpgsql stable security invoker
as $$
declare
  -- UEIs and EINs that only suppressed reports have. The same ID may be in another column of a public report.
  hidden_ids constant text[] := array(
    select listed.id
    from unnest(array[1, 2]) as column_number
    cross join lateral (
      select hidden_reports.ids[column_number] as id
      from (select array[general.auditee_uei, general.auditee_ein] as ids from suppressed.general) as hidden_reports
      where hidden_reports.ids[column_number] <> '' and not exists (
        select from disclosed.general where general.report_id = hidden_reports.ids[column_number]
        union all
        select from disclosed.general where general.auditee_uei = hidden_reports.ids[column_number]
        union all
        select from disclosed.general where general.auditee_ein = hidden_reports.ids[column_number]
        union all
        select from disclosed.additional_ueis where additional_ueis.additional_uei = hidden_reports.ids[column_number]
        union all
        select from disclosed.additional_eins where additional_eins.additional_ein = hidden_reports.ids[column_number]
      )
      limit 10
    ) as listed
  );
begin
  if exists (select from unnest(hidden) as report_id where publication.is_public_report(report_id)) then
    return next 'publication.is_public_report() returns true for suppressed reports, so anyone could download their PDFs.';
  end if;
  if publication.search_reports(jsonb_build_array(jsonb_build_object('report_ids', hidden))) ->> 'chosen' is not null then
    return next 'publication.search_reports() finds suppressed reports, so the pages would show them.';
  end if;
  -- 1,000 at a time.
  if exists (
    select
    from generate_series(1, cardinality(hidden), 1000) as first
    cross join lateral publication.check_reports(hidden[first:first + 999])
  ) or exists (select from publication.check_reports(hidden_ids)) then
    return next 'publication.check_reports() finds suppressed reports, so the pages would show them.';
  end if;
  if exists (
    select
    from generate_series(1, cardinality(hidden), 1000) as first
    where publication.list_successors(hidden[first:first + 999]) <> '[]'
  ) or exists (
    select
    from jsonb_to_recordset(publication.list_successors(array(
      select resubmission.previous_report_id from suppressed.resubmission
      where resubmission.previous_report_id is not null limit 1000
    ))) as successors (successor_id text)
    where successors.successor_id = any (hidden)
  ) then
    return next 'publication.list_successors() knows what suppressed reports replace, or what replaces them, so the pages would show it.';
  end if;
  if exists (select from unnest(hidden) as report_id where publication.describe_report(report_id) is not null) then
    return next 'publication.describe_report() returns suppressed reports, so the pages would show them.';
  end if;
  if exists (select from unnest(hidden) as report_id where publication.list_report_rows(report_id, 'federal_awards') is not null) then
    return next 'publication.list_report_rows() returns rows of suppressed reports, so the pages would show them.';
  end if;
  if exists (select from unnest(hidden_ids) as id where publication.describe_auditee(id) is not null) then
    return next 'publication.describe_auditee() knows auditees that have only suppressed reports, so the pages would show them.';
  end if;
  -- IDs that differ from a hidden one in the last character, or in the order of the first two.
  if exists (
    select
    from (select id from unnest(hidden_ids) as id where id ~ '^([A-Z0-9]{12}|\d{9})$') as hidden_id
    cross join lateral (
      values
        (overlay(hidden_id.id placing case when right(hidden_id.id, 1) = '0' then '1' else '0' end from length(hidden_id.id))),
        (overlay(hidden_id.id placing reverse("left"(hidden_id.id, 2)) from 1))
    ) as mistyped (id)
    cross join lateral jsonb_to_recordset(publication.suggest_ids(array[mistyped.id])) as suggested (similar_id text)
    where suggested.similar_id = any (hidden_ids)
  ) then
    return next 'publication.suggest_ids() returns UEIs or EINs that only suppressed reports have, so the pages would show them.';
  end if;
  if exists (
    select
    from (
      (
        select auditee_name from suppressed.general
        except (select auditee_name from disclosed.general union all select auditor_firm_name from disclosed.general)
        limit 10
      )
      union all
      (
        select auditor_firm_name from suppressed.general
        except (select auditee_name from disclosed.general union all select auditor_firm_name from disclosed.general)
        limit 10
      )
    ) as hidden_names (name)
    where publication.suggest_names(hidden_names.name) ? hidden_names.name
  ) then
    return next 'publication.suggest_names() returns names that only suppressed reports have, so the pages would show them.';
  end if;
  if exists (
    select
    from (
      select 'auditee' as kind, names.auditee_name as name
      from (select auditee_name from suppressed.general except select auditee_name from disclosed.general limit 10) as names
      union all
      select 'auditor', names.auditor_firm_name
      from (select auditor_firm_name from suppressed.general except select auditor_firm_name from disclosed.general limit 10) as names
    ) as hidden_names
    cross join lateral jsonb_array_elements(publication.list_named_ids(hidden_names.kind, hidden_names.name) -> 'ids') as named
    where named ->> 'name' = hidden_names.name
      or named ->> 'id' not in (
        select general.auditee_uei from disclosed.general where general.auditee_uei = named ->> 'id'
        union all
        select general.auditee_ein from disclosed.general where general.auditee_ein = named ->> 'id'
        union all
        select general.auditor_ein from disclosed.general where general.auditor_ein = named ->> 'id'
      )
  ) then
    return next 'publication.list_named_ids() knows names or IDs of suppressed reports, so the pages would show them.';
  end if;
  if publication.search_findings(jsonb_build_object('report_ids', hidden)) ->> 'total' <> '0' then
    return next 'publication.search_findings() finds suppressed reports, so the pages would show them.';
  end if;
  if json_array_length(publication.export_findings(jsonb_build_object('report_ids', hidden))) > 0 then
    return next 'publication.export_findings() returns suppressed reports, so the pages would hand them out.';
  end if;
  if exists (
    select from jsonb_each(publication.describe_findings(jsonb_build_object('report_ids', hidden))) as part where part.value not in ('[]', 'null', '0')
  ) then
    return next 'publication.describe_findings() counts findings of suppressed reports, so the pages would show them.';
  end if;
  -- The longest words of some texts. Few other texts have them, so searching for them is fast.
  if exists (
    select
    from (
      select distinct words.lexeme
      from (
        select texts.finding_text from suppressed.findings_text as texts
        where texts.report_id = any (hidden)
        limit 3
      ) as texts
      cross join lateral (
        select lexeme from unnest(extensions.text_words(texts.finding_text)) order by length(lexeme) desc limit 3
      ) as words
    ) as hidden_words
    cross join lateral publication.words_query(hidden_words.lexeme) as query
    where publication.count_findings_with(hidden_words.lexeme) > 0
      and not exists (
        select from disclosed.finding_summaries as findings where findings.text_words @@ query or findings.plan_words @@ query
      )
  ) then
    return next 'publication.count_findings_with() counts findings of suppressed reports, so the pages would show them.';
  end if;
  return query select publication.find_group_leaks();
  return query select publication.find_change_leaks(hidden);
  return query select publication.find_neighbor_leaks(hidden);
end
$$;

-- Programs are compared with their totals, which find_total_leaks() compares with the public rows.
create or replace function publication.find_group_leaks()
returns setof text
language plpgsql stable security invoker
as $$
declare
  totals constant jsonb := publication.describe_totals();
begin
  if (
    select row(count(*), sum((programs ->> 'awards')::bigint), sum((programs ->> 'findings')::bigint))::text
    from jsonb_array_elements(publication.describe_programs(null, null, 0, null) -> 'programs') as programs
  ) <> (
    select row(count(distinct coalesce(totals.aln, '')), sum(totals.awards), sum(totals.findings))::text
    from disclosed.totals_by_program as totals
  ) then
    return next 'publication.describe_programs() counts other awards than the public ones.';
  end if;
  if (
    select coalesce(sum((program ->> 'findings')::bigint), 0)
    from jsonb_array_elements(publication.describe_program_years(null, null, 0, null) -> 'programs') as program
  ) <> (
    -- Programs without findings have totals, but are not among those programs.
    select coalesce(sum(totals.findings), 0)
    from disclosed.totals_by_program as totals
    where totals.aln is not null and totals.audit_year in (
      select jsonb_array_elements_text(publication.describe_program_years(null, null, 0, 0) -> 'years')
    )
  ) then
    return next 'publication.describe_program_years() counts other findings than the public ones.';
  end if;
  if exists (
    select
    from (
      select
        awards.federal_program_name,
        min(awards.federal_agency_prefix || '.' || awards.federal_award_extension) as aln
      from suppressed.federal_awards as awards
      where awards.federal_program_name <> '' group by awards.federal_program_name
      order by count(*)
      limit 3
    ) as hidden_names
    cross join lateral jsonb_to_recordset(
      publication.search_programs(hidden_names.federal_program_name) || publication.suggest_programs(hidden_names.federal_program_name)
      || coalesce(publication.name_programs(array[hidden_names.aln]), '[]')
    ) as found (aln text, federal_program_name text, awards bigint)
    where not exists (
      select from disclosed.totals_by_program as totals
      where totals.aln = found.aln
      having any_value(totals.federal_program_name) is not distinct from found.federal_program_name and sum(totals.awards) = found.awards
    )
  ) then
    return next 'publication.search_programs(), suggest_programs() or name_programs() finds programs of suppressed reports, or counts their awards.';
  end if;
  if exists (
    select
    from (
      select distinct "left"(awards.federal_agency_prefix || '.' || awards.federal_award_extension, 6) as aln
      from suppressed.federal_awards as awards
    ) as hidden
    cross join lateral jsonb_to_recordset(publication.list_related_programs(hidden.aln)) as related (aln text, findings bigint)
    where related.findings is distinct from (
      select sum(totals.findings) from disclosed.totals_by_program as totals where totals.aln = related.aln
    )
  ) then
    return next 'publication.list_related_programs() knows numbers of suppressed reports, or counts their findings.';
  end if;
  if (totals ->> 'newest_submission')::date is distinct from (select max(general.fac_accepted_date) from disclosed.general) then
    return next 'publication.describe_totals() knows a newer report than the public ones.';
  end if;
end
$$;

-- A record of changes keeps the IDs of reports that were public once. Its names, and everything that a filter finds, must belong to
-- reports that are public now.
create or replace function publication.find_change_leaks(hidden text[])
returns setof text
language plpgsql stable security invoker
as $$
begin
  if exists (
    select
    from jsonb_to_recordset(publication.list_changes('{}')) as listed (number bigint, is_read boolean, counts jsonb)
    join publication.changes on changes.number = listed.number
    where listed.is_read
      and (listed.counts ->> 'added')::bigint + (listed.counts ->> 'changed')::bigint
      <> (select count(*) from disclosed.general where general.report_id = any (changes.added || changes.changed))
  ) then
    return next 'publication.list_changes() counts reports that are suppressed now, so the pages and feeds would show them.';
  end if;
  if exists (
    select
    from jsonb_array_elements(publication.describe_changes()) as listed
    cross join lateral jsonb_each(listed -> 'reports') as named (report_id, facts)
    join unnest(hidden) as hidden_id on hidden_id in (named.report_id, named.facts ->> 'replaces')
  ) then
    return next 'publication.describe_changes() describes or names suppressed reports, so the pages and feeds would show them.';
  end if;
  if exists (
    select from publication.changed_values as kept
    where not exists (select from disclosed.general where general.report_id = kept.report_id)
  ) then
    return next 'publication.changed_values keeps values of reports that are not public now.';
  end if;
end
$$;

-- If an auditee has public and suppressed reports, the public ones must not reveal the suppressed ones.
create or replace function publication.find_neighbor_leaks(hidden text[])
returns setof text
language plpgsql stable security invoker
as $$
begin
  return query
    with neighbors as materialized (
      select general.report_id, general.auditee_uei as id
      from disclosed.general
      where general.auditee_uei in (select hidden_reports.auditee_uei from suppressed.general as hidden_reports)
        and general.auditee_uei not in ('', 'GSA_MIGRATION')
      limit 10
    ), answers as (
      select 'describe_report' as name, publication.describe_report(neighbors.report_id) as answer from neighbors
      union all
      select 'describe_auditee', publication.describe_auditee(neighbors.id) from neighbors
      union all
      select 'check_reports', to_jsonb(checked)
      from neighbors
      cross join lateral publication.check_reports(
        array[neighbors.id],
        compared => array(
          select general.audit_year from disclosed.general where general.auditee_uei = neighbors.id
          union
          select general.audit_year from suppressed.general where general.auditee_uei = neighbors.id
        )
      ) as checked
      union all
      select 'search_reports', publication.search_reports(jsonb_build_array(jsonb_build_object('uei', neighbors.id))) from neighbors
      union all
      select 'search_findings', publication.search_findings(jsonb_build_object('auditee', neighbors.id)) from neighbors
    )
    select distinct format('publication.%s() names suppressed reports beside public ones, so the pages would show them.', answers.name)
    from answers
    cross join lateral jsonb_path_query(answers.answer, 'strict $.**.report_id') as named
    join unnest(hidden) as hidden_id on hidden_id = named #>> '{}'
    union all
    (
      select 'publication.check_reports() counts suppressed reports beside public ones, so the pages would show them.'
      from neighbors
      cross join lateral publication.check_reports(array[neighbors.id]) as checked
      where (checked.newest ->> 'reports')::bigint <> (
        select count(distinct general.report_id)
        from publication.list_reports_of(array[neighbors.id]) as found
        join disclosed.general on general.report_id = found.report_id
      )
      limit 1
    )
    union all
    (
      select 'publication.list_named_ids() counts suppressed reports beside public ones, so the pages would show them.'
      from (select distinct neighbors.id from neighbors) as neighbors
      join suppressed.general as hidden_reports on hidden_reports.auditee_uei = neighbors.id
      cross join lateral jsonb_to_recordset(publication.list_named_ids('auditee', hidden_reports.auditee_name) -> 'ids')
        as named (id text, reports bigint)
      where named.id = neighbors.id
        -- An auditee without a UEI is named by its EIN.
        and named.reports > (
          select count(*) from disclosed.general where general.auditee_uei = neighbors.id or general.auditee_ein = neighbors.id
        )
      limit 1
    );
end
$$;

create or replace function publication.find_leaks_in_generation(generation text, changed_rights text[])
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
  -- Reading a table runs its policies, and functions in its indexes, with this check's rights. So it is not read then.
  for leak in
    select changed
    from unnest(changed_rights) as changed
    where changed ~ format('^Unlisted: (publisher owns function|(policy|forced) .* on (disclosed|suppressed)%s\.)', generation)
  loop
    return next leak;
    return;
  end loop;
  for leak in select publication.find_memory_leaks(generation) loop
    return next leak;
    return;
  end loop;
  hidden := publication.find_hidden_reports(generation);
  return query select publication.find_row_leaks(generation, hidden);
  return query select publication.find_total_leaks(generation);
  return query select publication.find_chain_leaks(generation);
  if generation = '' then
    return query select publication.find_report_service_leaks(hidden);
  end if;
end
$$;

-- Reads every row, which takes seconds. Requests must not wait for it, so a deployment or a publication calls it before they do.
create or replace function publication.find_leaks_in_rows(generation text)
returns setof text
language sql stable security definer
set search_path = '' set jit = off set plan_cache_mode = force_generic_plan
as $$
  select publication.find_leaks_in_generation(generation, array(select changed.leak from publication.find_changed_rights() as changed))
$$;

create or replace function publication.find_leaks(check_rows boolean, generation text default '')
returns setof text
language plpgsql volatile security definer
set search_path = '' set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  changed_rights constant text[] := array(select changed.leak from publication.find_changed_rights() as changed);
begin
  return query
    select found.leak
    from (
      select changed as leak
      from unnest(changed_rights) as changed
      -- A refresh replaces the live data set, whatever was granted on it, so what is wrong there does not refuse it.
      where generation = '' or changed !~ '\m(disclosed|suppressed)\M'
      union
      select tier_leak from publication.find_tier_leaks() as tier_leak
      union
      select row_leak from publication.find_leaks_in_generation(generation, changed_rights) as row_leak where check_rows
    ) as found
    -- The statements can run in this order.
    order by found.leak ~ ' Run: drop (view|materialized view|table|function|procedure) ', found.leak desc;
end
$$;
comment on function publication.find_leaks is
  'Returns one sentence per leak: each right that differs from the list in db/contracts/rights.txt, as the last deployment recorded it, and each way in which rows of suppressed submissions would be shown.';
grant execute on function publication.find_leaks, publication.find_leaks_in_rows to publisher;
grant execute on function publication.find_changed_rights, publication.find_rights, publication.find_schemas to deployment_planner;
