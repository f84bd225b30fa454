-- For the files of a version: lets a row of one view embed the rows of another view that have the same values in some columns.
--
-- columns: the columns of the embedded view. whole_columns: the columns of the other view, if their names differ.
-- bytes: for a list, an expression for the approximate size of an embedded row as JSON, with the actual length of long texts, plus the
-- size of a row that can be embedded in it as an object (request.limit_embedded_bytes). If it is null, PostgREST embeds one object.
--
-- PostgreSQL must be able to inline the function. Otherwise, it calls the function for each row instead of joining. So it is stable,
-- not strict, not security definer, and without `set`. Its argument has no name, so that PostgREST does not offer it under /rpc.
create function request.embed(
  embedded regclass,
  whole regclass,
  columns text[],
  bytes text,
  description text,
  whole_columns text[] default null
)
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  view_name name := (select pg_class.relname from pg_catalog.pg_class where pg_class.oid = embedded);
begin
  execute format(
    $sql$
      create function %1$s(%2$s) returns setof %1$s %3$s
      language sql stable
      begin atomic select %4$I.* from %1$s where %5$s; end;
      comment on function %1$s(%2$s) is %6$L;
      grant execute on function %1$s(%2$s) to api_public, api_tribal;
    $sql$,
    embedded, whole, case when bytes is null then 'rows 1' end, view_name,
    (
      select string_agg(format('%I.%I = $1.%I', view_name, pair.name, pair.whole_name), ' and ')
      from unnest(columns, coalesce(whole_columns, columns)) as pair (name, whole_name)
    ) || coalesce(' and request.limit_embedded_bytes(' || bytes || ')', ''),
    description
  );
end
$$;
comment on function request.embed is 'Creates the function through which a view embeds another.';
grant execute on function request.embed to api_owner;

-- For the files of a version: lets general embed the rows of a view that has a report_id, and each of these rows its report
-- (api_v1_1_0/schema.sql).
create function request.embed_in_general(view regclass, bytes text)
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  general constant regclass := regexp_replace(view::text, '\..*', '.general');
begin
  perform request.embed(general, view, '{report_id}', null, 'The report of a row.');
  perform request.embed(view, general, '{report_id}', bytes, 'The rows of a report.');
end
$$;
comment on function request.embed_in_general is 'Creates the two functions through which a view and general embed each other.';
grant execute on function request.embed_in_general to api_owner;
