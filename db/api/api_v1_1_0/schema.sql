comment on schema api_v1_1_0 is 'Single Audit data, version 1.1.0

Audits of federal awards under 2 CFR part 200, subpart F, as submitted to the Federal Audit Clearinghouse. Read-only. At most 20,000 rows a request; page with limit and offset, and send If-Match with the first page''s ETag to be sure that all pages come from one data set.';
grant usage on schema api_v1_1_0 to api_public, api_tribal;

-- Embedding, as in federal_awards?select=*,general(auditee_name).
--
-- PostgREST finds relationships in foreign keys, and sees none here: the views read a union of
-- public and suppressed rows. So the files of the views end with functions that PostgREST calls
-- computed relationships: the argument is the view one starts from, the name is what one embeds.
--
--   general(findings) returns setof general rows 1     findings?select=*,general(*)
--   findings(general) returns setof findings           general?select=*,findings(*)
--
-- `rows 1` makes what is embedded an object in place of an array. Arguments have no name, so that
-- PostgREST does not also offer the functions under /rpc.
--
-- They come in pairs, one for each direction, and both views must be there. Files are applied in
-- this order: this one, general.sql, which all others relate to, then the others by name. A pair
-- stands in the file of whichever of its views comes later.
--
-- Each must stay inlinable, so that an embedded table costs a join and not a call for each row:
-- language sql with a string body, stable, neither strict nor security definer, and no `set`. They
-- run with the rights of the caller, like the views. Execute is granted one by one, because default
-- privileges in this database withhold it from public.
--
-- Each that gives a list ends in `and request.take_weight(<bytes>)`: about the bytes of a row as JSON, its long texts
-- measured, and of the row that can be embedded in it as an object. request/take_weight.sql has the bound.
--
-- An embedded table is a join, and the planner may read either side of it first. So the rows of a
-- request that embeds come in no particular order: to page through them, a client must send order=.
