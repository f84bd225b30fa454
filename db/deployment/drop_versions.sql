-- Drops the API schemas.
do $$
declare
  schema_name text;
begin
  for schema_name in select served_schemas.name from publication.served_schemas order by served_schemas.place loop
    execute format('drop schema %I cascade', schema_name);
  end loop;
end
$$;
