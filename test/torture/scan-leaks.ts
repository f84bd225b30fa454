import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { request } from "undici";
import { connect } from "../../shared/connect.ts";
import { createTally, type Finding } from "./finding.ts";
import { sendRequest, type WireRequest } from "./send-request.ts";
import type { Target } from "./target.ts";

const mostFaults = 10;

/**
 * Sends keys and tokens in every part of a request, and provokes errors about suppressed values. Then searches for them
 * in the logs (if the target has a directory), the rows of every database on the server, and the bulk files.
 */
export async function scanForLeaks(target: Target): Promise<Finding> {
  const statuses = createTally();
  for (const [origin, path, header, method = "GET"] of listProvocations(target)) {
    const key = target.nextKey("tribal");
    const headers: WireRequest["headers"] = [["x-api-key", key], ...(header === undefined ? [] : [header])];
    statuses.add((await sendRequest(origin, { method, path, headers })).status);
  }
  // Logs of PostgreSQL and PostgREST go through a pipe, and arrive a little later.
  await sleep(1000);
  const faults = new Set<string>();
  const counts = createTally();
  for await (const [kind, place, text] of readEverything(target)) {
    counts.add(kind);
    const words = [...target.leaks.findSecrets(text), ...target.leaks.findSuppressed(text)];
    if (words.length > 0) faults.add(`${place}: ${words.join()} in ${text.slice(0, 300)}`);
  }
  return { figures: `provoked ${statuses}; read ${counts}`, faults: [...faults].slice(0, mostFaults) };
}

type Provocation = [
  origin: string,
  path: string,
  header?: [name: string, value: string] | undefined,
  method?: string,
];

function listProvocations({ baseUrl, appUrl, nextKey, leaks }: Target): Provocation[] {
  const [key, token] = [nextKey("individual"), crypto.randomUUID()];
  leaks.addSecret(token);
  const download = `/dissemination/report/pdf/ota/${token}`;
  const apiPaths =
    `/general&api_key=${key} /general/${key} /${key} /rpc/${key} /general%00${key} /general;${key}?limit=1
    /general?api_key=${key}&limit=x /general?limit=1&API_KEY=${key} /general?${key}=eq.1 /general?select=${key}
    /general?select=${key}(*) /general?order=${key} /general?report_id=eq.${key} /general?audit_year=eq.${key}
    /general?select=report_id::${key} /general?x=${"a".repeat(33_000)}&api_key=${key}
    /general?api_key=${key}&api_key=${nextKey("tribal")} ${download}`.split(/\s+/);
  const appPaths =
    `${download} ${download}x /${token} /public-data/${key} /?api_key=${key} /reference/${key} /%zz${token}`.split(
      " ",
    );
  const headers =
    `x-request-id: ${key} | x-request-id: id-${key} and more | referer: http://a/?api_key=${key} | user-agent: ${key}
    | x-forwarded-for: ${key} | x-forwarded-path: /${key} | authorization: Bearer ${key} | cookie: key=${key} | accept: ${key}
    | accept-profile: ${key} | if-match: ${key} | prefer: handling=strict, timezone=${key}`.split(/\s+\| /);
  // PostgreSQL's error message contains the value that it cannot cast.
  const columns = "auditee_email auditee_contact_name auditor_email auditee_uei auditee_ein".split(" ");
  const casts = columns.flatMap((column) => [
    ...["int", "date", "jsonb", "regclass", "bytea"].map((type) => `select=${column}::${type}`),
    ...[`${column}=fts(${column}).x`, `select=${column},federal_awards(federal_program_name::int)`],
  ]);
  return [
    ...["GET", "HEAD", "OPTIONS", "POST", "DELETE", "PURGE"].flatMap((method): Provocation[] => [
      ...apiPaths.map((place): Provocation => [baseUrl, place, undefined, method]),
      ...appPaths.map((place): Provocation => [appUrl, place, ["referer", `http://a/${token}`], method]),
    ]),
    ...headers.flatMap((line): Provocation[] => {
      const [name = "", value = ""] = line.split(/: (.*)/);
      return [
        [baseUrl, "/general?limit=1", [name, value]],
        [appUrl, `/reference?api_key=${key}`, [name, value]],
      ];
    }),
    ...casts.map((cast): Provocation => [baseUrl, `/general?is_public=is.false&order=report_id&${cast}`]),
  ];
}

type Found = [kind: string, place: string, text: string];

async function* readEverything({ directory, databaseUrl, appUrl }: Target): AsyncGenerator<Found> {
  if (directory !== undefined) {
    const ofKong = await readdir(path.join(directory, "kong/logs")).catch(() => []);
    for (const name of ["stack.log", "stack.log.1", ...ofKong.map((log) => `kong/logs/${log}`)]) {
      const text = await readFile(path.join(directory, name), "latin1").catch(() => "");
      for (const line of text.split("\n")) yield ["log lines", name, line];
    }
  }
  // Skips the data set: its suppressed rows hold these values, and the bulk files have its public rows.
  const tables = `select format('%I.%I', nspname, relname) from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where relkind in ('r', 'm') and nspname !~ '^(pg_catalog|information_schema|(disclosed|suppressed).*)$'`;
  const databases = "select datname from pg_database where datallowconn and not datistemplate";
  for (const database of await query(databaseUrl, databases)) {
    const url = Object.assign(new URL(databaseUrl), { pathname: `/${database}` }).href;
    for (const table of await query(url, tables)) {
      for (const row of await query(url, `select each::text from ${table} as each`))
        yield ["rows", table, row];
    }
  }
  const manifest = await (await request(`${appUrl}/public-data/manifest.json`)).body.text();
  // Skips the Parquet files, which have the same rows.
  const files: { name: string }[] = JSON.parse(manifest).files;
  for (const { name } of files.filter((each) => each.name.endsWith(".gz"))) {
    const file = await (await request(`${appUrl}/public-data/${name}`)).body.arrayBuffer();
    for (const line of gunzipSync(file).toString().split("\n")) yield ["bulk-file lines", name, line];
  }
}

async function query(databaseUrl: string, text: string): Promise<string[]> {
  const client = await connect(databaseUrl, "torture");
  try {
    return (await client.query<[string]>({ text, rowMode: "array" })).rows.map(([value]) => value);
  } finally {
    await client.end();
  }
}
