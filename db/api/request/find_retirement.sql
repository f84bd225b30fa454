-- What an answer of a version that is to be removed says about it: Deprecation (RFC 9745), Sunset (RFC 8594), Link.
create function request.find_retirement(profile text)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select coalesce(
    (
      select jsonb_build_array(
        jsonb_build_object('Deprecation', '@' || extract(epoch from retired_versions.deprecated_at)::bigint),
        jsonb_build_object('Sunset', to_char(
          retired_versions.sunset_at at time zone 'UTC', 'Dy, DD Mon YYYY HH24:MI:SS "GMT"'
        )),
        jsonb_build_object('Link', format(
          '<%1$s>; rel="deprecation"; type="text/html", <%1$s>; rel="sunset"; type="text/html"',
          retired_versions.link
        ))
      )
      from deployment.retired_versions
      where retired_versions.deprecated_at <= now()
        and retired_versions.version = substring(
          -- Who names no version gets the oldest.
          coalesce(nullif(profile, ''), (
            select pg_namespace.nspname
            from pg_catalog.pg_namespace
            where pg_namespace.nspname ~ '^api_v[0-9]+(_[0-9]+)*$'
              and pg_namespace.nspowner = (select request.nspowner from pg_catalog.pg_namespace as request where request.nspname = 'request')
            order by string_to_array(substring(pg_namespace.nspname from 'api_v(.+)$'), '_')::integer[]
            limit 1
          ))
          from 'api_(v.+)$'
        )
    ),
    '[]'
  )
$$;
comment on function request.find_retirement is
  'The headers Deprecation, Sunset and Link of a version that is to be removed, as PostgREST takes them; none of any other.';
grant execute on function request.find_retirement to gateway;
