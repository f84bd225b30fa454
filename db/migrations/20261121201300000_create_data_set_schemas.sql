-- The schemas of the published data set. They belong to the publisher, who replaces what is in them.
-- The tables and views are derived: db/data_set holds their definitions.
-- Lock level: none on tables.

create schema disclosed authorization publisher;
comment on schema disclosed is 'The live data set: rows of public submissions, and stubs of suppressed ones.';
create schema suppressed authorization publisher;
comment on schema suppressed is 'The live data set: rows of suppressed submissions (2 CFR 200.512(b)(2)).';
create schema dissemination authorization publisher;
comment on schema dissemination is 'Public and suppressed rows as one table each, for whoever may read them.';
grant usage on schema disclosed, suppressed, dissemination to api_public, api_tribal;
-- The API's views read dissemination. Whoever asks one of them reads disclosed and suppressed with their own rights.
grant usage on schema dissemination to api_owner;
