create or replace function publication.list_modified_programs(asked_report_id text)
returns jsonb
language sql stable security invoker set search_path = ''
as $$
  select coalesce(jsonb_object_agg(modified.audit_report_type, modified.programs), '{}')
  from (
    select
      awards.audit_report_type,
      count(distinct (awards.federal_agency_prefix, awards.federal_award_extension)) as programs
    from disclosed.federal_awards as awards
    where awards.report_id = asked_report_id and awards.audit_report_type in ('Q', 'A', 'D')
    group by awards.audit_report_type
  ) as modified
$$;
comment on function publication.list_modified_programs is
  'Returns, by letter, how many programs of a public report have a qualified or adverse opinion on compliance, or a disclaimer.';
