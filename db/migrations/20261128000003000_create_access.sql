-- The schema access, and what its tables share: the type for email addresses.
-- Lock level: none on tables.

create schema access;
comment on schema access is
  'Who may see what: tiers, Tribal agreements, API keys and one-time access tokens, and logs of changes and downloads.';

grant usage on schema access to api_tribal, key_operator, report_service, publisher, deployment_planner;

create domain access.email_address as text
constraint email_address_is_well_formed check (
  length(value) <= 254
  and value ~* '^[^][:space:][:cntrl:]@"(),:;<>\\.[]+(\.[^][:space:][:cntrl:]@"(),:;<>\\.[]+)*@([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]*[a-z0-9])?$'
);
comment on domain access.email_address is
  'An email address with a domain. Quoted local parts and bare host names are not accepted.';
