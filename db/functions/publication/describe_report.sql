-- It reads only public tables: general, and those that refer to it. A table has at most 1,000 rows and about 1 MB here.
create or replace function publication.describe_report(asked_report_id text)
returns jsonb
language plpgsql stable strict security definer set search_path = ''
as $$
declare
  child record;
  described jsonb;
  total bigint;
  listed jsonb;
begin
  select jsonb_build_object('general', jsonb_build_object('total', 1, 'rows', jsonb_build_array(to_jsonb(general))))
  into described
  from disclosed.general
  where general.report_id = asked_report_id;
  if described is null then
    return null;
  end if;
  for child in
    select pg_class.relname as name
    from pg_catalog.pg_constraint
    join pg_catalog.pg_class on pg_class.oid = pg_constraint.conrelid
    where pg_constraint.contype = 'f' and pg_constraint.confrelid = 'disclosed.general'::regclass
  loop
    execute format(
      'select (select count(*) from disclosed.%1$I as source where source.report_id = $1), ('
      'select jsonb_agg(to_jsonb(sized.source) order by sized.place) filter (where sized.bytes < 1000000) from ('
      'select listed.source, listed.place, sum(length(listed.source::text)) over (order by listed.place) as bytes from ('
      'select source, source.ctid as place from disclosed.%1$I as source where source.report_id = $1 order by source.ctid limit 1000'
      ') as listed) as sized)', child.name
    ) into total, listed using asked_report_id;
    if total > 0 then
      described := described || jsonb_build_object(child.name, jsonb_build_object('total', total, 'rows', coalesce(listed, '[]')));
    end if;
  end loop;
  return described;
end
$$;
comment on function publication.describe_report is
  'Returns the rows of a public report by table, in the order of the files, and how many there are of each. Returns null if the report is suppressed, superseded or unknown.';
grant execute on function publication.describe_report to report_service, site;
