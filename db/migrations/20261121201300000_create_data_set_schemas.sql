-- The schemas of the live data set. publisher owns them and replaces their tables and views, which db/data_set defines.
-- Lock level: none on tables.

create schema disclosed authorization publisher;
comment on schema disclosed is 'The live data set: rows of public submissions, and report IDs of suppressed ones.';
create schema suppressed authorization publisher;
comment on schema suppressed is 'The live data set: rows of suppressed submissions (2 CFR 200.512(b)(2)).';
create schema dissemination authorization publisher;
comment on schema dissemination is 'One view per table of the live data set. For a suppressed submission, callers without Tribal access see only general.report_id and general.is_public.';
grant usage on schema disclosed, suppressed, dissemination to api_public, api_tribal;
-- The API's views read dissemination, whose views read disclosed and suppressed with the rights of the caller.
grant usage on schema dissemination to api_owner;
