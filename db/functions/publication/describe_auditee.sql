-- It reads only public tables, so an auditee with only suppressed reports is like an unknown one.
create or replace function publication.describe_auditee(asked_id text)
returns jsonb
language plpgsql stable strict security definer set search_path = ''
as $$
declare
  own text[];
  newest text[];
  additional text[];
begin
  own := array(select publication.list_auditee_reports(asked_id));
  additional := array(
    select additional_ueis.report_id from disclosed.additional_ueis where additional_ueis.additional_uei = asked_id
    union
    select additional_eins.report_id from disclosed.additional_eins where additional_eins.additional_ein = asked_id
    limit 100
  );
  if own || additional = '{}' then
    return null;
  end if;
  newest := array(
    select general.report_id
    from disclosed.general
    where general.report_id = any (own)
    order by general.audit_year desc nulls last, general.fac_accepted_date desc, general.report_id desc
    limit 100
  );
  return jsonb_build_object(
    'reports', (
      select coalesce(
        jsonb_agg(
          (to_jsonb(listed) - 'result') || listed.result
          order by listed.audit_year desc nulls last, listed.fac_accepted_date desc, listed.report_id desc
        ),
        '[]'
      )
      from (
        select
          general.report_id, general.audit_year, general.fy_start_date, general.fy_end_date, general.fac_accepted_date,
          general.audit_period_covered, general.resubmission_version, general.auditee_name, general.auditee_uei, general.auditee_ein, general.auditee_city,
          general.auditee_state, general.entity_type, general.total_amount_expended, general.auditor_firm_name, general.auditor_ein,
          described.result,
          described.counts,
          case
            when (described.counts ->> 'findings')::bigint > 0 then publication.decision_due(general.fac_accepted_date)
          end as management_decision_due,
          compared.peers,
          case
            when compared.peers is null then publication.choose_newest_peers(general.entity_type, general.total_amount_expended)
          end as newest_peers,
          (
            select to_jsonb(sizes) from publication.list_sizes() as sizes
            where general.total_amount_expended >= sizes.expended_from
              and (general.total_amount_expended < sizes.expended_to or sizes.expended_to is null)
          ) as size
        from disclosed.general
        join publication.describe_results(newest) as described on described.report_id = general.report_id
        cross join lateral (
          select publication.compare_with_peers(
            general.audit_year, general.entity_type, general.total_amount_expended, (described.counts ->> 'findings')::bigint
          )
        ) as compared (peers)
      ) as listed
    ),
    'additional', (
      select coalesce(jsonb_agg(to_jsonb(listed) order by listed.audit_year desc nulls last, listed.report_id desc), '[]')
      from (
        select general.report_id, general.audit_year, general.auditee_name, general.auditee_uei
        from disclosed.general
        where general.report_id = any (additional) and general.report_id <> all (own)
        order by general.audit_year desc nulls last, general.report_id desc
        limit 100
      ) as listed
    )
  );
end
$$;
comment on function publication.describe_auditee is
  'Returns the public reports of the auditee with a UEI or EIN, newest first, with their findings compared with those of its peers, and the reports in which it is an additional UEI or EIN. Returns null if there are none.';
grant execute on function publication.describe_auditee to site;
