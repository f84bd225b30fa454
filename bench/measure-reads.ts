import { ask } from "./ask.ts";
import { type Arm, type Comparison, compare } from "./measure.ts";
import type { BenchStack } from "./start-bench-stack.ts";

const common = { "accept-profile": "api_v9_9_9" };
const pageRows = 20_000;

/** Runs everything that reads, in turns: look-ups, filtered pages, large pages, conditional requests, whole tables. */
export async function measureReads(
  { facts, client, asGateway }: BenchStack,
  turns: number,
): Promise<Comparison[]> {
  const { base_url: gateway, postgrest_url: postgrest, app_url: app, keys } = facts;
  const withKey = { "x-api-key": keys.individual };
  const direct = await asGateway(keys.individual);
  const done: Comparison[] = [];

  const ids = (
    await client.query("select report_id from disclosed.general order by md5(report_id) limit 200")
  ).rows.map((row) => row.report_id);
  const each = (run: (id: string) => Promise<unknown>) => async () => {
    for (const id of ids) await run(id);
  };
  const lookUp = {
    name: "look-up",
    text: "select coalesce(json_agg(found), '[]')::text as body from (select * from api_v1_1_0.general where report_id = $1) as found",
  };
  done.push(
    await compare(
      "point look-up, 200 in a row",
      {
        gateway: each((id) => ask(`${gateway}/general?report_id=eq.${id}`, withKey)),
        "PostgREST direct": each((id) => ask(`${postgrest}/general?report_id=eq.${id}`, direct)),
        "pg prepared": each((id) => client.query({ ...lookUp, values: [id] })),
      },
      turns,
    ),
  );

  const filters = {
    "audit_year=eq.2022": "general?audit_year=eq.2022",
    "auditee_state=eq.CA": "general?auditee_state=eq.CA",
    "auditee_name=ilike.*county*": "general?auditee_name=ilike.*county*",
    "auditee_name=ilike.*bayl*": "general?auditee_name=ilike.*bayl*",
    "federal_agency_prefix=eq.93": "federal_awards?federal_agency_prefix=eq.93",
    "audit_year=eq.2022 of awards": "federal_awards?audit_year=eq.2022",
  };
  for (const [name, query] of Object.entries(filters)) {
    const url = `${postgrest}/${query}&limit=1000`;
    done.push(
      await compare(
        `page of 1,000: ${name}`,
        { ours: () => ask(url, direct), "common design": () => ask(url, { ...direct, ...common }) },
        turns,
      ),
    );
  }

  const large = `${gateway}/general?limit=${pageRows}`;
  const page =
    (headers: Record<string, string>): Arm =>
    () =>
      ask(large, { ...withKey, ...headers });
  done.push(
    await compare(
      `page of ${pageRows} of general`,
      {
        JSON: page({}),
        "JSON gzip": page({ "accept-encoding": "gzip" }),
        CSV: page({ accept: "text/csv" }),
        "CSV gzip": page({ accept: "text/csv", "accept-encoding": "gzip" }),
      },
      turns,
    ),
  );
  const { headers } = await ask(large, withKey);
  done.push(
    await compare(
      "the same page again",
      {
        "200": page({}),
        "304": () => ask(large, { ...withKey, "if-none-match": String(headers.etag) }, { status: 304 }),
      },
      turns,
    ),
  );

  const walk = async (more: Record<string, string>) => {
    for (let offset = 0; ; offset += pageRows) {
      const { body } = await ask(`${postgrest}/federal_awards?limit=${pageRows}&offset=${offset}`, {
        ...direct,
        ...more,
      });
      if (body.length < 3) return;
    }
  };
  const walkByKey = async () => {
    for (let last = 0; ; ) {
      const url = `${postgrest}/federal_awards?limit=${pageRows}&order=id&id=gt.${last}`;
      const { body } = await ask(url, { ...direct, ...common });
      if (body.length < 3) return;
      const [, id] = /"id":(\d+)[^{}]*\}\]$/.exec(body.toString("utf8", body.length - 4000)) ?? [];
      last = Number(id ?? Infinity);
    }
  };
  done.push(
    await compare(
      "the whole of federal_awards",
      {
        "ours by offset": () => walk({}),
        "common design by offset": () => walk(common),
        "common design by key": walkByKey,
        "bulk file": () => ask(`${app}/public-data/federal_awards.csv.gz`),
      },
      turns,
    ),
  );
  const { rows } = await client.query("select count(*)::integer as rows from disclosed.federal_awards");
  const lastOffset = Math.max(0, Math.floor((rows[0].rows - 1) / pageRows) * pageRows - pageRows);
  const at = (offset: number, more: Record<string, string>) => () =>
    ask(`${postgrest}/federal_awards?limit=${pageRows}&offset=${offset}`, { ...direct, ...more });
  done.push(
    await compare(
      `federal_awards, first page and the one at ${lastOffset}`,
      {
        "ours first": at(0, {}),
        "ours last": at(lastOffset, {}),
        "common design first": at(0, common),
        "common design last": at(lastOffset, common),
      },
      turns,
    ),
  );
  return done;
}
