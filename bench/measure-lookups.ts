import { SignJWT } from "jose";
import { findFreePort } from "../scripts/servers/find-free-port.ts";
import { startProgram } from "../scripts/servers/run-program.ts";
import { preparePostgrest } from "../scripts/stack/postgrest.ts";
import type { BenchStack } from "./bench-stack.ts";
import { type Arm, ask, measure } from "./measure.ts";
import type { Figure } from "./results.ts";

const connections = 8;
const requests = 3000;

/** Compares lookups of reports by ID: plain PostgREST, the service's PostgREST, and the gateway. */
export async function measureLookups(stack: BenchStack, turns: number): Promise<Figure[]> {
  const { facts, client, gatewayHeaders } = stack;
  const { rows } = await client.query(
    "select report_id from disclosed.general order by md5(report_id) limit 1000",
  );
  const lookUp =
    (origin: string, headers: Record<string, string>, status = 200): Arm =>
    (number) => {
      const filter = `eq.${rows[number % rows.length].report_id}`;
      // Requests to PostgREST need this header, which the gateway adds. The gateway overwrites a client's.
      return ask(
        `${origin}/general?report_id=${filter}`,
        { ...headers, "x-filter-report-id": filter },
        status,
      );
    };
  const withKey = { "x-api-key": facts.keys.individual };
  // PostgREST's ETag differs from the gateway's, which depends on a header that the gateway adds.
  const repeat = async (origin: string, headers: Record<string, string>) => {
    const first = await ask(`${origin}/general?limit=1`, headers);
    return lookUp(origin, { ...headers, "if-none-match": String(first.headers.etag) }, 304);
  };
  const bare = await startBarePostgrest(stack);
  const arms = {
    "PostgREST alone": lookUp(bare.url, bare.headers),
    "PostgREST of this service": lookUp(facts.postgrest_url, gatewayHeaders),
    "PostgREST of this service, 304": await repeat(facts.postgrest_url, gatewayHeaders),
    "through the gateway": lookUp(facts.base_url, withKey),
    "through the gateway, 304": await repeat(facts.base_url, withKey),
  };
  const section = `Lookups of a report by its ID, ${connections} at a time`;
  const figures = await measure(section, arms, { turns, requests, connections });
  await bare.stop();
  return figures;
}

/** Starts a PostgREST on the stack's database that calls no function before each request. */
async function startBarePostgrest({ facts, secrets }: BenchStack) {
  const databaseUrl = new URL(facts.database_url);
  databaseUrl.username = "authenticator";
  databaseUrl.password = encodeURIComponent(secrets.rolePasswords.authenticator);
  const port = await findFreePort();
  const program = await preparePostgrest({
    binary: process.env.POSTGREST_BIN,
    databaseUrl: databaseUrl.href,
    jwtSecret: secrets.jwtSecret,
    port,
    adminPort: await findFreePort(),
    settings: {
      PGRST_DB_PRE_CONFIG: "",
      PGRST_DB_PRE_REQUEST: "",
      PGRST_DB_SCHEMAS: "api_v1_1_0",
      PGRST_DB_EXTRA_SEARCH_PATH: "request",
      PGRST_DB_MAX_ROWS: "20000",
    },
  });
  const postgrest = startProgram(program);
  await postgrest.ready;
  const token = await new SignJWT({ role: "api_public" })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(new TextEncoder().encode(secrets.jwtSecret));
  return {
    url: `http://127.0.0.1:${port}`,
    headers: { authorization: `Bearer ${token}` },
    stop: () => postgrest.stop(),
  };
}
