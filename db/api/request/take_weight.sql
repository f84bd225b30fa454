-- Counts what a request embeds, and refuses it beyond a bound. The row limit of PostgREST counts the rows of the table that
-- is asked for; a row of general can carry thousands of awards.
--
-- The relationships that give lists ask this function of each row, after all other conditions (its cost is high). Those that
-- give one row do not: they add a report or an award to each of at most 20,000 rows, whatever is skipped, sorted or counted
-- before. So a row's weight is the bytes of its JSON, and those of what can be embedded in it as one row.
create function request.take_weight(bytes integer)
returns boolean
language plpgsql volatile parallel unsafe security invoker set search_path = '' cost 1000
as $$
declare
  -- 48 MB: 20,000 reports (as many as are answered without embedding) weigh 40 MB. docs/operations.md, Memory, reckons with it.
  most constant integer := 48000000;
begin
  if set_config(
    'request.weight', (coalesce(nullif(current_setting('request.weight', true), ''), '0')::integer + bytes)::text, true
  )::integer > most then
    perform request.refuse(
      400, 'answer_too_heavy', 'The rows that this request embeds are too many.',
      format(
        'Embedded lists may weigh %s MB in all. The rows of skipped and of sorted reports count as well.', most / 1000000
      ),
      'Ask for fewer rows at a time (limit), embed fewer tables, or filter. In place of offset ask for what comes after the last report_id: report_id=gt.<it>&order=report_id.'
    );
  end if;
  return true;
end
$$;
comment on function request.take_weight is
  'True; ends the request with 400 when this transaction has taken more bytes than the lists of one answer may weigh.';
grant execute on function request.take_weight to api_public, api_tribal;
