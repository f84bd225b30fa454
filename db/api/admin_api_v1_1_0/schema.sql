comment on schema admin_api_v1_1_0 is 'Access to suppressed reports, version 1.1.0

For reports that an Indian tribe or tribal organization opted not to make public (2 CFR 200.512(b)(2)). Needs an API key with Tribal access.';
-- There is no grant to api_public, so request.decide() answers 401 to keys without Tribal access.
grant usage on schema admin_api_v1_1_0 to api_tribal;
