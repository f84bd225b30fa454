-- Counts the bytes that a request embeds, and refuses the request beyond a limit. PostgREST's row limit counts only the rows
-- of the outermost table, and a row of general can embed thousands of awards.
--
-- Relationships that return lists call this function for each row, after the conditions that cost less. A call takes as long as
-- 250 comparisons. With a higher cost, PostgreSQL would search all awards of a program again for each report.
--
-- Relationships that return one row do not call it: they add a report or an award to each of at most 20,000 rows. So the
-- argument is the size of the row's JSON plus the size of the single rows that can be embedded in it.
create function request.limit_embedded_bytes(bytes integer)
returns boolean
language plpgsql volatile parallel unsafe security invoker set search_path = '' cost 250
as $$
declare
  -- 48 MB, because the largest response without embedding, 20,000 reports, has 40 MB. docs/operations.md (Memory) relies on it.
  most constant integer := 48000000;
begin
  if set_config(
    'request.embedded_bytes', (coalesce(nullif(current_setting('request.embedded_bytes', true), ''), '0')::integer + bytes)::text, true
  )::integer > most then
    perform request.refuse(
      400, 'embedded_rows_too_large', 'This request embeds too much data.',
      format(
        'Embedded rows may total at most %s MB. Embedded rows of reports skipped by offset, or read only for sorting, also count.',
        most / 1000000
      ),
      'Reduce limit, embed fewer tables, or filter. In /general, replace offset with report_id=gt.<last report_id>&order=report_id.'
    );
  end if;
  return true;
end
$$;
comment on function request.limit_embedded_bytes is
  'Returns true, or ends the request with 400 if its embedded rows exceed the limit.';
grant execute on function request.limit_embedded_bytes to api_public, api_tribal;
