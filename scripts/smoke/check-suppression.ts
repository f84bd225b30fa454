import type { Contract } from "../deploy/contract.ts";
import { ask, type Check, type Deployment, expectStatus } from "./ask.ts";

/** As many suppressed submissions as fit into a URL. */
const sampleSize = 150;

/**
 * Checks that a key without Tribal access sees the IDs of suppressed submissions in general, and nothing else about
 * them, in every table that the API describes. A function that is in no contract also fails the check.
 */
export function checkSuppression(deployment: Deployment, contract: Contract): Check {
  return [
    `${contract.schema} shows a suppressed submission's ID and nothing else`,
    async () => (deployment.key === deployment.tribalKey ? undefined : await findShown(deployment, contract)),
  ];
}

async function findShown(deployment: Deployment, contract: Contract): Promise<string | undefined> {
  const get = (target: string) =>
    ask(deployment, target, deployment.key, { headers: { "accept-profile": contract.schema } });
  const stubs = await get(`/general?is_public=eq.false&limit=${sampleSize}`);
  if (stubs.status !== 200) return expectStatus(stubs, 200);
  const shown = new Set<string>(stubs.json.flatMap(listValues));
  if ([...shown].some((name) => name !== "report_id" && name !== "is_public"))
    return `general shows ${[...shown].join(", ")}`;

  const { paths, definitions } = (await get("/")).json ?? {};
  const offered = Object.keys(paths ?? {}).flatMap((path) => /^\/rpc\/(.+)$/.exec(path)?.[1] ?? []);
  const unknown = offered.filter((name) => !listFunctions(contract).includes(name));
  if (unknown.length > 0) return `/rpc/${unknown.join(", /rpc/")} is in no contract`;

  const reports: string[] = stubs.json.map(({ report_id }: { report_id: string }) => report_id);
  if (reports.length === 0) return undefined;
  for (const [table, { properties }] of Object.entries<{ properties: object }>(definitions ?? {})) {
    const links = Object.keys(properties).filter((name) => /(^|_)report_id$/.test(name));
    if (links.length === 0) continue;
    const filters = links.map((name) => `${name}.in.(${reports.join()})`);
    // general contains the stubs themselves.
    const withoutStubs = table === "general" ? "&is_public=not.is.false" : "";
    const answer = await get(`/${table}?or=(${filters.join()})&select=report_id&limit=1${withoutStubs}`);
    if (answer.status !== 200) return `${table}: ${expectStatus(answer, 200)}`;
    if (answer.json.length !== 0) return `${table} has rows of suppressed submissions`;
  }
  return undefined;
}

function listValues(row: Record<string, unknown>): string[] {
  return Object.keys(row).filter((name) => row[name] !== null);
}

/** The functions that a contract offers to the public under /rpc: all except computed relationships. */
function listFunctions({ functions }: Contract): string[] {
  return Object.entries(functions).flatMap(([signature, { execute }]) => {
    const [, name = "", arguments_ = ""] = /^(\w+)\((.*)\)$/.exec(signature) ?? [];
    return execute.includes("api_public") && !/^(admin_)?api_v\w+\.\w+$/.test(arguments_) ? [name] : [];
  });
}
