-- People type a wrong character, swap two neighbors, or leave out or add a character. About 400 IDs differ from a UEI in one of these ways,
-- and 90 from an EIN. No index finds similar IDs, so each of them is looked up. UEIs have no letters O and I, so several of these letters
-- count as one mistake.
--
-- The EINs of governments follow one another, so many of them differ in one digit. If more than three IDs are similar, only those with swapped
-- neighbors are likely to be meant.
--
-- Reads only public tables, so an ID that only suppressed reports have looks like an unknown one, and costs as much. An ID is known if
-- publication.list_reports_of() finds reports for it.
create or replace function publication.suggest_ids(ids text[])
returns jsonb
language sql stable strict security definer
set search_path = ''
as $$
  with unknown as materialized (
    select asked.id, asked.place
    from unnest(ids[:1000]) with ordinality as asked (id, place)
    where not exists (
      select from disclosed.general where general.report_id = asked.id
      union all
      select from disclosed.general where general.auditee_uei = asked.id
      union all
      select from disclosed.general where general.auditee_ein = asked.id
      union all
      select from disclosed.additional_ueis where additional_ueis.additional_uei = asked.id
      union all
      select from disclosed.additional_eins where additional_eins.additional_ein = asked.id
    )
  ), mistyped as materialized (
    select
      unknown.id,
      case when unknown.id ~ '^\d{8,10}$' then '0123456789' else '0123456789ABCDEFGHJKLMNPQRSTUVWXYZ' end as alphabet,
      case when unknown.id ~ '^\d{8,10}$' then 9 else 12 end as size
    from unknown
    where unknown.id ~ '^([A-Z0-9]{11,13}|\d{8,10})$'
    order by unknown.place
    limit 20
  ), candidates as materialized (
    -- A letter in the place of one, of none (if the ID is too short), or of itself and a neighbor (if it is too long).
    select distinct
      mistyped.id,
      overlay(mistyped.id placing letter from place for 1 + length(mistyped.id) - mistyped.size) as similar_id,
      false as is_swap
    from mistyped
    cross join lateral generate_series(1, mistyped.size) as place
    cross join lateral regexp_split_to_table(mistyped.alphabet, '') as letter
    where length(mistyped.id) <= mistyped.size or letter in (substr(mistyped.id, place, 1), substr(mistyped.id, place + 1, 1))
    union all
    select mistyped.id, overlay(mistyped.id placing reverse(substr(mistyped.id, first, 2)) from first), true
    from mistyped
    cross join lateral generate_series(1, length(mistyped.id) - 1) as first
    where length(mistyped.id) = mistyped.size and substr(mistyped.id, first, 1) <> substr(mistyped.id, first + 1, 1)
    union all
    select mistyped.id, translate(mistyped.id, 'OI', '01'), false
    from mistyped
    where length(mistyped.id) = mistyped.size and mistyped.id ~ '[OI].*[OI]'
  ), similar_ids as (
    select
      candidates.*,
      named.auditee_name,
      count(*) over (partition by candidates.id) as number,
      row_number() over (partition by candidates.id order by candidates.is_swap desc, candidates.similar_id) as place
    from candidates
    cross join lateral (
      (
        select general.auditee_name
        from disclosed.general
        where general.auditee_uei = candidates.similar_id and length(candidates.similar_id) = 12
        order by general.report_id desc
        limit 1
      )
      union all
      (
        select general.auditee_name
        from disclosed.general
        where general.auditee_ein = candidates.similar_id and length(candidates.similar_id) = 9
        order by general.report_id desc
        limit 1
      )
    ) as named
  )
  select coalesce(
    jsonb_agg(
      jsonb_build_object(
        'id', unknown.id, 'similar_id', similar_ids.similar_id, 'auditee_name', similar_ids.auditee_name
      )
      order by unknown.place, similar_ids.place
    ),
    '[]'
  )
  from unknown
  left join similar_ids
    on similar_ids.id = unknown.id and similar_ids.place <= 3 and (similar_ids.is_swap or similar_ids.number <= 3)
$$;
comment on function publication.suggest_ids is
  'Returns those of the first 1,000 UEIs, EINs and report IDs that no public report has, in their order. The first 20 UEIs and EINs of these come with up to three UEIs or EINs of auditees of public reports that differ from them by one wrong, extra or missing character or two swapped neighbors, and with the auditees'' names in the newest report.';
grant execute on function publication.suggest_ids to site;
