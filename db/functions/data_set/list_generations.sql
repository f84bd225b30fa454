create or replace function data_set.list_generations()
returns text[]
language sql stable security invoker set search_path = ''
as $$
  select case when to_regnamespace('disclosed_previous') is null then array[''] else array['_previous', ''] end
$$;
comment on function data_set.list_generations is
  'The suffixes of the schemas of the previous generation, if there is one, and of the live one. A generation that is being built adopts changes before it is published (data_set.adopt_shapes).';
grant execute on function data_set.list_generations to publisher, deployment_planner;
