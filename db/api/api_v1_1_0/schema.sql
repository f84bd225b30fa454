comment on schema api_v1_1_0 is 'Single Audit data, version 1.1.0

Audits of federal awards under 2 CFR part 200, subpart F, as submitted to the Federal Audit Clearinghouse. Migrated records come from the Census Bureau, and their report IDs contain CENSUS. Read-only. A request returns at most 20,000 rows. Page with limit and offset. To make sure that all pages come from the same data set, send If-Match with the first page''s ETag. Where a description says that a column may be empty, its value is "" or null. Values are published as submitted. Only keys, report IDs, and the format of dates, years and numbers are checked. Other formats, lists of values and relations between columns are what form SF-SAC asks for, and some reports differ.';
grant usage on schema api_v1_1_0 to api_public, api_tribal;

-- How embedding works, as in federal_awards?select=*,general(auditee_name).
--
-- PostgREST finds relationships by foreign keys. The views here have none, because they read a union of public and suppressed
-- rows. So the views' files end with calls of request.embed(), which creates what PostgREST calls a computed relationship: a
-- function whose argument is the view in the URL, and whose name is the table to embed.
--
--   general(findings) returns setof general rows 1     findings?select=*,general(*)
--   findings(general) returns setof findings           general?select=*,findings(*)
--
-- Relationships come in pairs, one for each direction, and both views must exist. request.embed_in_general() creates the pair of a
-- view with general. Deployments run this file, then general.sql, then the other files by name. Write other pairs in the file of
-- the view that comes later.
--
-- PostgREST writes each embedded table as a lateral subquery with a limit, so rows keep their order when a request embeds.
