-- Response headers of a version that will be removed: Deprecation (RFC 9745), Sunset (RFC 8594), Link.
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
        and retired_versions.version = (
          select served_schemas.version
          from publication.served_schemas
          -- Clients that do not name a version get the first one.
          where served_schemas.name = profile or (coalesce(profile, '') = '' and served_schemas.place = 1)
        )
    ),
    '[]'
  )
$$;
comment on function request.find_retirement is
  'The headers Deprecation, Sunset and Link of a version that will be removed, in PostgREST''s format; [] for other versions.';
grant execute on function request.find_retirement to gateway;
