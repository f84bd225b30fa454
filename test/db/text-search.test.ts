import { expect, it } from "vitest";
import { useDeployedDatabase } from "../support/scratch-database.ts";

// Full-text search gives the answers of PostgreSQL's own operator, and uses the indexes of words.

const database = useDeployedDatabase();
const list = async (sql: string, values: unknown[] = []) =>
  (await database.client.query({ text: sql, values, rowMode: "array" })).rows.flat();

// What English stemming does to the ends of words, and what the parser does not call a word.
const beginnings = [
  "comm",
  "operat",
  "possib",
  "relat",
  "hop",
  "hopp",
  "valen",
  "geolog",
  "stud",
  "agree",
  "audi",
  "controll",
];
const endings =
  `_ s es ies ied y ity ities ed eed eedly ing ingly e er or ator ation ational ization izer ize ism iveness
  ive iviti ibility ability ible able ably fulness ful ousness ous ously less lessly ement ment ent ently ence ency ance
  ancy al ally alism icate ical ative logy ogist ion tion ly li 's ying ying t ty tie ties`.split(/\s+/);
const words = beginnings.flatMap((beginning) => endings.map((ending) => beginning + ending.replace("_", "")));
const texts = [
  ...words,
  ...words.map((word) => `The ${word.toUpperCase()}, of 2023-001`),
  "Internal controls over procurement were not operating.",
  "Control: internal",
  "a well-known sub-recipient at https://example.gov/a/b?x=1 or grants@example.gov, 12.5% of $1,234",
  "La revisión de Ibáñez Peña",
  "of the and",
  "",
];
const queries = [
  ...words.map((word) => `to_tsquery('english', ${quote(word)})`),
  ...words.slice(0, 60).map((word) => `to_tsquery('simple', ${quote(word)})`),
  "websearch_to_tsquery('internal control')",
  "websearch_to_tsquery('\"internal controls\" or procurement')",
  "websearch_to_tsquery('control -procurement')",
  "to_tsquery('internal & !procurement')",
  "to_tsquery('!procurement')",
  "to_tsquery('(internal | external) & control')",
  "to_tsquery('proc:*')",
  "to_tsquery('internal <-> control')",
  "phraseto_tsquery('well-known sub-recipient')",
  "plainto_tsquery('https://example.gov/a/b?x=1')",
  "plainto_tsquery('grants@example.gov')",
  "plainto_tsquery('12.5')",
  "plainto_tsquery('revisión Peña')",
  "plainto_tsquery('it''s | a test')",
  "plainto_tsquery('of the')",
  "to_tsquery('tie | 12')",
];
function quote(text: string) {
  return `'${text.replaceAll("'", "''''")}'`;
}

it("a query finds the texts that PostgreSQL's own operator finds, by the index", async () => {
  const { client } = database;
  await client.query(
    `create temporary table texts as
     select text, to_tsvector('pg_catalog.english', text) as words from unnest($1::text[]) as text`,
    [[...texts, null]],
  );
  await client.query("create index texts_words on texts using gin (extensions.text_words(text))");
  await client.query("create temporary table queries (text text, query tsquery)");
  for (const query of queries) await client.query(`insert into queries values ($1, ${query})`, [query]);
  await client.query("set enable_seqscan = off");
  const found = `
    select queries.text as query, texts.text
    from queries cross join lateral (select text from texts where texts.text operator(request.@@) queries.query) as texts`;
  const { rows: plan } = await client.query(`explain ${found}`);
  expect(JSON.stringify(plan)).toContain("Bitmap Index Scan on texts_words");
  const { rows } = await client.query(
    `with found as (${found}), matches as (
       select queries.text as query, texts.text from queries join texts on texts.words @@ queries.query
     )
     select * from found full join matches using (query, text) where found is null or matches is null`,
  );
  await client.query("reset enable_seqscan");
  expect(rows).toEqual([]);
  const [matches] = await list(
    "select count(*)::integer from texts join queries on texts.words @@ queries.query",
  );
  expect(matches).toBeGreaterThan(1000);
});

it.each([
  ["websearch_to_tsquery('internal control')", 2],
  ["websearch_to_tsquery('\"internal controls\"')", 1],
  ["to_tsquery('procurement | revision')", 1],
  ["to_tsquery('control & !procurement')", 1],
  ["to_tsquery('simple', 'controls')", 0],
])("PostgREST's query %s finds %i texts", async (query, found) => {
  await database.client.query("begin; set local search_path = request, pg_catalog");
  const [texts] = await list(
    `select count(*)::integer from pg_temp.texts where text like '% %' and text not like 'The %' and text @@ ${query}`,
  );
  await database.client.query("rollback");
  expect(texts).toBe(found);
});

it.each([
  "to_tsquery($1)",
  "plainto_tsquery($1)",
  "phraseto_tsquery('english', $1)",
  "websearch_to_tsquery($1)",
])("a search uses the index of its column, as PostgREST sends it: %s", async (call) => {
  const { client } = database;
  await client.query("begin; set local role api_public; set local search_path = request, pg_catalog");
  await client.query("set local enable_seqscan = off");
  // Later versions of PostgREST send the second form, and the third if the request names a language.
  const columns = ["%", "to_tsvector(%)", "to_tsvector('english', %)"];
  for (const column of columns.map((form) => form.replace("%", "plans.planned_action"))) {
    const page = `select report_id from api_v1_1_0.corrective_action_plans as plans where ${column} @@ ${call}`;
    await client.query(`prepare search (text) as ${page} limit 20000`);
    for (const mode of ["force_custom_plan", "force_generic_plan"]) {
      await client.query(`set local plan_cache_mode = ${mode}`);
      const { rows } = await client.query("explain execute search ('procurement')");
      expect(JSON.stringify(rows), `${column}, ${mode}`).toContain(
        "Bitmap Index Scan on corrective_action_plans_planned_action_english",
      );
    }
    await client.query("deallocate search");
  }
  await client.query("rollback");
});

// The schema request comes before pg_catalog on the search path of requests.
it("requests shadow no other name of PostgreSQL", async () => {
  expect(
    await list(
      `select own.oid::regprocedure::text from pg_proc as own
       join pg_proc as other on other.proname = own.proname and other.proargtypes = own.proargtypes
         and other.pronamespace = 'pg_catalog'::regnamespace
       where own.pronamespace = 'request'::regnamespace
       union all
       select own.oid::regoperator::text from pg_operator as own
       join pg_operator as other on (other.oprname, other.oprleft, other.oprright) = (own.oprname, own.oprleft, own.oprright)
         and other.oprnamespace = 'pg_catalog'::regnamespace
       where own.oprnamespace = 'request'::regnamespace
       union all
       select own.relname from pg_class as own
       join pg_class as other on other.relname = own.relname and other.relnamespace = 'pg_catalog'::regnamespace
       where own.relnamespace = 'request'::regnamespace
       union all
       select own.typname from pg_type as own
       join pg_type as other on other.typname = own.typname and other.typnamespace = 'pg_catalog'::regnamespace
       where own.typnamespace = 'request'::regnamespace
       order by 1`,
    ),
  ).toEqual([
    "request.@@(text,tsquery)",
    "request.phraseto_tsquery(text)",
    "request.plainto_tsquery(text)",
    "request.to_tsquery(text)",
    "request.to_tsvector(regconfig,text)",
    "request.to_tsvector(text)",
    "request.websearch_to_tsquery(text)",
  ]);
});
