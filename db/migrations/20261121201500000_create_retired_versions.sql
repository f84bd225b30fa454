-- Which versions of the API are to be removed, and when. Durable state.
-- Lock level: new tables only.

create table deployment.retired_versions (
  version text primary key,
  deprecated_at timestamptz not null,
  sunset_at timestamptz not null,
  link text not null,
  constraint retired_versions_version_has_the_form check (version ~ '^v[0-9]+(_[0-9]+)*$'),
  constraint retired_versions_sunset_comes_later check (sunset_at > deprecated_at),
  constraint retired_versions_link_is_an_address check (link ~ '^https?://[^\s<>"]+$')
);
comment on table deployment.retired_versions is
  'Versions of the API that are to be removed. Their answers say so; a deployment may remove them after the sunset.';
comment on column deployment.retired_versions.version is 'As in the schema''s name: v1_1_0.';
comment on column deployment.retired_versions.deprecated_at is 'From when answers say it (header Deprecation, RFC 9745).';
comment on column deployment.retired_versions.sunset_at is 'Until when it is served at least (header Sunset, RFC 8594).';
comment on column deployment.retired_versions.link is 'Page that says why, and how to move on (header Link).';
-- request.find_retirement() reads it with its owner's rights.
grant select on deployment.retired_versions to deployment_planner;
