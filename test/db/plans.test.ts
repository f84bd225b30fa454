import { Client } from "pg";
import { describe, expect, it } from "vitest";
import { childTables, columnNames, tables } from "../support/columns.ts";
import { query, target } from "../support/target.ts";

// The query plans of pages that clients request.

interface Plan {
  "Node Type": string;
  "Relation Name"?: string;
  Schema?: string;
  "Index Name"?: string;
  "Plan Rows"?: number;
  Filter?: string;
  Output?: string[];
  Plans?: Plan[];
}

async function explain(role: string, sql: string, settings = ""): Promise<Plan> {
  const options = `-c role=${role} -c max_parallel_workers_per_gather=0 ${settings}`;
  const client = new Client({ connectionString: target.databaseUrl, options });
  await client.connect();
  const { rows } = await client.query(`explain (format json, verbose) ${sql}`).finally(() => client.end());
  return rows[0]["QUERY PLAN"][0].Plan;
}

const flatten = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flatten)];
const shapeOf = (plan: Plan) =>
  flatten(plan).map((node) =>
    [node["Node Type"], node.Schema, node["Relation Name"]].filter(Boolean).join(" "),
  );

describe("an unfiltered page", () => {
  it.each(childTables)("for a public key is a plain sequential scan of one table: %s", async (table) => {
    const plan = await explain("api_public", `select * from api_v1_1_0.${table} limit 20000 offset 20000`);
    expect(shapeOf(plan)).toEqual(["Limit", `Seq Scan disclosed ${table}`]);
    const scan = plan.Plans?.[0];
    expect(scan?.Filter).toBeUndefined();
    // The output is the table's columns in order, so PostgreSQL does not copy each row that offset skips.
    expect(scan?.Output?.map((column) => column.replace(/^.*\./, ""))).toEqual(columnNames(table));
  });

  it.each<[role: string, table: string, other: string]>([
    ["api_public", "general", "disclosed general_stubs"],
    ...tables.map((table): [string, string, string] => ["api_tribal", table, `suppressed ${table}`]),
  ])("for %s, of %s, also scans %s, and neither scan has a filter", async (role, table, other) => {
    const plan = await explain(role, `select * from api_v1_1_0.${table} limit 20000`);
    expect(shapeOf(plan)).toEqual(["Limit", "Append", `Seq Scan disclosed ${table}`, `Seq Scan ${other}`]);
    for (const { Filter } of flatten(plan)) expect(Filter).toBeUndefined();
  });
});

describe("the requests of real clients use an index", () => {
  /** Finds the table of an index. The index's name begins with the table's name. */
  const findTable = (index: string) =>
    [...tables, "finding_summaries"]
      .filter((name) => index.startsWith(`${name}_`))
      .sort((a, b) => b.length - a.length)[0];

  it.each<[index: string, conditions: string]>([
    ["general_fac_accepted_date", "fac_accepted_date >= '2024-03-01' order by fac_accepted_date desc"],
    ["general_fac_accepted_date", "fac_accepted_date between '2024-03-01' and '2024-03-31'"],
    ["general_(last_)?auditee_uei", "auditee_uei = 'x' order by fy_end_date desc"],
    ["general_(last_)?auditee_ein", "auditee_ein in ('1', '2')"],
    ["general_(last_)?auditor_ein", "auditor_ein = '1'"],
    ["general_audit_year_auditee_state", "audit_year = '2023' and auditee_state = 'CA'"],
    ["general_audit_year_auditee_state", "audit_year in ('2022', '2023')"],
    ["general_audit_year_auditee_state", "auditee_state = 'CA'"],
    ["general_total_amount_expended", "true order by total_amount_expended desc nulls last"],
    ["general_auditee_name", "auditee_name ilike 'town of%'"],
    ["general_auditee_name_words", "request.words(general) @@ plainto_tsquery('request.names', 'anasco')"],
    [
      "general_auditor_firm_name_words",
      "request.auditor_words(general) @@ to_tsquery('request.names', 'smi:*')",
    ],
    [
      "federal_awards_assistance_listing",
      "federal_agency_prefix = '16' and federal_award_extension in ('575', '582')",
    ],
    ["federal_awards_audit_year_agency", "audit_year = '2023' and federal_agency_prefix = '94'"],
    ["federal_awards_audit_year_agency", "audit_year = '2023'"],
    ["federal_awards_auditee_uei", "auditee_uei = 'x'"],
    ["federal_awards_fac_accepted_date", "fac_accepted_date >= '2024-03-01'"],
    ["federal_awards_fac_accepted_date", "true order by fac_accepted_date desc"],
    ["federal_awards_amount_expended", "true order by amount_expended desc"],
    ["federal_awards_federal_program_name", "federal_program_name ilike '%head start%'"],
    ["federal_awards_federal_program_name", "federal_program_name ~* 'head start'"],
    ["passthrough_passthrough_name", "passthrough_name ilike '%department of%'"],
    ["corrective_action_plans_planned_action", "planned_action ilike '%casino%'"],
    ["corrective_action_plans_planned_action", "planned_action ~* 'casino'"],
    ["findings_text_finding_text", "finding_text like '%casino%'"],
    ["notes_to_sefa_content", "content ilike '%casino%'"],
    ...[
      "general.auditee_name",
      "federal_awards.federal_program_name",
      "passthrough.passthrough_name",
      "findings_text.finding_text",
      "corrective_action_plans.planned_action",
      "notes_to_sefa.content",
    ].map((column): [string, string] => [
      `${column.replace(".", "_")}_english`,
      `${column} operator(request.@@) to_tsquery('english', 'casino & !leases')`,
    ]),
    ["findings_reference_number", "reference_number = '2023-001'"],
    ["finding_summaries_alns", "alns @> '{93.778}'"],
    ...tables.map((table): [string, string] => [`${table}_(report_id|key_is_unique)`, "report_id = 'x'"]),
  ])("%s: %s", async (index, conditions) => {
    const page = `select * from api_v1_1_0.${findTable(index)} where ${conditions} limit 25`;
    const plan = await explain("api_public", page, "-c enable_seqscan=off");
    expect(flatten(plan).map((node) => node["Index Name"])).toContainEqual(
      expect.stringMatching(`^${index}$`),
    );
  });

  it("and the comment on each index of a served table names a request that needs it", async () => {
    const rows = await query<{ relname: string; comment: string }>(
      `select relname, obj_description(indexrelid, 'pg_class') as comment
       from pg_index join pg_class on pg_class.oid = indexrelid
       where relnamespace in ('disclosed'::regnamespace, 'suppressed'::regnamespace) and not indisunique
         and exists (
           select from pg_class as served
           where served.relnamespace = 'dissemination'::regnamespace
             and served.relname = (select tables.relname from pg_class as tables where tables.oid = indrelid)
         )`,
    );
    expect(rows.length).toBeGreaterThan(20);
    for (const { relname, comment } of rows)
      expect(
        comment.includes(`${findTable(relname)}?`) || /\/(search|findings)\?/.test(comment),
        relname,
      ).toBe(true);
  });
});

