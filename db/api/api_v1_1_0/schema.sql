create schema api_v1_1_0;
comment on schema api_v1_1_0 is 'Single Audit data, version 1.1.0

Audits of federal awards under 2 CFR part 200, subpart F, as submitted to the Federal Audit Clearinghouse. Read-only. At most 20,000 rows a request; page with limit and offset, and send If-Match with the first page''s ETag to be sure that all pages come from one data set.';
grant usage on schema api_v1_1_0 to api_public, api_tribal;
