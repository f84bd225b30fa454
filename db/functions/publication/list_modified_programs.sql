create or replace function publication.list_modified_programs(asked_report_id text)
returns jsonb
language sql stable security invoker set search_path = ''
as $$
  select coalesce((select modified.programs from publication.count_modified_programs(array[asked_report_id]) as modified), '{}')
$$;
comment on function publication.list_modified_programs is
  'Returns, by letter, how many programs of a public report have a qualified or adverse opinion on compliance, or a disclaimer.';
