comment on schema api_v1_1_0 is 'Single Audit data, version 1.1.0

Audits of federal awards under 2 CFR part 200, subpart F, as submitted to the Federal Audit Clearinghouse. Migrated records come from the Census Bureau, and their report IDs contain CENSUS. Read-only. A request returns at most 20,000 rows. Page with limit and offset. To make sure that all pages come from the same data set, send If-Match with the first page''s ETag. Where a description says that a column may be empty, its value is "" or null. Values are published as submitted. Only keys, report IDs, and the format of dates, years and numbers are checked. Other formats, lists of values and relations between columns are what form SF-SAC asks for, and some reports differ.';
grant usage on schema api_v1_1_0 to api_public, api_tribal;

-- How embedding works, as in federal_awards?select=*,general(auditee_name).
--
-- PostgREST finds relationships by foreign keys. The views here have none, because they read a union of public and suppressed
-- rows. So the views' files end with functions that PostgREST calls computed relationships. The function's argument is the
-- view in the URL, and its name is the table to embed.
--
--   general(findings) returns setof general rows 1     findings?select=*,general(*)
--   findings(general) returns setof findings           general?select=*,findings(*)
--
-- With `rows 1`, PostgREST embeds an object instead of an array. The arguments have no names, so that PostgREST does not
-- offer the functions under /rpc.
--
-- Functions come in pairs, one for each direction, and both views must exist. request.embed_in_general() creates the pair of a
-- view with general. Deployments run this file, then general.sql, then the other files by name. Write other pairs in the file of
-- the view that comes later.
--
-- PostgreSQL must be able to inline each function. Otherwise, it calls the function for each row instead of joining. So write
-- language sql, stable, not strict, not security definer, and without `set`. The body stands in begin atomic … end, as in every
-- API function, so that PostgreSQL parses it at creation (docs/editing-views.md). The functions run with the caller's rights,
-- like the views. Grant execute on each, because default privileges in this database withhold it from public.
--
-- Functions that return a list end with `and request.limit_embedded_bytes(<bytes>)`. The argument is the approximate size of a row as
-- JSON, with the actual length of long texts, plus the size of a row that can be embedded in it as an object.
-- request/limit_embedded_bytes.sql has the limit.
--
-- PostgREST writes each embedded table as a lateral subquery with a limit, so rows keep their order when a request embeds.
