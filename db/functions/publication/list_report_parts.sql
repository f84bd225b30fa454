-- The tables that refer to general, except findings and their texts: publication.list_findings() joins those. A table has at most
-- 50 rows and about 50 kB here.
create or replace function publication.list_report_parts(asked_report_id text)
returns jsonb
language plpgsql stable security invoker set search_path = ''
as $$
declare
  child record;
  described jsonb := '{}';
  total bigint;
  listed jsonb;
begin
  for child in
    select
      pg_class.relname as name,
      case pg_class.relname when 'federal_awards' then 'source.amount_expended desc nulls last, source.award_reference' else 'source.ctid' end as place
    from pg_catalog.pg_constraint
    join pg_catalog.pg_class on pg_class.oid = pg_constraint.conrelid
    where pg_constraint.contype = 'f' and pg_constraint.confrelid = 'disclosed.general'::regclass
      and pg_class.relname not in ('findings', 'findings_text', 'corrective_action_plans')
  loop
    execute format(
      'select (select count(*) from disclosed.%1$I as source where source.report_id = $1), ('
      'select jsonb_agg(to_jsonb(sized.source) order by sized.place) filter (where sized.bytes < 50000 or sized.place = 1) from ('
      'select listed.source, listed.place, sum(length(listed.source::text)) over (order by listed.place) as bytes from ('
      'select source, row_number() over (order by %2$s) as place from disclosed.%1$I as source where source.report_id = $1'
      ' order by %2$s limit 50) as listed) as sized)', child.name, child.place
    ) into total, listed using asked_report_id;
    if total > 0 then
      described := described || jsonb_build_object(child.name, jsonb_build_object('total', total, 'rows', coalesce(listed, '[]')));
    end if;
  end loop;
  return described;
end
$$;
comment on function publication.list_report_parts is
  'Returns the first rows of a public report by table, the largest awards first, and how many rows there are in each table.';
