-- The files split long texts over rows.
create or replace function publication.join_texts(asked_report_id text, number text, longest integer)
returns jsonb
language sql stable security invoker set search_path = ''
as $$
  select jsonb_build_object(
    'finding_text', (
      select publication.shorten_text(string_agg(parts.finding_text, '' order by parts.row_number), longest)
      from disclosed.findings_text as parts
      where parts.report_id = asked_report_id and parts.finding_ref_number = number
    ),
    'planned_action', (
      select publication.shorten_text(string_agg(parts.planned_action, '' order by parts.row_number), longest)
      from disclosed.corrective_action_plans as parts
      where parts.report_id = asked_report_id and parts.finding_ref_number = number
    )
  )
$$;
comment on function publication.join_texts is
  'Returns a public finding''s text and its plan. A text that was cut ends with a note that says so.';
