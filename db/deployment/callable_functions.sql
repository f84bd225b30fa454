-- The stable built-in functions that API functions may call. They may also call every immutable one that takes no name or ID of
-- an object (rules/functions_call_only_listed_functions.sql).
--
-- A stable function may read anything that its caller may read. So each line says what each argument of type text means: a
-- text that names a relation, schema, role, setting or query must not be here, as in to_regclass(text) or current_setting(text).
-- To let API functions call another function, add a line. Arguments that are names by their type are refused in any case
-- (publication.find_object_arguments).

create or replace function publication.find_callable_functions()
returns table (oid oid, signature text, reason text)
language sql stable security invoker
as $$
  select to_regprocedure('pg_catalog.' || listed.signature)::oid, listed.signature, listed.reason
  from (
    values
      -- Text search
      ('to_tsvector(text)', 'The text is a document.'),
      ('to_tsvector(json)', 'A document.'),
      ('to_tsvector(jsonb)', 'A document.'),
      ('to_tsquery(text)', 'The text is words to find.'),
      ('plainto_tsquery(text)', 'The text is words to find.'),
      ('phraseto_tsquery(text)', 'The text is words to find.'),
      ('websearch_to_tsquery(text)', 'The text is words to find.'),
      ('ts_match_tq(text, tsquery)', 'The operator @@. The text is a document.'),
      ('ts_match_tt(text, text)', 'The operator @@. The first text is a document, the second text is words to find.'),
      ('ts_headline(text, tsquery)', 'The text is a document.'),
      ('ts_headline(text, tsquery, text)', 'The first text is a document, the second text is options of the excerpt.'),

      -- Text
      ('concat("any")', 'Each text is a value to join.'),
      ('concat_ws(text, "any")', 'The first text is a separator, each other text is a value to join.'),
      ('format(text)', 'The text is a template, of which the values become parts.'),
      ('format(text, "any")', 'The first text is a template, each other text is a value in it.'),
      ('textanycat(text, anynonarray)', 'The operator ||. The text is a value to join.'),
      ('anytextcat(anynonarray, text)', 'The operator ||. The text is a value to join.'),
      ('array_to_string(anyarray, text)', 'The text is a separator.'),
      ('array_to_string(anyarray, text, text)', 'The first text is a separator, the second text stands for null.'),
      ('to_char(bigint, text)', 'The text is a format.'),
      ('to_char(double precision, text)', 'The text is a format.'),
      ('to_char(integer, text)', 'The text is a format.'),
      ('to_char(interval, text)', 'The text is a format.'),
      ('to_char(numeric, text)', 'The text is a format.'),
      ('to_char(real, text)', 'The text is a format.'),
      ('to_char(timestamp with time zone, text)', 'The text is a format.'),
      ('to_char(timestamp without time zone, text)', 'The text is a format.'),
      ('to_number(text, text)', 'The first text is a number, the second text is a format.'),

      -- Dates
      ('now()', 'The start of the transaction.'),
      ('transaction_timestamp()', 'The start of the transaction.'),
      ('statement_timestamp()', 'The start of the statement.'),
      ('to_date(text, text)', 'The first text is a date, the second text is a format.'),
      ('to_timestamp(text, text)', 'The first text is a time, the second text is a format.'),
      ('extract(text, timestamp with time zone)', 'The text is a unit, such as year.'),
      ('date_part(text, timestamp with time zone)', 'The text is a unit, such as year.'),
      ('date_trunc(text, timestamp with time zone)', 'The text is a unit, such as year.'),
      ('age(timestamp with time zone)', 'The time since a date.'),
      ('age(timestamp without time zone)', 'The time since a date.'),
      ('date(timestamp with time zone)', 'A conversion.'),
      ('timestamp(timestamp with time zone)', 'A conversion.'),
      ('timestamptz(date)', 'A conversion.'),
      ('timestamptz(timestamp without time zone)', 'A conversion.'),
      ('timezone(timestamp with time zone)', 'A conversion.'),
      ('timezone(timestamp without time zone)', 'A conversion.'),
      ('timestamptz_pl_interval(timestamp with time zone, interval)', 'The operator +.'),
      ('interval_pl_timestamptz(interval, timestamp with time zone)', 'The operator +.'),
      ('timestamptz_mi_interval(timestamp with time zone, interval)', 'The operator -.'),
      ('date_eq_timestamptz(date, timestamp with time zone)', 'The operator =.'),
      ('date_ne_timestamptz(date, timestamp with time zone)', 'The operator <>.'),
      ('date_lt_timestamptz(date, timestamp with time zone)', 'The operator <.'),
      ('date_le_timestamptz(date, timestamp with time zone)', 'The operator <=.'),
      ('date_gt_timestamptz(date, timestamp with time zone)', 'The operator >.'),
      ('date_ge_timestamptz(date, timestamp with time zone)', 'The operator >=.'),
      ('timestamptz_eq_date(timestamp with time zone, date)', 'The operator =.'),
      ('timestamptz_ne_date(timestamp with time zone, date)', 'The operator <>.'),
      ('timestamptz_lt_date(timestamp with time zone, date)', 'The operator <.'),
      ('timestamptz_le_date(timestamp with time zone, date)', 'The operator <=.'),
      ('timestamptz_gt_date(timestamp with time zone, date)', 'The operator >.'),
      ('timestamptz_ge_date(timestamp with time zone, date)', 'The operator >=.'),
      ('generate_series(timestamp with time zone, timestamp with time zone, interval)', 'Times at equal distances.'),

      -- JSON
      ('to_json(anyelement)', 'A text is a value.'),
      ('to_jsonb(anyelement)', 'A text is a value.'),
      ('row_to_json(record)', 'A row of values.'),
      ('array_to_json(anyarray)', 'A list of values.'),
      ('json_build_array()', 'An empty array.'),
      ('json_build_array("any")', 'Each text is a value.'),
      ('jsonb_build_array()', 'An empty array.'),
      ('jsonb_build_array("any")', 'Each text is a value.'),
      ('json_build_object()', 'An empty object.'),
      ('json_build_object("any")', 'Each text is the name of a field of the object, or its value.'),
      ('jsonb_build_object()', 'An empty object.'),
      ('jsonb_build_object("any")', 'Each text is the name of a field of the object, or its value.'),
      ('json_agg(anyelement)', 'A text is a value.'),
      ('json_agg_strict(anyelement)', 'A text is a value.'),
      ('jsonb_agg(anyelement)', 'A text is a value.'),
      ('jsonb_agg_strict(anyelement)', 'A text is a value.'),
      ('json_object_agg("any", "any")', 'The first text is the name of a field of the object, the second text is its value.')
  ) as listed (signature, reason)
$$;
