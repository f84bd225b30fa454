-- Records that a data set is live. Runs in the transaction that makes it live: a refresh or a rollback.

-- From now on, request.decide() does not refuse requests. PostgREST need not reload its schema cache, because the views that
-- it serves, and their columns, stay the same.
update disclosed.data_set set published_at = data_sets.published_at
from publication.data_sets
where data_sets.id = data_set.id and data_sets.state = 'live';

-- Which reports have public rows that differ from those in the previous data set. A superseded report that is current again is changed,
-- not added, because the one that replaced it may have been suppressed.
insert into publication.changes (from_data_set, to_data_set, added, changed, removed)
select
  previous.id,
  live.id,
  coalesce(array_agg(report_id order by report_id) filter (where is_there and not was_known), '{}'),
  coalesce(array_agg(report_id order by report_id) filter (where is_there = was_there or is_there and was_known), '{}'),
  coalesce(array_agg(report_id order by report_id) filter (where was_there and not is_there), '{}')
from publication.data_sets as previous
join publication.data_sets as live on live.state = 'live'
left join (
  select
    report_id,
    old.fingerprint is not null as was_known,
    coalesce(old.is_in_general, false) as was_there,
    coalesce(new.is_in_general, false) as is_there
  from disclosed_previous.fingerprints as old
  full join disclosed.fingerprints as new using (report_id)
  where old.fingerprint is distinct from new.fingerprint
) as compared on true
-- The first data set has no previous one, so it lists no reports.
where previous.state = 'previous'
group by previous.id, live.id;
delete from publication.changes where number <= (select max(number) - 100 from publication.changes);

-- Which parts of the changed reports differ. Resubmissions and reports that are current again count as "other", with contacts and dates,
-- because a chain also changes if a member of it is suppressed.
do $$
declare
  ids text[];
  parts text[];
begin
  select changes.changed into ids from publication.changes where changes.published_at = now();
  if ids is null or cardinality(ids) not between 1 and 10000 then
    return;
  end if;
  execute (
    select format(
      $query$
        with found as (
          select
            new.report_id,
            case
              when columns.key ~ '^(gaap_results|sp_framework|is_(sp_framework|going_concern|internal_control|material_noncompliance))' then 'opinions'
              when columns.key = 'total_amount_expended' then 'amount'
              when columns.key in ('auditor_firm_name', 'auditor_ein', 'is_secondary_auditors') then 'auditor'
              when columns.key in ('auditee_name', 'auditee_uei', 'auditee_ein', 'entity_type', 'is_additional_ueis', 'is_multiple_eins')
                then 'auditee'
              else 'other'
            end as part
          from disclosed.general as new
          join disclosed_previous.general as old on old.report_id = new.report_id
          -- "offset 0" keeps PostgreSQL from building the old row again for each column.
          cross join lateral (select to_jsonb(old) as row offset 0) as was
          cross join jsonb_each(to_jsonb(new)) as columns
          where new.report_id = any ($1) and columns.value is distinct from was.row -> columns.key
          %s
        )
        select array(
          select coalesce(string_agg(distinct found.part, ',' order by found.part), 'other')
          from unnest($2) with ordinality as listed (report_id, place)
          left join found using (report_id)
          group by listed.place
          order by listed.place
        )
      $query$,
      string_agg(format(
        'union all select report_id, %L from (%s) as old full join (%s) as new using (report_id) where old.hash is distinct from new.hash',
        case
          when tables.name = 'findings' then 'findings'
          when tables.name in ('findings_text', 'corrective_action_plans') then 'texts'
          when tables.name in ('federal_awards', 'passthrough') then 'awards'
          when tables.name = 'notes_to_sefa' then 'notes'
          when tables.name = 'secondary_auditors' then 'auditor'
          when tables.name in ('additional_ueis', 'additional_eins') then 'auditee'
          else 'other'
        end,
        hashed.queries[1], hashed.queries[2]
      ), ' ')
    )
    from data_set.tables
    cross join lateral (
      select array_agg(
        format(
          'select source.report_id, sum(hash_record_extended(row(%s), 0)) as hash from %s as source'
          ' where source.report_id = any ($1) group by source.report_id',
          (
            select string_agg(format('source.%I', columns.name), ', ' order by columns.place)
            from data_set.list_columns(sides.name::regclass) as columns
            where columns.name <> 'row_number'
          ),
          sides.name
        )
        order by sides.place
      ) as queries
      from unnest(array['disclosed_previous.' || tables.name, 'disclosed.' || tables.name]) with ordinality as sides (name, place)
    ) as hashed
    where tables.is_source and tables.name <> 'general'
  ) into parts
  using array(select report_id from disclosed_previous.general where report_id = any (ids)), ids;
  update publication.changes set changed_parts = parts where changes.published_at = now();
end
$$;

-- The old and new values of the columns that people read. Those of contacts and resubmissions are left out, so that nobody can tell whether
-- "other" means that a chain changed.
insert into publication.changed_values (number, report_id, changed_values)
select found.number, found.report_id, jsonb_object_agg(found.name, jsonb_build_object('old', found.old_value, 'new', found.new_value))
from (
  select
    changes.number, new.report_id, columns.name, "left"(was.row ->> columns.name, 200) as old_value,
    "left"(now_is.row ->> columns.name, 200) as new_value,
    row_number() over (partition by new.report_id order by columns.place) as rank
  from publication.changes
  join disclosed.general as new on new.report_id = any (changes.changed)
  join disclosed_previous.general as old on old.report_id = new.report_id
  -- "offset 0" keeps PostgreSQL from building the rows again for each column.
  cross join lateral (select to_jsonb(old) as row offset 0) as was
  cross join lateral (select to_jsonb(new) as row offset 0) as now_is
  cross join unnest(array[
    'auditee_name', 'gaap_results', 'sp_framework_opinions', 'is_internal_control_material_weakness_disclosed',
    'is_internal_control_deficiency_disclosed', 'is_material_noncompliance_disclosed', 'is_going_concern_included',
    'total_amount_expended', 'fac_accepted_date', 'fy_end_date', 'auditor_firm_name', 'auditor_ein', 'auditee_uei', 'auditee_ein',
    'entity_type', 'audit_year', 'auditee_city', 'auditee_state'
  ]) with ordinality as columns (name, place)
  where changes.published_at = now() and cardinality(changes.changed) <= 10000
    and was.row -> columns.name is distinct from now_is.row -> columns.name
) as found
where found.rank <= 10
group by found.number, found.report_id;
