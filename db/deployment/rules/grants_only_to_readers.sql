-- Only api_public and api_tribal get privileges: to read views, to run functions and to use schemas.

create or replace function publication.find_rule_grants_only_to_readers()
returns table (object text, rule text)
language sql stable security invoker
as $$
  select api_grants.object, case api_grants.grantee
      when 0 then format(
        '%s is granted to PUBLIC. Revoke it (revoke all on … from public). Grant only %s, to api_public or api_tribal.',
        api_grants.privilege_type, lower(api_grants.allowed)
      )
      else format(
        '%s is granted to %s%s. Revoke it. Grant only %s, to api_public or api_tribal, without grant option.',
        api_grants.privilege_type, api_grants.grantee::regrole, case when api_grants.is_grantable then ' with grant option' end,
        lower(api_grants.allowed)
      )
    end as rule
  from publication.find_api_grants() as api_grants
  where api_grants.grantee <> api_grants.owner and (
    api_grants.grantee = 0 or api_grants.privilege_type <> api_grants.allowed or api_grants.is_grantable
    or api_grants.grantee::regrole::text not in ('api_public', 'api_tribal')
  )
$$;
