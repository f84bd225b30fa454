-- What a deployment and a publication have left in the database, so that the next deployment sees what somebody has
-- changed since.
-- Lock level: new tables only.

create table deployment.catalogues (
  name text primary key,
  data_set_id uuid,
  queries text[] not null,
  parts jsonb not null,
  recorded_at timestamptz not null default now(),
  constraint catalogues_name_is_known check (name in ('deployment', 'data_set')),
  constraint catalogues_data_set_has_an_id check ((name = 'data_set') = (data_set_id is not null))
);
comment on table deployment.catalogues is
  'Everything that the project owns in this database, as the last deployment and the last publication left it.';
comment on column deployment.catalogues.data_set_id is 'Of which data set: publication.data_sets.id.';
comment on column deployment.catalogues.queries is 'The files of db/deployment by which it was read.';
comment on column deployment.catalogues.parts is
  'What they gave: [{"object", "part", "scope", "definition", "repair", "removal"}, …].';

grant select on deployment.migrations, deployment.api_schemas, deployment.catalogues to deployment_planner;

create function deployment.record_data_set()
returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  recorded_queries text[];
  query text;
  read_parts jsonb;
  all_parts jsonb := '[]';
begin
  select catalogues.queries into recorded_queries
  from deployment.catalogues where catalogues.name = 'deployment';
  -- The first deployment writes it down at its end.
  if not found then return; end if;

  foreach query in array recorded_queries loop
    execute format(
      'select coalesce(jsonb_agg(to_jsonb(catalogue)), ''[]'') from (%s) as catalogue where catalogue.scope = ''data_set''', query
    ) into read_parts;
    all_parts := all_parts || read_parts;
  end loop;

  insert into deployment.catalogues (name, data_set_id, queries, parts)
  select 'data_set', data_sets.id, recorded_queries, all_parts
  from publication.data_sets where data_sets.state = 'live'
  on conflict (name) do update
  set data_set_id = excluded.data_set_id, queries = excluded.queries, parts = excluded.parts, recorded_at = now();
end
$$;
comment on function deployment.record_data_set is
  'Writes down what the live data set is made of, right after its publication, so that db:deploy sees drift in it.';
revoke execute on function deployment.record_data_set from public;
grant usage on schema deployment to publisher, deployment_planner;
grant execute on function deployment.record_data_set to publisher;
