import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { parquetReadObjects } from "hyparquet";
import { type Dispatcher, request } from "undici";
import { connect } from "../../service/connect.ts";
import type { Finding, Target } from "./part.ts";
import { provokeErrors } from "./provoke-errors.ts";

const mostShown = 10;

/**
 * Has keys, tokens and suppressed values go everywhere that a client can put them or make them go, errors above all. Then
 * looks for them in all that was logged since the beginning, in every row of every database of the server, and in the
 * bulk files.
 */
export async function scanForLeaks(target: Target): Promise<Finding> {
  const provoked = await provokeErrors(target);
  const figures = [`requests that misplace keys and tokens or break on suppressed values: ${provoked}`];
  const faults: string[] = [];
  if (target.logs !== undefined) {
    const { leaks, megabytes, files } = await target.logs.settle();
    faults.push(...leaks);
    figures.push(`${megabytes.toFixed(1)} MB of logs (${files.join(", ")})`);
  }
  const { leaks, rows } = await scanDatabases(target);
  faults.push(...leaks);
  const files = await scanBulkFiles(target, faults);
  const { secrets, suppressed } = target.leaks.counts();
  figures.push(
    `${rows.toLocaleString("en-US")} rows of the server's databases`,
    `${files} bulk files`,
    `looked for ${secrets.toLocaleString("en-US")} secrets and ${suppressed.toLocaleString("en-US")} suppressed values`,
  );
  return { figures: figures.join("; "), faults: faults.slice(0, mostShown) };
}

/** What pg_dump would write of all tables but those of the data set: its public rows are in the bulk files. */
async function scanDatabases({ databaseUrl, leaks }: Target): Promise<{ leaks: string[]; rows: number }> {
  const found: string[] = [];
  let rows = 0;
  for (const name of await query(
    databaseUrl,
    "select datname from pg_database where datallowconn and not datistemplate",
  )) {
    const url = new URL(databaseUrl);
    url.pathname = `/${name}`;
    const tables = await query(
      url.href,
      `select format('%I.%I', nspname, relname) from pg_class join pg_namespace on pg_namespace.oid = relnamespace
       where relkind in ('r', 'm') and nspname !~ '^(pg_catalog|information_schema|(disclosed|suppressed).*)$'`,
    );
    for (const table of tables) {
      const texts = await query(url.href, `select each::text from ${table} as each`);
      rows += texts.length;
      for (const text of texts) {
        const words = [...leaks.findSecrets(text), ...leaks.findSuppressed(text)];
        if (words.length > 0) found.push(`${name}, ${table}: ${words.join()} in ${text.slice(0, 200)}`);
      }
    }
  }
  return { leaks: found.slice(0, mostShown), rows };
}

async function query(databaseUrl: string, sql: string): Promise<string[]> {
  const client = await connect(databaseUrl, "torture");
  try {
    const { rows } = await client.query<string[]>({ text: sql, rowMode: "array" });
    return rows.map(([value]) => String(value));
  } finally {
    await client.end();
  }
}

async function scanBulkFiles({ appUrls, leaks }: Target, faults: string[]): Promise<number> {
  const answer = await request(`${appUrls[0]}/public-data/manifest.json`);
  const text = await answer.body.text();
  if (answer.statusCode === 404) return 0;
  const { files }: { files: { name: string }[] } = JSON.parse(text);
  for (const { name } of files) {
    const { body } = await request(`${appUrls[0]}/public-data/${name}`);
    for await (const line of name.endsWith(".parquet") ? readParquet(body) : readGzip(body)) {
      const words = [...leaks.findSecrets(line), ...leaks.findSuppressed(line)];
      if (words.length > 0) faults.push(`The bulk file ${name} has ${words.join()}.`);
    }
  }
  return files.length;
}

const readGzip = (body: Readable) => createInterface({ input: body.pipe(createGunzip()) });

async function* readParquet(body: Dispatcher.ResponseData["body"]): AsyncGenerator<string> {
  for (const row of await parquetReadObjects({ file: await body.arrayBuffer() })) {
    yield Object.values(row).join(" ");
  }
}