it("the comment on an index names orders that do not sort the whole table", async () => {
  const rows = await query<{ table: string; comment: string; key: string[] }>(
    `select name as table, obj_description(indexrelid) as comment,
       (select array_agg(attname::text) from pg_attribute where attrelid = format('disclosed.%s_key_is_unique', name)::regclass) as key
     from unnest(array['general', 'federal_awards']) as name
     join pg_index on indrelid = format('disclosed.%s', name)::regclass and not indisunique`,
  );
  const orders = rows.flatMap(({ table, comment, key }) =>
    [...comment.matchAll(/order=(\w+)(\.desc)?/g)].map(([, column = "", desc]) => ({
      table,
      column,
      desc,
      key,
    })),
  );
  expect(orders.length).toBeGreaterThan(10);
  for (const { table, column, desc, key } of orders) {
    // As the gateway completes it.
    const nulls = desc && table === "general" ? "nulls last" : "";
    const order = `${column} ${desc ? "desc" : ""} ${nulls}, ${key.map((name) => `${name} ${desc ? "desc" : ""}`)}`;
    const page = `select * from api_v1_1_0.${table} order by ${order} limit 25`;
    const plan = await explain("api_public", page, "-c enable_seqscan=off");
    const sorts = flatten(plan).filter((node) => node["Node Type"] === "Sort");
    // The stubs of suppressed submissions have no such index, because they are few.
    expect(
      sorts.flatMap(flatten).map((node) => node["Relation Name"]),
      order,
    ).not.toContain(table);
  }
});

it("embedding is planned as a join, with no function call per row", async () => {
  const plan = await explain(
    "api_public",
    `select fa.report_id, g.auditee_name from api_v1_1_0.federal_awards fa
     left join lateral (select * from api_v1_1_0.general(fa)) g on true limit 100`,
  );
  expect(flatten(plan).map((node) => node["Node Type"])).not.toContain("Function Scan");
});

it("the planner knows how many reports each table has", async () => {
  const rows = await query<{ relname: string; estimated: number }>(
    `select relname, substring(array_to_string(attoptions, ',') from 'n_distinct=(\\d+)')::integer as estimated
     from pg_constraint join pg_class on pg_class.oid = conrelid
     join pg_attribute on attrelid = pg_class.oid and attname = 'report_id'
     where contype = 'f' and relnamespace = 'disclosed'::regnamespace`,
  );
  expect(rows.length).toBeGreaterThan(5);
  for (const { relname, estimated } of rows) {
    const [counted] = await query<{ count: number }>(
      `select greatest(1, count(distinct report_id))::integer as count from disclosed.${relname}`,
    );
    expect([relname, estimated]).toEqual([relname, counted?.count]);
  }
});

it("the planner knows how many awards a program has", async () => {
  const [program] = await query<{ prefix: string; extension: string; awards: number }>(
    `select federal_agency_prefix as prefix, federal_award_extension as extension, count(*)::integer as awards
     from disclosed.federal_awards group by 1, 2 order by 3 desc limit 1`,
  );
  const { prefix, extension, awards = 0 } = program ?? {};
  const plan = await explain(
    "api_public",
    `select * from disclosed.federal_awards
     where federal_agency_prefix = '${prefix}' and federal_award_extension = '${extension}'`,
  );
  expect(plan["Plan Rows"]).toBeGreaterThan(awards / 3);
});
