-- A role for the site's own process, which serves pages and bulk files. It may read what the pages show, and cannot redeem tokens.
-- Until a deployment sets its password, nobody can log in as it.
-- Lock level: none on tables.

do $$
begin
  if not exists (select from pg_catalog.pg_roles where rolname = 'site') then
    create role site;
  end if;
  execute format('grant connect on database %I to site', current_database());
end
$$;
comment on role site is 'Single Audit API: The site logs in as this role, if it has a process of its own.';
alter role site with login;

grant usage on schema publication to site;
grant select on publication.served_schemas, publication.view_keys to site;
grant execute on function
  publication.describe_api, publication.describe_changes, publication.describe_programs, publication.describe_service,
  publication.describe_totals, publication.is_switched_on, publication.live_data_set, publication.search_reports
to site;
